// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "discovery_record.hpp"
#include "peer_process.hpp"
#include "ring_geometry.hpp"
#include "seqpacket_socket.hpp"
#include "service_thread.hpp"
#include "subscriber_ring.hpp"

namespace weftline::channel {

/// The service side of a subscriber: finds the publisher, takes over its memory, notices its end
/// and its replacement. A subscriber has at most one link in its life: after a publisher that it
/// has been attached to comes either silence or another incarnation, which is for another
/// subscriber.
///
///   kSearching ─▶ kConnecting ─▶ kAttached ─▶ kAlone ─▶ kReplaced
///        ▲─────────────┘ │           └──────────┴─▶ kFailed
///                        └─▶ kFailed
///
/// All calls with the service thread's mutex held, but for those marked.
class PublisherSearch {
 public:
  enum class Status : std::uint8_t {
    kSearching = 0,
    kConnecting,
    kAttached,
    kAlone,     ///< The publisher is gone, without a word or in peace.
    kReplaced,  ///< Another incarnation has come since.
    kFailed,    ///< failure() says why. Final.
  };

  struct Settings {
    EndpointRecord endpoint{};
    RingGeometry geometry{};
    BodyContract contract{};
    std::string record_file{};
    std::string endpoint_json{};
  };
  /// `changed` is called when the status changed in a way that a receiver can see.
  PublisherSearch(ServiceThread& service, Settings settings, std::function<void()> changed);
  /// Says goodbye to the publisher.
  ~PublisherSearch();

  /// Looks for the publisher unless there is one, or an end. What fails because something is used
  /// up (descriptors, memory, the publisher's backlog) has ServiceThread::call_later() called.
  void look();
  /// Breaks with a publisher that wrote garbage.
  void drop_link();

  // Any thread.
  [[nodiscard]] Status status() const noexcept { return status_.load(std::memory_order_acquire); }
  /// The ring, once attached; it stays for the life of this object.
  [[nodiscard]] SubscriberRing* ring() const noexcept {
    return ring_.load(std::memory_order_acquire);
  }
  /// Valid once the status is kFailed.
  [[nodiscard]] const Error& failure() const noexcept { return failure_; }

 private:
  void connect(const RecordContent& publisher);
  [[nodiscard]] expected<void, Error> check_record(const RecordContent& publisher) const;
  [[nodiscard]] expected<void, Error> say_hello();
  void read_socket();
  void handle(Packet packet);
  void attach(Packet packet);
  void lose_publisher();
  void disconnect() noexcept;
  void set_failed(Error error);
  void set_status(Status status);

  ServiceThread& service_;
  const Settings settings_;
  std::function<void()> changed_;
  std::atomic<Status> status_{Status::kSearching};
  std::atomic<SubscriberRing*> ring_{nullptr};
  Error failure_{};
  std::optional<SubscriberRing> ring_storage_;
  Incarnation incarnation_{};  // of the publisher that we are or were connected to
  UniqueFd socket_;
  PeerProcess peer_;
  ServiceThread::Watch socket_watch_;
  ServiceThread::Watch process_watch_;
};

}  // namespace weftline::channel
