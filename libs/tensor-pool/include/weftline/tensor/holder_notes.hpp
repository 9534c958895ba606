// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weftline {

/// One slot of a pool that is out, with what its holders noted. For people: read word by word while
/// the slot changes hands, so that one reading may mix two moments. Times are the noting runtime's.
struct HeldSlot {
  enum class State : std::uint8_t {
    kLoaned = 0,   ///< The producer has it: not emitted yet.
    kPublished,    ///< Handles of it are around.
    kRetiring,     ///< No handle left; a device has to pass it.
    kQuarantined,  ///< Lost: its work can't be proven complete.
  };
  /// A handle that went to one of the output's arms.
  struct Arm {
    std::uint32_t arm{0};
    bool taken{false};  ///< By the consumer, out of the arm's queue.
    std::int64_t since_ns{0};
  };

  std::uint32_t slot{0};
  State state{State::kLoaned};
  std::uint32_t handles{0};
  std::int64_t loaned_ns{0};
  std::vector<Arm> arms{};
};

/// What the holders of one slot note of themselves; nothing depends on it. A note is written by
/// whoever holds a handle or the loan just then, and the slot's own hand-over orders the writers of
/// one note: relaxed stores, read by anybody at any time.
///
/// Arms are numbered through the whole plan. Those of the pool's own output have a note each; all
/// others (the tensor was passed on by some output without a pool) share one, and the last of them
/// is seen.
class HolderNotes {
 public:
  HolderNotes(std::uint32_t first_arm, std::uint32_t arm_count)
      : first_arm_(first_arm), arms_(arm_count + 1) {}

  /// A new life begins.
  void clear() noexcept {
    for (auto& arm : arms_) arm.store(0, std::memory_order_relaxed);
  }
  void loaned(std::int64_t since_ns) noexcept {
    loaned_ns_.store(since_ns, std::memory_order_relaxed);
  }
  /// The loan goes on with another slot.
  void loaned_as(const HolderNotes& other) noexcept {
    loaned(other.loaned_ns_.load(std::memory_order_relaxed));
  }
  void queued(std::uint32_t arm, std::int64_t since_ns) noexcept {
    if (arm - first_arm_ >= arms_.size() - 1) last_arm_.store(arm, std::memory_order_relaxed);
    note(arm).store(static_cast<std::uint64_t>(since_ns) << 2 | kQueued, std::memory_order_relaxed);
  }
  void taken(std::uint32_t arm) noexcept {
    auto& word = note(arm);
    word.store((word.load(std::memory_order_relaxed) & ~kPlace) | kTaken,
               std::memory_order_relaxed);
  }
  /// The queue has dropped it.
  void gone(std::uint32_t arm) noexcept { note(arm).store(0, std::memory_order_relaxed); }
  void read(HeldSlot& slot) const;

 private:
  static constexpr std::uint64_t kPlace = 3;
  static constexpr std::uint64_t kQueued = 1;
  static constexpr std::uint64_t kTaken = 2;

  [[nodiscard]] std::atomic<std::uint64_t>& note(std::uint32_t arm) noexcept {
    const std::size_t index = arm - first_arm_;
    return index < arms_.size() ? arms_[index] : arms_.back();
  }

  const std::uint32_t first_arm_;
  std::atomic<std::int64_t> loaned_ns_{0};
  std::atomic<std::uint32_t> last_arm_{0};
  std::vector<std::atomic<std::uint64_t>> arms_;
};

}  // namespace weftline
