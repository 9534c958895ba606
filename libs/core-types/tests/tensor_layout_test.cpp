// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/tensor_layout.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace weftline {
namespace {

constexpr DLDataType kUInt8{kDLUInt, 8, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};
constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int64_t>::max();

using Extents = std::vector<std::int64_t>;

/// Start of every element, found by walking all indices.
std::vector<std::int64_t> element_offsets(const TensorLayout& layout) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < layout.extents[axis]; ++i) {
        longer.push_back(offset + i * layout.strides_bytes[axis]);
      }
    }
    offsets = std::move(longer);
  }
  return offsets;
}

std::uint64_t walked_span(const TensorLayout& layout) {
  const auto offsets = element_offsets(layout);
  if (offsets.empty()) return 0;
  return static_cast<std::uint64_t>(*std::ranges::max_element(offsets)) + dtype_bytes(layout.dtype);
}

void check_refused(const expected<TensorLayout, Error>& layout, ErrorCode code,
                   std::string_view token) {
  REQUIRE_FALSE(layout);
  CHECK(layout.error().code == code);
  CHECK(layout.error().token == token);
  CHECK(layout.error().message.empty());
}

class Shapes {
 public:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Extents shape() {
    Extents extents(static_cast<std::size_t>(between(0, 4)));
    for (auto& extent : extents) extent = between(between(0, 4) == 0 ? 0 : 1, 5);
    return extents;
  }
  DLDataType dtype() {
    constexpr std::array<std::uint8_t, 6> kBits{1, 4, 8, 16, 32, 64};
    return {kDLUInt, kBits[static_cast<std::size_t>(between(0, 5))],
            static_cast<std::uint16_t>(between(1, 4))};
  }

 private:
  std::mt19937_64 random_{7};
};

TEST_CASE("a packed layout puts elements one after another in row-major order") {
  Shapes shapes;
  for (int round = 0; round < 2'000; ++round) {
    const Extents shape = shapes.shape();
    const DLDataType dtype = shapes.dtype();
    const auto layout = contiguous_layout(shape, dtype);
    REQUIRE(layout);
    REQUIRE(std::ranges::equal(layout->shape(), shape));
    REQUIRE(same_dtype(layout->dtype, dtype));
    REQUIRE(layout->contiguous());
    std::int64_t next = 0;
    for (const std::int64_t offset : element_offsets(*layout)) {
      REQUIRE(offset == next);
      next += static_cast<std::int64_t>(dtype_bytes(dtype));
    }
    REQUIRE(layout->byte_span() == static_cast<std::uint64_t>(next));
  }
}

TEST_CASE("a strided layout spans what its elements touch") {
  Shapes shapes;
  for (int round = 0; round < 2'000; ++round) {
    const Extents shape = shapes.shape();
    Extents strides(shape.size());
    for (auto& stride : strides) stride = shapes.between(0, 100);
    const auto layout = strided_layout(shape, strides, shapes.dtype());
    REQUIRE(layout);
    REQUIRE(std::ranges::equal(layout->byte_strides(), strides));
    REQUIRE(layout->byte_span() == walked_span(*layout));
  }
}

TEST_CASE("a strided layout is contiguous exactly when its elements are packed in order") {
  Shapes shapes;
  for (int round = 0; round < 2'000; ++round) {
    const Extents shape = shapes.shape();
    const auto packed = contiguous_layout(shape, kUInt8).value();
    Extents strides(packed.byte_strides().begin(), packed.byte_strides().end());
    if (!strides.empty()) {
      auto& one = strides[static_cast<std::size_t>(
          shapes.between(0, static_cast<std::int64_t>(strides.size()) - 1))];
      one += shapes.between(0, 1);
    }
    const auto layout = strided_layout(shape, strides, kUInt8).value();
    const bool same_places = element_offsets(layout) == element_offsets(packed);
    REQUIRE(layout.contiguous() == same_places);
  }
}

