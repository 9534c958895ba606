// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

namespace weftline::runtime {

inline constexpr std::string_view kTokenOutsideCompute = "PORT_OUTSIDE_COMPUTE";

/// Who is inside compute() of one operator: its lane's thread, or nobody. Ports ask, so that one
/// that is used from anywhere else is refused by name. Only the lane writes; relaxed, since a
/// thread needs to recognize nobody's mark but its own.
class ComputeScope {
 public:
  /// While one exists, its thread is inside.
  class Inside {
   public:
    explicit Inside(ComputeScope& scope) noexcept : scope_(scope) {
      scope_.thread_.store(this_thread(), std::memory_order_relaxed);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { scope_.thread_.store(nullptr, std::memory_order_relaxed); }

   private:
    ComputeScope& scope_;
  };
  [[nodiscard]] bool here() const noexcept {
    return thread_.load(std::memory_order_relaxed) == this_thread();
  }

 private:
  [[nodiscard]] static const void* this_thread() noexcept {
    static thread_local const char kMark{};
    return &kMark;
  }
  std::atomic<const void*> thread_{nullptr};
};

}  // namespace weftline::runtime
