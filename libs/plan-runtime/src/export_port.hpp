// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"

namespace weftline::runtime {

class Parker;

/// The way out of the process for one exported topic, whatever carries it. Used on the lane of the
/// operator that feeds it, but for wait_for_peer(); no call but that one blocks.
class ExportPort {
 public:
  ExportPort() = default;
  ExportPort(const ExportPort&) = delete;
  ExportPort& operator=(const ExportPort&) = delete;
  virtual ~ExportPort() = default;

  /// The lane to wake when peers came or left, or when a refusal is over. Before the first call of
  /// publish().
  virtual void wake(Parker& lane) noexcept = 0;
  /// True when publish() would not be refused with kBackpressured now. Only publish() can make it
  /// false again.
  [[nodiscard]] virtual bool has_room() const noexcept = 0;
  /// Any thread.
  [[nodiscard]] virtual std::uint32_t peer_count() const noexcept = 0;
  /// Gives the sample at `value`, a complete object of the topic's payload, to every peer of this
  /// moment, and says to how many. All-or-nothing before any peer can see it: a retryable refusal
  /// means that nobody has it. kPublicationPartial and kPublicationIndeterminate: some have it, or
  /// it is unknown who has.
  [[nodiscard]] virtual expected<std::uint32_t, Error> publish(
      const void* value, const SampleMetadata& metadata) noexcept = 0;
  /// Ordered end of stream, after all that was published. Once.
  virtual void close() noexcept = 0;
  /// The controller, before the lanes start: blocks until a peer is there, kTimeout at the
  /// deadline; any other error ends the wait for good.
  [[nodiscard]] virtual expected<void, Error> wait_for_peer(
      std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace weftline::runtime
