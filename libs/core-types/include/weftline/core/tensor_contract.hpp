// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>

#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"

namespace weftline {

/// Facts that a port states about its tensors; an absent fact is not checked. Rank 0 is a scalar.
struct TensorRepresentation {
  std::optional<MemoryKind> memory_kind{};
  std::optional<DLDataType> dtype{};
  std::optional<std::uint32_t> rank{};
};

/// Hard caps. A present maximum of 0 rejects every allocation; it does not mean "unbounded".
struct TensorBounds {
  std::optional<std::uint32_t> max_rank{};
  std::optional<std::uint64_t> max_byte_span{};
};

[[nodiscard]] constexpr TensorBounds tensor_bounds(std::uint64_t max_byte_span) noexcept {
  return {.max_rank = std::nullopt, .max_byte_span = max_byte_span};
}

enum class TensorOutputStorage : std::uint8_t {
  kPassThrough = 0,  ///< The operator emits tensors that it got from elsewhere.
  kRuntimePool,      ///< The runtime owns a finite pool, built before the first activation.
};

struct TensorOutputSpec {
  TensorRepresentation representation{};
  TensorBounds bounds{};
  TensorOutputStorage storage{TensorOutputStorage::kPassThrough};
};

/// What a consumer needs; a received tensor that differs is kProtocolError before it is stored.
struct TensorInputSpec {
  TensorRepresentation representation{};
};

/// What crosses the border of a process on a tensor topic.
struct TensorBoundaryContract {
  MemoryKind memory_kind{MemoryKind::kUnknown};
  DLDataType dtype{};
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> max_rank{};
  std::uint64_t max_byte_span{0};
};

}  // namespace weftline