TEST_CASE("a scalar has rank zero and the span of its element") {
  const auto layout = contiguous_layout({}, kFloat32).value();
  CHECK(layout.rank == 0);
  CHECK(layout.byte_span() == 4);
  CHECK(layout.contiguous());
}

TEST_CASE("a tensor without elements spans nothing, however large its other extents are") {
  CHECK(contiguous_layout(Extents{4, 0, 3}, kFloat32)->byte_span() == 0);
  CHECK(contiguous_layout(Extents{kMaxExtent, 0}, kFloat32)->byte_span() == 0);
  CHECK(strided_layout(Extents{0, kMaxExtent}, Extents{kMaxExtent, kMaxExtent}, kFloat32)
            ->byte_span() == 0);
}

TEST_CASE("the largest size is admitted and one byte more is refused") {
  CHECK(contiguous_layout(Extents{kMaxExtent}, kUInt8)->byte_span() ==
        static_cast<std::uint64_t>(kMaxExtent));
  CHECK(strided_layout(Extents{2}, Extents{kMaxExtent - 1}, kUInt8)->byte_span() ==
        static_cast<std::uint64_t>(kMaxExtent));
  constexpr auto kOverflow = ErrorCode::kArithmeticOverflow;
  check_refused(strided_layout(Extents{2}, Extents{kMaxExtent}, kUInt8), kOverflow,
                "TENSOR_SPAN_OVERFLOW");
  check_refused(contiguous_layout(Extents{kMaxExtent / 2 + 1, 2}, kUInt8), kOverflow,
                "TENSOR_SPAN_OVERFLOW");
  check_refused(contiguous_layout(Extents{kMaxExtent}, kFloat32), kOverflow,
                "TENSOR_SPAN_OVERFLOW");
  check_refused(strided_layout(Extents{kMaxExtent, 2}, Extents{kMaxExtent, 1}, kUInt8), kOverflow,
                "TENSOR_SPAN_OVERFLOW");
  check_refused(contiguous_layout(Extents{0, kMaxExtent, 2}, kFloat32), kOverflow,
                "TENSOR_SPAN_OVERFLOW");
}

TEST_CASE("bad shapes, strides and types are refused with a token and without a message") {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  check_refused(contiguous_layout(Extents(9, 1), kUInt8), kInvalid, "TENSOR_RANK_TOO_HIGH");
  check_refused(contiguous_layout(Extents{2, -1}, kUInt8), kInvalid, "TENSOR_EXTENT_NEGATIVE");
  check_refused(contiguous_layout(Extents{2}, DLDataType{kDLUInt, 0, 1}), kInvalid,
                "TENSOR_DTYPE_INVALID");
  check_refused(contiguous_layout(Extents{2}, DLDataType{kDLUInt, 8, 0}), kInvalid,
                "TENSOR_DTYPE_INVALID");
  check_refused(strided_layout(Extents{2, 2}, Extents{1}, kUInt8), kInvalid,
                "TENSOR_STRIDES_MISMATCH");
  check_refused(strided_layout(Extents{2}, Extents{-1}, kUInt8), kInvalid,
                "TENSOR_STRIDE_NEGATIVE");
  CHECK(contiguous_layout(Extents(kMaximumTensorRank, 1), kUInt8).has_value());
}

TEST_CASE("element types have readable names") {
  CHECK(dtype_name(kUInt8) == "uint8");
  CHECK(dtype_name({kDLFloat, 32, 4}) == "float32x4");
  CHECK(dtype_name({kDLBfloat, 16, 1}) == "bfloat16");
  CHECK(dtype_name({kDLComplex, 64, 1}) == "complex64");
  CHECK(dtype_name({kDLOpaqueHandle, 64, 1}) == "opaque64");
  CHECK(dtype_name({kDLInt, 8, 1}) == "int8");
  CHECK(dtype_name({6, 8, 1}) == "bool");
  CHECK(dtype_name({6, 8, 2}) == "boolx2");
  CHECK(dtype_name({200, 8, 1}) == "code200_8");
}

}  // namespace
}  // namespace weftline
