// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "weftline/core/error.hpp"
#include "weftline/cuda/stream_ref.hpp"

namespace weftline {

class Device;

/// Whether a word that holds `value` lets through who waits for `awaited`: at or past it, by the
/// signed difference, so that a counter may wrap around.
[[nodiscard]] constexpr bool fence_reached(std::uint64_t value, std::uint64_t awaited) noexcept {
  return static_cast<std::int64_t>(value - awaited) >= 0;
}

/// Borrows a 64-bit word in memory that streams and host threads reach, also of other processes.
/// Three words, copied freely, owning nothing: the memory must live until no stream has work on the
/// word left. Made by `FenceWords::word()`.
class FenceWord {
 public:
  constexpr FenceWord() noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return place_ != nullptr; }
  [[nodiscard]] Device* device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t* get() const noexcept { return place_; }

  // By the host; the word must not be null. A load that finds a stream's write sees all that the
  // stream did before it. A store of an awaited value, or one past it, opens the wait.

  [[nodiscard]] std::uint64_t load() const noexcept {
    return std::atomic_ref(*place_).load(std::memory_order_acquire);
  }
  void store(std::uint64_t value) const noexcept {
    std::atomic_ref(*place_).store(value, std::memory_order_release);
  }
  [[nodiscard]] bool reached(std::uint64_t awaited) const noexcept {
    return fence_reached(load(), awaited);
  }

 private:
  friend class FenceWords;
  FenceWord(Device& device, std::uint64_t* place, std::uintptr_t device_address) noexcept
      : device_(&device), place_(place), device_address_(device_address) {}

  Device* device_{nullptr};
  std::uint64_t* place_{nullptr};
  std::uintptr_t device_address_{0};
};

/// A device's ability to write fence words, and to wait for them, in the order of its streams: a
/// fence between processes that costs no event, no callback and no host thread. Had from
/// `Device::fence_words()`, and lives as long as the device.
///
/// Calls may come from any thread, allocate nothing but for `word()`, and return at once (an
/// emulated stream's full queue blocks). Refusals are those of Device's hot calls.
///
/// A wait holds up its stream, and the streams that share a hardware queue with it
/// (`DeviceDescription::hardware_queues`; with 1, all of the device): a wait must not need one of
/// them to be opened. A wait that nobody opens holds them up for ever, and with them what waits for
/// them: closing an emulated device, and on CUDA cudaFree(), cudaFreeHost() and the first launch of
/// a kernel. Open it by a host store before an end.
class FenceWords {
 public:
  FenceWords(const FenceWords&) = delete;
  FenceWords& operator=(const FenceWords&) = delete;

  /// Cold. `place` is aligned to 8 bytes in pinned memory of this device; anything else is
  /// kInvalidArgument (DEVICE_FENCE_WORD_PLACE). The value in it stays.
  [[nodiscard]] expected<FenceWord, Error> word(std::uint64_t* place);

  /// `word` becomes `value` when all earlier work on `stream` is done and visible.
  expected<void, Error> write(StreamRef stream, FenceWord word, std::uint64_t value) noexcept;
  /// The same for several words at once, which is cheaper. Which of them is written first is not
  /// said. None queue nothing.
  expected<void, Error> write(StreamRef stream, std::span<const FenceWord> words,
                              std::uint64_t value) noexcept;
  /// Later work on `stream` waits until `fence_reached(word, value)`, whoever writes it.
  expected<void, Error> wait(StreamRef stream, FenceWord word, std::uint64_t value) noexcept;

 protected:
  explicit FenceWords(Device& device) noexcept : device_(device) {}
  ~FenceWords() = default;
  [[nodiscard]] static std::uintptr_t device_address(FenceWord word) noexcept {
    return word.device_address_;
  }

 private:
  [[nodiscard]] virtual expected<std::uintptr_t, Error> do_device_address(std::uint64_t* place) = 0;
  virtual expected<void, Error> do_write(CUstream_st* stream, std::span<const FenceWord> words,
                                         std::uint64_t value) noexcept = 0;
  virtual expected<void, Error> do_wait(CUstream_st* stream, FenceWord word,
                                        std::uint64_t value) noexcept = 0;

  Device& device_;
};

}  // namespace weftline
