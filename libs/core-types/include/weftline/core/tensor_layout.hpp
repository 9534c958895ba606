// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "weftline/core/error.hpp"

namespace weftline {

inline constexpr std::uint32_t kMaximumTensorRank = 8;

[[nodiscard]] constexpr bool same_dtype(DLDataType a, DLDataType b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
/// Bytes of one element with all its lanes; sub-byte types round up.
[[nodiscard]] constexpr std::uint64_t dtype_bytes(DLDataType dtype) noexcept {
  return (std::uint64_t{dtype.bits} * dtype.lanes + 7) / 8;
}
/// "uint8", "float32x4", "bool".
[[nodiscard]] std::string dtype_name(DLDataType dtype);

/// Shape, strides and element type of a tensor, held in place: copying allocates nothing.
struct TensorLayout {
  DLDataType dtype{};
  std::uint32_t rank{0};
  std::array<std::int64_t, kMaximumTensorRank> extents{};
  std::array<std::int64_t, kMaximumTensorRank> strides_bytes{};

  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept {
    return {extents.data(), rank};
  }
  [[nodiscard]] std::span<const std::int64_t> byte_strides() const noexcept {
    return {strides_bytes.data(), rank};
  }
  [[nodiscard]] bool contiguous() const noexcept;
  /// Bytes from the first to past the last addressed byte; 0 when any extent is 0. The factories
  /// below have checked that it does not overflow.
  [[nodiscard]] std::uint64_t byte_span() const noexcept;
};

/// Packed row-major layout. Refuses (code and token only, no allocation) a negative extent
/// (TENSOR_EXTENT_NEGATIVE), a rank above kMaximumTensorRank (TENSOR_RANK_TOO_HIGH), a dtype of
/// zero bytes (TENSOR_DTYPE_INVALID) and a size past 2^63-1 bytes (TENSOR_SPAN_OVERFLOW,
/// kArithmeticOverflow).
[[nodiscard]] expected<TensorLayout, Error> contiguous_layout(std::span<const std::int64_t> shape,
                                                              DLDataType dtype) noexcept;

/// The same with explicit byte strides; as many strides as extents, else TENSOR_STRIDES_MISMATCH,
/// and none negative (TENSOR_STRIDE_NEGATIVE).
[[nodiscard]] expected<TensorLayout, Error> strided_layout(
    std::span<const std::int64_t> shape, std::span<const std::int64_t> byte_strides,
    DLDataType dtype) noexcept;

}  // namespace weftline
