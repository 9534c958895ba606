// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test_graph.hpp"
#include "weftline/graph/tensor_derivations.hpp"

namespace weftline {

enum class Storage : std::uint8_t { kHost, kPinned, kDevice };

struct Tile {
  std::uint64_t width{16};
};
WEFTLINE_PARAM_SCHEMA(Tile, param_schema("com.example.Tile", 1),
                      field<&Tile::width>("width").recompile_required());

/// What sizes and places of tensors are derived from.
struct ResizeParams {
  std::vector<std::int64_t> shape{4, 5, 3};
  std::array<std::uint64_t, 4> sizes{1, 2, 3, 4};
  Tile left{};
  Tile right{};
  std::uint64_t fixed{100};
  Storage storage{Storage::kHost};
  MemoryKind kind{MemoryKind::kHost};
  bool pinned{false};
};
WEFTLINE_PARAM_SCHEMA(ResizeParams, param_schema("com.example.Resize", 3),
                      field<&ResizeParams::shape>("shape").length(1, 4).recompile_required(),
                      field<&ResizeParams::sizes>("sizes").recompile_required(),
                      field<&ResizeParams::left>("left"), field<&ResizeParams::right>("right"),
                      field<&ResizeParams::fixed>("fixed").range(0, ~0ULL),
                      field<&ResizeParams::storage>("storage")
                          .enum_values({param_enum_value("host", Storage::kHost),
                                        param_enum_value("pinned", Storage::kPinned),
                                        param_enum_value("device", Storage::kDevice)})
                          .recompile_required(),
                      field<&ResizeParams::kind>("kind").enum_values(
                          {param_enum_value("host", MemoryKind::kHost),
                           param_enum_value("device", MemoryKind::kCudaDevice)}),
                      field<&ResizeParams::pinned>("pinned"));

/// Goes by the same name and has a field of the same path.
struct ImpostorResize {
  std::vector<std::int64_t> shape{1, 1, 1};
};
WEFTLINE_PARAM_SCHEMA(ImpostorResize, param_schema("com.example.Resize", 3),
                      field<&ImpostorResize::shape>("shape").length(1, 4));

// One function for each of four numbers, and some that fail.
template <std::size_t Index>
expected<std::uint64_t, Error> size_at(const ResizeParams& params) noexcept {
  return params.sizes[Index];
}
inline expected<std::uint64_t, Error> too_large(const ResizeParams&) noexcept {
  return fail(ErrorCode::kArithmeticOverflow, "PRIVATE_TOKEN", "private words");
}
inline expected<std::uint64_t, Error> no_answer(const ResizeParams&) noexcept {
  return fail(ErrorCode::kNotFound, "PRIVATE_TOKEN", "private words");
}
inline expected<std::uint64_t, Error> fixed_bytes(const ResizeParams& params) noexcept {
  return params.fixed;
}
inline expected<std::uint64_t, Error> left_bytes(const ResizeParams& params) noexcept {
  return params.left.width;
}
inline expected<std::uint64_t, Error> right_bytes(const ResizeParams& params) noexcept {
  return params.right.width;
}

inline TensorByteSpanExpression shape_bytes() {
  return parameter_contiguous_byte_span(param_ref<&ResizeParams::shape>());
}
template <auto Function>
TensorByteSpanExpression projected(std::string id) {
  return parameter_projected_byte_span<Function>(std::move(id), param_ref<&ResizeParams::fixed>());
}
/// The largest tensor at an input, by its index.
inline TensorByteSpanExpression largest_at(std::uint32_t input) {
  Input<Tensor> port;
  port.declare(input);
  return input_max_byte_span(port).detached();
}

/// "source" brings 1,000-byte tensors of rank 2 to "in" of "op", whose "out" goes to "sink". "op"
/// has ResizeParams and a pool of rank 3 that leaves its bytes to a formula.
inline TestGraph resizing(const TensorByteSpanExpression& bytes, ResizeParams values = {}) {
  TestGraph graph;
  graph.source("source").tensor_output("source.out", pool_in(MemoryKind::kHost));
  graph.relay("op").tensor_input("op.in").sink("sink").tensor_input("sink.in");
  TensorOutputSpec pool = pool_in(MemoryKind::kHost);
  pool.representation.rank = 3;
  graph.tensor_output("op.out", pool).params("op", std::move(values));
  graph.flow("source.out", "op.in").flow("op.out", "sink.in");
  return graph.derive("op.out", {.byte_span = bytes});
}

}  // namespace weftline
