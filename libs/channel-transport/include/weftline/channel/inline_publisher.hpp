// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"

namespace weftline {

/// Called when a publisher's links changed (attached, died) or when a refused link has room again:
/// on the runtime's service thread, or on the thread of a close() or destructor that finds such
/// news. It must not block and must not call the endpoint.
struct WritableCallback {
  void (*function)(void* context) noexcept {nullptr};
  void* context{nullptr};
};

/// Publishes inline frames (bodies of a fixed size, at most 32,744 bytes) of one endpoint to every
/// attached subscriber. The type-erased half of `ChannelPublisher`; the graph's exports use it
/// directly. Move-only. The caller serializes calls on one publisher; each is bounded, allocates
/// nothing and makes no system call but the wake of a parked subscriber, except `close()`, the
/// destructor and `wait_for_subscriber()`.
class InlinePublisher {
 public:
  InlinePublisher(InlinePublisher&&) noexcept;
  InlinePublisher& operator=(InlinePublisher&&) noexcept;
  /// Without a close() before, subscribers see a producer that vanished, not an end of stream.
  ~InlinePublisher();

  /// All-or-nothing to the links of this moment, then the exact number of recipients.
  /// kBackpressured when a link of a blocking endpoint is full (nobody gets it); kNotReady when the
  /// peer is required and nobody is attached; 0 recipients when it is optional. `kClosed` after
  /// close(). `body` must have the endpoint's exact size, else kInvalidArgument. The metadata is
  /// sent as given, but for byte size, payload kind and clock ids: they are the receiver's own.
  [[nodiscard]] expected<std::uint32_t, Error> publish(std::span<const std::byte> body,
                                                       const SampleMetadata& metadata) noexcept;
  /// True when publish() would not be refused with kBackpressured at this moment. Only the caller's
  /// own publishes can make it false again.
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] std::uint32_t subscriber_count() const noexcept;
  /// Drops on links of a drop-oldest endpoint, since creation. Never goes back.
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  /// How links came and went, since creation. Any thread.
  struct LinkCounters {
    std::uint64_t attached{0};
    std::uint64_t left{0};     ///< The subscriber closed.
    std::uint64_t lost{0};     ///< Its process or its socket ended without a word.
    std::uint64_t dropped{0};  ///< It broke the protocol.
    std::uint64_t refused{0};  ///< It never got a link: garbage, another contract, no place.
  };
  [[nodiscard]] LinkCounters link_counters() const noexcept;
  /// Set before the first publish.
  void set_writable_callback(WritableCallback callback) noexcept;
  /// Blocks until a subscriber is attached, kTimeout at the deadline. Endpoints of two deployments
  /// never meet: if a wait ends and the folder has a publisher of this name for another deployment,
  /// the error's message names its process and both deployments. A deadline that has passed already
  /// is only a question, and looks at no files.
  [[nodiscard]] expected<void, Error> wait_for_subscriber(
      std::chrono::steady_clock::time_point deadline);
  /// For the attach timeout: the catalog's, or a shorter one of `ChannelAttachOptions`.
  [[nodiscard]] expected<void, Error> wait_for_subscriber();
  /// Ordered end of stream: every link gets it after the data it has accepted. Does not wait for it
  /// to be read; what was queued stays readable after this object and process are gone. A second
  /// close is kClosed.
  expected<void, Error> close() noexcept;

  struct Impl;  // private to the library
  explicit InlinePublisher(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace weftline
