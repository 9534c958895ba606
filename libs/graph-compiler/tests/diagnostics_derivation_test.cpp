// SPDX-License-Identifier: Apache-2.0
//
// Every diagnostic of a derivation, word by word.

#include <cstdint>
#include <utility>
#include <vector>

#include "diagnostic_cases.hpp"
#include "test_derivations.hpp"
#include "weftline/graph/tensor_derivations.hpp"

namespace weftline {
namespace {

TestGraph shaped(std::vector<std::int64_t> shape) {
  return resizing(shape_bytes(), {.shape = std::move(shape)});
}

TestGraph fixed_at(std::uint64_t bytes) {
  return resizing(projected<&fixed_bytes>("test.fixed"), {.fixed = bytes});
}

TensorMemoryKindExpression storage_kind() {
  return parameter_memory_kind(param_ref<&ResizeParams::storage>(),
                               {memory_kind_case(Storage::kHost, MemoryKind::kHost),
                                memory_kind_case(Storage::kPinned, MemoryKind::kPinnedHost),
                                memory_kind_case(Storage::kDevice, MemoryKind::kCudaDevice)});
}

/// A second operator with the same parameters.
TestGraph beside(TestGraph graph, const TensorByteSpanExpression& bytes) {
  graph.source("too").tensor_output("too.out", pool_in(MemoryKind::kHost));
  graph.sink("end").tensor_input("end.in").flow("too.out", "end.in");
  graph.params("too", ResizeParams{}).derive("too.out", {.byte_span = bytes});
  return graph;
}

}  // namespace

std::vector<DiagnosticCase> derivation_diagnostic_cases() {
  return {
      {"a shape with an empty extent", shaped({4, 0, 3}),
       "error PHYSICAL_TENSOR_BYTE_SPAN_INVALID at op.out: extent 1 of parameter shape is 0. Fix: "
       "give each extent at least 1\n"},
      {"a shape with a negative extent", shaped({std::int64_t{1} << 62, 4, -3}),
       "error PHYSICAL_TENSOR_BYTE_SPAN_INVALID at op.out: extent 2 of parameter shape is -3. Fix: "
       "give each extent at least 1\n"},
      {"a projector that says nothing", fixed_at(0),
       "error PHYSICAL_TENSOR_BYTE_SPAN_INVALID at op.out: projector test.fixed returned 0 bytes. "
       "Fix: let it return 1 to 2^63-1, or an error\n"},
      {"a projector that says too much", fixed_at(kMaximumTensorByteSpan + 1),
       "error PHYSICAL_TENSOR_BYTE_SPAN_INVALID at op.out: projector test.fixed returned "
       "9223372036854775808 bytes. Fix: let it return 1 to 2^63-1, or an error\n"},
      {"a shape of more bytes than there are", shaped({std::int64_t{1} << 61, 4, 1}),
       "error PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW at op.out: 2305843009213693952 * 4 is more bytes "
       "than can be counted. Fix: lower the values that the formula is made of; a tensor has at "
       "most 2^63-1 bytes\n"},
      {"a product beyond 64 bits, reported once",
       resizing(tensor_byte_span(kMaximumTensorByteSpan)
                    .multiplied_by(tensor_byte_span(3))
                    .maximum_with(tensor_byte_span(5))
                    .aligned_to(4)),
       "error PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW at op.out: 9223372036854775807 * 3 is more bytes "
       "than can be counted. Fix: lower the values that the formula is made of; a tensor has at "
       "most 2^63-1 bytes\n"},
      {"an alignment beyond what a tensor can have",
       resizing(tensor_byte_span(5).aligned_to(std::uint64_t{1} << 63)),
       "error PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW at op.out: 1 * 9223372036854775808 is more bytes "
       "than can be counted. Fix: lower the values that the formula is made of; a tensor has at "
       "most 2^63-1 bytes\n"},
      {"an input whose bound is beyond what a tensor can have",
       changed(resizing(largest_at(0).ceiling_divided_by(tensor_byte_span(4))),
               [](TestGraph& graph) {
                 graph.tensor_output("source.out", {.bounds = tensor_bounds(~std::uint64_t{0})});
               }),
       "error PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW at op.out: input op.in brings tensors of up to "
       "18446744073709551615 bytes. Fix: lower the values that the formula is made of; a tensor "
       "has at most 2^63-1 bytes\n"},
      {"a projector that overflows", resizing(projected<&too_large>("test.large")),
       "error PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW at op.out: projector test.large reports an "
       "overflow. Fix: lower the values that the formula is made of; a tensor has at most 2^63-1 "
       "bytes\n"},
      {"a projector that fails, whose words are its own",
       resizing(projected<&no_answer>("test.no")),
       "error PHYSICAL_TENSOR_BYTE_SPAN_PROJECTION_FAILED at op.out: projector test.no returned "
       "kNotFound. Fix: give its parameters values that it can work with\n"},
      {"a shape of another rank", shaped({4, 5}),
       "error PHYSICAL_TENSOR_BYTE_SPAN_SHAPE at op.out: parameter shape has 2 extents, the output "
       "has rank 3. Fix: give the parameter as many extents as the output's rank\n"},
      {"an input that brings tensors of any size",
       changed(resizing(largest_at(0)),
               [](TestGraph& graph) { graph.tensor_output("source.out", {}); }),
       "error PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED at op.out: its slot bytes are derived from input "
       "op.in, but pass-through output source.out states no positive max_byte_span. Fix: state "
       "TensorOutputSpec::bounds there, or derive from something else\n"},
      {"an input that brings no tensor at all",
       changed(resizing(largest_at(0)),
               [](TestGraph& graph) {
                 graph.tensor_output("source.out", {.bounds = tensor_bounds(0)});
               }),
       "error PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED at op.out: its slot bytes are derived from input "
       "op.in, but pass-through output source.out states no positive max_byte_span. Fix: state "
       "TensorOutputSpec::bounds there, or derive from something else\n"},
      {"parameters of a struct that the operator does not have",
       changed(resizing(shape_bytes()), [](TestGraph& graph) { graph.params("op", Tile{}); }),
       "error PHYSICAL_TENSOR_DERIVATION_FOREIGN at op.out: it is derived from parameter shape of "
       "com.example.Resize v3, the operator's own parameters are com.example.Tile v1. Fix: take "
       "param_ref<>() of the struct in the operator's Operator<Params>\n"},
      {"parameters of a struct that goes by the same name",
       changed(resizing(shape_bytes()),
               [](TestGraph& graph) { graph.params("op", ImpostorResize{}); }),
       "error PHYSICAL_TENSOR_DERIVATION_FOREIGN at op.out: it is derived from parameter shape of "
       "com.example.Resize v3, the operator's own parameters are com.example.Resize v3, a "
       "different struct. Fix: take param_ref<>() of the struct in the operator's "
       "Operator<Params>\n"},
      {"a memory kind from parameters that the operator does not have",
       changed(resizing(tensor_byte_span(9)),
               [](TestGraph& graph) {
                 graph.vertex("op").params = {};
                 graph.vertex("op").derivations.front().derivations.memory_kind = storage_kind();
               }),
       "error PHYSICAL_TENSOR_DERIVATION_FOREIGN at op.out: it is derived from parameter storage "
       "of com.example.Resize v3, the operator's own parameters are no parameters. Fix: take "
       "param_ref<>() of the struct in the operator's Operator<Params>\n"},
      {"one id for two functions",
       beside(resizing(projected<&fixed_bytes>("test.same")), projected<&left_bytes>("test.same")),
       "error PHYSICAL_TENSOR_PROJECTION_ID_CONFLICT at too.out: projector test.same is one "
       "function here and another one at op.out. Fix: give each calculation an id of its own, and "
       "name the same parameters with it\n"},
      {"one id for one function that reads this and that",
       beside(
           resizing(parameter_projected_byte_span<&fixed_bytes>(
               "test.same", param_ref<&ResizeParams::fixed>(), param_ref<&ResizeParams::shape>())),
           projected<&fixed_bytes>("test.same")),
       "error PHYSICAL_TENSOR_PROJECTION_ID_CONFLICT at too.out: projector test.same reads fixed "
       "here and fixed, shape at op.out. Fix: give each calculation an id of its own, and name the "
       "same parameters with it\n"},
      {"a derived memory kind that the consumer does not take",
       changed(resizing(tensor_byte_span(9)),
               [](TestGraph& graph) {
                 graph.tensor_input("sink.in", takes(MemoryKind::kPinnedHost));
                 graph.vertex("op").derivations.front().derivations.memory_kind = storage_kind();
                 graph.output("op.out").tensor->representation.memory_kind.reset();
               }),
       "error PHYSICAL_TENSOR_LAYOUT_MISMATCH at op.out -> sink.in: the output states memory kind "
       "host, the input pinned_host. Fix: state the same on both sides, or put an operator between "
       "them that converts\n"},
      {"a formula over an input that the operator does not have", resizing(largest_at(7)),
       "error TENSOR_POOL_SPAN_MISSING at op.out: the formula of the pool's slot bytes has no "
       "value. Fix: derive them from parameters and inputs of this operator\n"},
  };
}

}  // namespace weftline
