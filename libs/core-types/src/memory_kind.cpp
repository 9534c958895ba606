// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/memory_kind.hpp"

#include <array>

namespace weftline {

std::string_view memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::kUnknown:
      break;
    case MemoryKind::kHost:
      return "host";
    case MemoryKind::kPinnedHost:
      return "pinned_host";
    case MemoryKind::kCudaDevice:
      return "cuda_device";
    case MemoryKind::kCudaManaged:
      return "cuda_managed";
  }
  return "unknown";
}

std::optional<MemoryKind> memory_kind_from_name(std::string_view name) noexcept {
  constexpr std::array kKinds{MemoryKind::kUnknown, MemoryKind::kHost, MemoryKind::kPinnedHost,
                              MemoryKind::kCudaDevice, MemoryKind::kCudaManaged};
  for (const MemoryKind kind : kKinds) {
    if (memory_kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace weftline
