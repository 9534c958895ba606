// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weftline/core/error.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/host_wait_counters.hpp"

namespace weftline {

/// Answers for one tensor "may its bytes be read?". For libraries that make tensors.
///
/// Set by the tensor's one writer before any handle exists, then read by every holder. The one
/// change that a holder may make is `make_explicit()`, on any thread. `passed()` belongs to whoever
/// retires the bytes.
class Readiness {
 public:
  enum class Kind : std::uint8_t {
    kHostComplete,  ///< A host wrote them, or nobody: they may be read at once.
    kRecorded,      ///< After an event on the writer's stream.
    /// Nobody knows: a foreign writer has promised nothing. Refused for device work (rule 6).
    kUnknown,
    /// After what the writer's stream has queued, and all readers are proven to be on that stream:
    /// no event is recorded (rule 5). `make_explicit()` turns it into kRecorded.
    kElided,
    kBeingRecorded,  ///< On its way from kElided to kRecorded.
  };

  /// Cold: makes the event; nothing without a device.
  expected<void, Error> build(const std::shared_ptr<Device>& device);

  void set_host_complete() noexcept { set(Kind::kHostComplete); }
  void set_unknown() noexcept { set(Kind::kUnknown); }
  /// The writer is `stream`, and so is every reader.
  void elide(StreamRef stream) noexcept;
  /// Records the event on the writer's stream: the bytes are ready when the work queued there until
  /// now is done. Unchanged when the device refuses.
  expected<void, Error> record(StreamRef stream) noexcept;

  [[nodiscard]] Kind kind() const noexcept { return kind_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_contract() const noexcept { return kind() != Kind::kUnknown; }
  /// Whether they may be read at once, by anybody.
  [[nodiscard]] bool host_complete() const noexcept { return kind() == Kind::kHostComplete; }
  /// Whether work on `stream` is in order with the writes by the stream alone.
  [[nodiscard]] bool elided_on(StreamRef stream) const noexcept {
    return kind() == Kind::kElided && stream == elided_stream_;
  }
  [[nodiscard]] StreamRef elided_stream() const noexcept { return elided_stream_; }
  /// Records the left out event now: late, but after the writes. Nothing for any other kind. Waits
  /// for a thread that is doing the same, for the time of one record.
  expected<void, Error> make_explicit() noexcept;

  // Both for any kind but kElided: make that explicit before.

  /// Orders later work on `stream` after the writes: at most one event wait; never blocks. Without
  /// a contract kNotSupported (TENSOR_READINESS_UNKNOWN).
  expected<void, Error> enqueue_wait(StreamRef stream) const noexcept;
  /// Blocks until the bytes may be read, and counts that when it has to wait. Without a contract
  /// kNotSupported (TENSOR_READINESS_UNKNOWN).
  expected<void, Error> wait_on_host(HostWaitCounters& waits, HostWait why) const noexcept;
  /// Whether the writer's work is done. Asks the device at most once about work that is.
  [[nodiscard]] expected<bool, Error> passed() noexcept;
  /// Cold: waits for what was recorded. An error is of no use: a failed device runs nothing more.
  void synchronize() noexcept;

 private:
  void set(Kind kind) noexcept { kind_.store(kind, std::memory_order_release); }

  std::atomic<Kind> kind_{Kind::kHostComplete};
  bool passed_{false};
  Event event_{};
  StreamRef elided_stream_{};
};

}  // namespace weftline
