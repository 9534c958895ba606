// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "peer_process.hpp"
#include "publisher_link_table.hpp"
#include "ring_geometry.hpp"
#include "seqpacket_socket.hpp"
#include "service_thread.hpp"
#include "weftline/catalog/endpoint_record.hpp"

namespace weftline::channel {

/// How a publisher's links came and went, since creation. Written with the service thread's mutex
/// held, read by any thread.
struct LinkCounts {
  std::atomic<std::uint64_t> attached{0};
  std::atomic<std::uint64_t> left{0};     ///< The subscriber closed.
  std::atomic<std::uint64_t> lost{0};     ///< It vanished: its process ended, or only its socket.
  std::atomic<std::uint64_t> dropped{0};  ///< It broke the protocol on a link.
  std::atomic<std::uint64_t> refused{0};  ///< It never had a link: garbage, mismatch, no place.
};

/// The service side of a publisher: accepts subscribers, hands over memory and notices their end.
/// Everything with the service thread's mutex held.
class LinkAcceptor {
 public:
  struct Settings {
    EndpointRecord endpoint{};
    RingGeometry geometry{};
    Incarnation incarnation{};
  };
  /// `changed` is called after a link came, went, or has room again after it was found full.
  LinkAcceptor(ServiceThread& service, PublisherLinkTable& table, Settings settings,
               std::function<void(bool attached)> changed);
  /// Says goodbye to every subscriber.
  ~LinkAcceptor();

  [[nodiscard]] expected<void, Error> listen();
  /// Goes on after what ServiceThread::call_later() was asked for.
  void listen_again();
  /// No new connections; who is in the middle of attaching gets the end of the stream.
  void end();
  /// Does what the emit path asked for: drops links that it found broken.
  void drop_broken();
  [[nodiscard]] const LinkCounts& counts() const noexcept { return counts_; }

 private:
  enum class Phase : std::uint8_t { kExpectHello = 0, kExpectAttached, kAttached, kOver };
  struct Connection {
    UniqueFd socket{};
    PeerProcess peer{};
    Phase phase{Phase::kExpectHello};
    std::unique_ptr<PublisherLink> link{};
    ServiceThread::Watch socket_watch{};
    ServiceThread::Watch process_watch{};
    ServiceThread::Watch space_watch{};
  };

  void accept_at_most(int count);
  [[nodiscard]] bool accept_next();
  void accept_one(UniqueFd socket);
  void turn_away(UniqueFd socket);
  [[nodiscard]] expected<void, Error> watch_peer(Connection& connection);
  void bound_silent_peers();
  void read_socket(Connection& connection);
  void handle(Connection& connection, Packet packet);
  void handle_hello(Connection& connection, Packet packet);
  [[nodiscard]] expected<void, Error> check_hello(const Packet& packet,
                                                  std::uint32_t version) const;
  [[nodiscard]] expected<void, Error> offer_link(Connection& connection);
  void activate(Connection& connection);
  void refuse(Connection& connection, const Error& error);
  void close_connection(Connection& connection, std::atomic<std::uint64_t>& count);
  [[nodiscard]] std::uint32_t links_in_use() const noexcept;
  void reap_ended_peers();
  void remove_over();

  ServiceThread& service_;
  PublisherLinkTable& table_;
  const Settings settings_;
  std::function<void(bool attached)> changed_;
  LinkCounts counts_;
  bool ended_{false};
  UniqueFd listener_;
  ServiceThread::Watch listener_watch_;
  UniqueFd spare_;  // given up for a moment to tell a peer that there is no descriptor for it
  std::list<Connection> connections_;
};

}  // namespace weftline::channel
