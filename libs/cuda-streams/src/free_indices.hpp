// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace weftline::cuda_streams {

/// The numbers below a size that nobody has taken: a lock-free stack. Its top carries a count of
/// all takes, so that a thread that was held up between its look and its exchange does not take a
/// top that left and came back with another one below it (ABA). Only a thread that is held up for
/// exactly 2^32 takes could be fooled.
class FreeIndices {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Top {
    std::uint32_t index{kNone};
    std::uint32_t takes{0};
  };
  static_assert(std::atomic<Top>::is_always_lock_free);

 public:
  /// All are free, 0 is the first to be taken.
  explicit FreeIndices(std::uint32_t size) : below_(size) {
    while (size > 0) give_back(--size);
  }

  [[nodiscard]] std::optional<std::uint32_t> take() noexcept {
    Look look = this->look();
    while (!look.empty()) {
      if (take(look)) return look.index();
    }
    return std::nullopt;
  }
  void give_back(std::uint32_t index) noexcept {
    Top top = top_.load(std::memory_order_relaxed);
    do {
      below_[index].store(top.index, std::memory_order_relaxed);
    } while (!top_.compare_exchange_weak(top, {index, top.takes}, std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  // The two steps of take(): a test puts other calls between them.

  class Look {
   public:
    [[nodiscard]] bool empty() const noexcept { return top_.index == kNone; }
    [[nodiscard]] std::uint32_t index() const noexcept { return top_.index; }

   private:
    friend class FreeIndices;
    Top top_{};
    std::uint32_t below_{kNone};
  };
  [[nodiscard]] Look look() const noexcept {
    Look look;
    look_at(top_.load(std::memory_order_acquire), look);
    return look;
  }
  /// Takes what the look has seen, unless another thread has taken or given back since; then looks
  /// again.
  [[nodiscard]] bool take(Look& look) noexcept {
    Top top = look.top_;
    if (top_.compare_exchange_strong(top, {look.below_, top.takes + 1},
                                     std::memory_order_acquire)) {
      return true;
    }
    look_at(top, look);
    return false;
  }

 private:
  void look_at(Top top, Look& look) const noexcept {
    look.top_ = top;
    look.below_ = top.index == kNone ? kNone : below_[top.index].load(std::memory_order_relaxed);
  }

  std::vector<std::atomic<std::uint32_t>> below_;
  std::atomic<Top> top_{};
};

}  // namespace weftline::cuda_streams
