// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weftline {

/// Where bytes live. It names no pool, allocator or device. On an emulated device the last three
/// are host memory with the same rules.
enum class MemoryKind : std::uint8_t {
  kUnknown = 0,  ///< For diagnostics only; never admitted for a published tensor.
  kHost,
  kPinnedHost,  ///< Host memory that a device can read and write directly.
  kCudaDevice,
  kCudaManaged,
};

/// "host", "pinned_host", "cuda_device", "cuda_managed" or "unknown".
[[nodiscard]] std::string_view memory_kind_name(MemoryKind kind) noexcept;
[[nodiscard]] std::optional<MemoryKind> memory_kind_from_name(std::string_view name) noexcept;

/// True when a host thread may dereference the bytes.
[[nodiscard]] constexpr bool is_host_accessible(MemoryKind kind) noexcept {
  return kind == MemoryKind::kHost || kind == MemoryKind::kPinnedHost ||
         kind == MemoryKind::kCudaManaged;
}

/// True when an allocation of this kind belongs to one device.
[[nodiscard]] constexpr bool is_device_resident(MemoryKind kind) noexcept {
  return kind == MemoryKind::kCudaDevice || kind == MemoryKind::kCudaManaged;
}

}  // namespace weftline
