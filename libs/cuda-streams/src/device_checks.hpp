// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "weftline/cuda/device.hpp"

// What both backends ask of their arguments, so that a mistake gets the same answer on either.

namespace weftline::cuda_streams {

/// `object` is a StreamRef or an EventRef.
template <class Object>
[[nodiscard]] expected<void, Error> check_not_null(Object object) noexcept {
  if (object.device() == nullptr || object.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");
  }
  return {};
}

template <class Object>
[[nodiscard]] expected<void, Error> check_own(const Device& device, Object object) noexcept {
  WEFTLINE_TRY(check_not_null(object));
  if (object.device() != &device) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_FOREIGN_OBJECT");
  }
  return {};
}

/// `Backend` is the device class whose events a stream of that backend may wait for.
template <class Backend>
[[nodiscard]] expected<void, Error> check_same_backend(const Backend& device,
                                                       EventRef event) noexcept {
  WEFTLINE_TRY(check_not_null(event));
  if (event.device() != &device && dynamic_cast<const Backend*>(event.device()) == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_FOREIGN_OBJECT");
  }
  return {};
}

[[nodiscard]] inline expected<void, Error> check_range(const void* begin,
                                                       std::uint64_t bytes) noexcept {
  if (begin == nullptr && bytes != 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_NULL_POINTER");
  }
  return {};
}

[[nodiscard]] inline expected<void, Error> check_task(const HostTask& task) noexcept {
  if (!task) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_EMPTY_TASK");
  }
  return {};
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

}  // namespace weftline::cuda_streams
