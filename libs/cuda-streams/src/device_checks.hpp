// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>

#include "order_model.hpp"
#include "weftline/cuda/device.hpp"

// What Device asks of its arguments, so that a mistake gets the same answer on every backend. Each
// check answers null when there is nothing wrong: cheaper on the hot path than an expected is.

namespace weftline::cuda_streams {

inline constexpr DeviceRefusal kNullObject{ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT"};
inline constexpr DeviceRefusal kForeignObject{ErrorCode::kInvalidArgument, "DEVICE_FOREIGN_OBJECT"};
inline constexpr DeviceRefusal kNullPointer{ErrorCode::kInvalidArgument, "DEVICE_NULL_POINTER"};
inline constexpr DeviceRefusal kEmptyTask{ErrorCode::kInvalidArgument, "DEVICE_EMPTY_TASK"};
inline constexpr DeviceRefusal kInHostTask{ErrorCode::kInvalidArgument, "DEVICE_CALL_IN_HOST_TASK"};

/// The first one that is not null.
template <class... More>
[[nodiscard]] const DeviceRefusal* first_of(const DeviceRefusal* first, More... more) noexcept {
  if constexpr (sizeof...(more) == 0) {
    return first;
  } else {
    return first != nullptr ? first : first_of(more...);
  }
}

[[nodiscard]] inline auto refuse(const DeviceRefusal& refusal) {
  return fail(refusal.code, refusal.token, std::string(refusal.message));
}

/// `object` is a StreamRef, an EventRef or a FenceWord.
template <class Object>
[[nodiscard]] const DeviceRefusal* check_own(const Device& device, Object object) noexcept {
  if (object.device() == nullptr || object.get() == nullptr) {
    return &kNullObject;
  }
  return object.device() != &device ? &kForeignObject : nullptr;
}

/// A stream may wait for events of all devices of its backend.
[[nodiscard]] inline const DeviceRefusal* check_same_backend(const Device& device,
                                                             EventRef event) noexcept {
  const DeviceRefusal* const refusal = check_own(device, event);
  if (refusal != &kForeignObject) {
    return refusal;
  }
  const Device& other = *event.device();
  return typeid(other) == typeid(device) ? nullptr : refusal;
}

[[nodiscard]] inline const DeviceRefusal* check_range(const void* begin,
                                                      std::uint64_t bytes) noexcept {
  return begin == nullptr && bytes != 0 ? &kNullPointer : nullptr;
}

[[nodiscard]] inline const DeviceRefusal* check_task(const HostTask& task) noexcept {
  return task ? nullptr : &kEmptyTask;
}

[[nodiscard]] inline expected<void, Error> check_kind(DeviceId device, MemoryKind kind) {
  if (kind == MemoryKind::kPinnedHost || is_device_resident(kind)) {
    return {};
  }
  return fail(
      ErrorCode::kInvalidArgument, "DEVICE_MEMORY_KIND",
      device.to_string() + " allocates pinned_host, cuda_device and cuda_managed memory, not " +
          std::string(memory_kind_name(kind)) + "; take host memory from allocate_host_memory().");
}

/// For a checker: memory that the device made or imported.
inline void note_memory(const Device& device, const void* data, std::uint64_t bytes) noexcept {
  if (StreamOrderChecker* const checker = device.order_checker()) {
    checker->model().memory_made(device.id(), data, bytes);
  }
}

}  // namespace weftline::cuda_streams

inline const weftline::DeviceRefusal* weftline::Device::check_call() const noexcept {
  return in_host_task() ? &cuda_streams::kInHostTask : do_unusable();
}
