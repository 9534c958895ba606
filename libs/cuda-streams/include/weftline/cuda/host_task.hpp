// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace weftline {

namespace cuda_streams {
class OrderModel;
}

/// A function object held in place (no allocation), run once in stream order. It must not
///  - throw;
///  - call a device, or do what calls one: drop the last owner of a stream, an event or memory;
///  - wait for what its own stream does later, or for a task of another stream: one thread may run
///    them all.
/// It may drop the last owner of a device, whatever lives in plain host memory, and types that say
/// that they put the device calls of their end off to another thread (tensors do). A device call
/// from a task is refused: kInvalidArgument (DEVICE_CALL_IN_HOST_TASK).
class HostTask {
 public:
  static constexpr std::size_t kCapacity = 192;

  HostTask() noexcept = default;
  template <class Fn>
    requires(!std::is_same_v<std::remove_cvref_t<Fn>, HostTask> &&
             std::is_invocable_v<std::remove_cvref_t<Fn>&>)
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the constraint keeps it from copies
  HostTask(Fn&& fn) noexcept : invoke_(&invoke_as<std::remove_cvref_t<Fn>>) {
    using Held = std::remove_cvref_t<Fn>;
    static_assert(sizeof(Held) <= kCapacity && alignof(Held) <= alignof(std::max_align_t),
                  "a host task captures at most 192 bytes: capture pointers and sizes");
    static_assert(std::is_trivially_copyable_v<Held> && std::is_trivially_destructible_v<Held>,
                  "a host task captures plain values only; what it points to must outlive it");
    ::new (static_cast<void*>(storage_)) Held(std::forward<Fn>(fn));
  }

  [[nodiscard]] explicit operator bool() const noexcept { return invoke_ != nullptr; }
  /// Runs the function; the task must not be empty.
  void operator()() noexcept;

 private:
  friend class Device;
  /// Whom to tell when the task runs, and as which one.
  struct Watch {
    cuda_streams::OrderModel* model{nullptr};
    std::uint64_t ticket{0};
  };

  template <class Held>
  static void invoke_as(void* storage) noexcept {
    (*std::launder(static_cast<Held*>(storage)))();
  }
  void (*invoke_)(void*) noexcept {nullptr};
  Watch watch_{};
  alignas(std::max_align_t) std::byte storage_[kCapacity];
};

/// Whether the calling thread runs a host task, of any device. Who may be called from a task and
/// has to call a device asks this, and puts the call off.
[[nodiscard]] bool in_host_task() noexcept;

}  // namespace weftline
