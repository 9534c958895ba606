// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weftline/core/error.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline {

/// The most that one tensor may be asked to remember.
inline constexpr std::uint32_t kMaximumReleaseStreams = 4096;

/// The consumer streams of one tensor, each with an event made beforehand. Streams are added while
/// handles exist, recorded once by whoever drops the last one, then polled by one thread until all
/// have passed. For libraries that make tensors.
class ReleaseSet {
 public:
  /// Cold: makes the events. A null device or no capacity makes a set that is always full.
  expected<void, Error> build(const std::shared_ptr<Device>& device, std::uint32_t capacity);

  /// Any thread that holds a handle, several at once. True when the stream is in the set now.
  [[nodiscard]] bool add(StreamRef stream) noexcept;

  // One thread, after the last handle was dropped.

  [[nodiscard]] bool empty() const noexcept { return stream_at(0) == nullptr; }
  /// Records one event on each stream. An error leaves the later ones unrecorded.
  expected<void, Error> record() noexcept;
  /// True once the work before `record()` has passed on every stream. Asks the device at most once
  /// about an event that has passed.
  [[nodiscard]] expected<bool, Error> poll() noexcept;
  void clear() noexcept {
    for (std::uint32_t index = 0; stream_at(index) != nullptr; ++index) {
      entries_[index].stream.store(nullptr, std::memory_order_relaxed);
    }
    passed_ = 0;
  }
  // Cold: wait on the host, for what was recorded, or for all that the streams hold where no record
  // tells. Errors are of no use here: a failed device runs nothing any more.
  void synchronize_events() noexcept;
  void synchronize_streams() noexcept;

 private:
  struct Entry {
    std::atomic<CUstream_st*> stream{nullptr};  ///< Null: free.
    Event event{};
  };

  // What was added is seen here because each adder dropped its handle afterwards (a release), and
  // the last dropper acquired.
  [[nodiscard]] CUstream_st* stream_at(std::uint32_t index) const noexcept {
    return index < capacity_ ? entries_[index].stream.load(std::memory_order_relaxed) : nullptr;
  }

  Device* device_{nullptr};
  std::uint32_t capacity_{0};
  std::uint32_t passed_{0};  ///< Leading entries whose event has passed.
  std::unique_ptr<Entry[]> entries_{};
};

}  // namespace weftline
