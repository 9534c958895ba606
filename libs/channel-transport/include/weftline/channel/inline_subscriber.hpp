// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"

namespace weftline {

/// Receives inline frames of one endpoint. The type-erased half of `ChannelSubscriber`. Move-only;
/// calls on one subscriber are the caller's to serialize. Everything read from the publisher's
/// memory is copied once and checked: a bad frame is kProtocolError and the link is dropped.
class InlineSubscriber {
 public:
  InlineSubscriber(InlineSubscriber&&) noexcept;
  InlineSubscriber& operator=(InlineSubscriber&&) noexcept;
  ~InlineSubscriber();

  /// Takes the next frame into `body` (exactly the endpoint's size). kNotReady: nothing queued, or
  /// no publisher yet. kClosed: the publisher ended the stream and everything before it was
  /// received. kStaleEndpoint: another incarnation of the publisher has replaced the one attached.
  /// The metadata's byte size and payload kind are the endpoint's, its clock ids ClockId{0}: an id
  /// means something within one plan only. A byte that is no bool where the payload has one is a
  /// bad frame. Never blocks. Allocates nothing, but for the text of a failure to attach, which is
  /// final: no frame comes after it.
  [[nodiscard]] expected<void, Error> receive(std::span<std::byte> body,
                                              SampleMetadata& metadata) noexcept;
  /// Blocks until a frame, an end (kClosed, kStaleEndpoint, kProtocolError), the absolute deadline
  /// (kTimeout) or the stop token (kInterrupted). A publisher that vanished without closing is
  /// silence. One waiter at a time, else kInvalidArgument.
  [[nodiscard]] expected<void, Error> wait_and_receive(
      std::span<std::byte> body, SampleMetadata& metadata,
      std::chrono::steady_clock::time_point deadline, std::stop_token stop = {}) noexcept;
  /// Like wait_and_receive, but leaves the frame queued.
  [[nodiscard]] expected<void, Error> wait(std::chrono::steady_clock::time_point deadline,
                                           std::stop_token stop = {}) noexcept;
  /// Blocks until a publisher is or was attached, a failure to attach, the deadline or a stop. As
  /// in the other waits, a message comes with kTimeout when no publisher was ever attached and the
  /// folder has one of this name for another deployment: it names its process and both deployments.
  /// (A deadline that has passed already is only a question, and looks at no files.)
  [[nodiscard]] expected<void, Error> wait_for_publisher(
      std::chrono::steady_clock::time_point deadline, std::stop_token stop = {}) noexcept;
  /// For the attach timeout: the catalog's, or a shorter one of `ChannelAttachOptions`.
  [[nodiscard]] expected<void, Error> wait_for_publisher() noexcept;
  /// Advisory: a publisher is attached at this moment.
  [[nodiscard]] bool has_publisher() const noexcept;
  /// Set before the first receive: called when data, an end or another publisher may be there. Same
  /// rules as for `WritableCallback`. For the graph's imports.
  struct ReadableCallback {
    void (*function)(void* context) noexcept {nullptr};
    void* context{nullptr};
  };
  void set_readable_callback(ReadableCallback callback) noexcept;
  /// Retires this endpoint locally: no end of stream, unread frames are discarded. A second close
  /// is kClosed.
  expected<void, Error> close() noexcept;

  struct Impl;  // private to the library
  explicit InlineSubscriber(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace weftline
