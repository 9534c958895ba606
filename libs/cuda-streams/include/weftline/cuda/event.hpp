// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

struct CUevent_st;  // what cudaEvent_t points to

namespace weftline {

class Device;

struct EventOptions {
  /// Whether a host thread that synchronizes with the event sleeps until then. Otherwise CUDA spins
  /// or yields: quicker, at the price of a core. An emulated device always sleeps.
  bool blocking_wait{false};
};

/// Borrows an event; see `Event`.
class EventRef {
 public:
  constexpr EventRef() noexcept = default;
  constexpr EventRef(Device& device, CUevent_st* handle) noexcept
      : device_(&device), handle_(handle) {}
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return handle_ != nullptr; }
  [[nodiscard]] constexpr Device* device() const noexcept { return device_; }
  [[nodiscard]] constexpr CUevent_st* get() const noexcept { return handle_; }
  friend constexpr bool operator==(EventRef, EventRef) noexcept = default;

 private:
  Device* device_{nullptr};
  CUevent_st* handle_{nullptr};
};

/// Owns one ordering event, built without timing. A never recorded event counts as complete.
/// Recording again moves it; waits already queued keep the point they were given. It may be
/// destroyed while such waits are pending.
class Event {
 public:
  Event() noexcept = default;
  Event(Event&& other) noexcept
      : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  [[nodiscard]] EventRef ref() const noexcept {
    return handle_ ? EventRef(*device_, handle_) : EventRef{};
  }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  friend class Device;
  Event(std::shared_ptr<Device> device, CUevent_st* handle) noexcept
      : device_(std::move(device)), handle_(handle) {}

  std::shared_ptr<Device> device_{};
  CUevent_st* handle_{nullptr};
};

}  // namespace weftline
