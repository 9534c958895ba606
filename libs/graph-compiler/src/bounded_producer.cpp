// SPDX-License-Identifier: Apache-2.0
#include "bounded_producer.hpp"

#include <limits>
#include <optional>

namespace weftline {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kSeveral = kNone - 1;

}  // namespace

BoundedProducers::BoundedProducers(const CompileState& state, VertexId vertex)
    : state_(state),
      vertex_(vertex),
      edges_(state.plan.operators[vertex.value].inputs.size(), kNone) {
  for (const std::uint32_t index : state.incoming[vertex.value]) {
    std::uint32_t& edge = edges_[state.plan.payload_edges[index].target.port];
    edge = edge == kNone ? index : kSeveral;
  }
}

InputBound BoundedProducers::of(std::uint32_t input) const {
  // An input of nobody or of several has been reported with the flows.
  if (input >= edges_.size() || edges_[input] == kSeveral) return {};
  if (edges_[input] == kNone) return of_import({vertex_, input});
  const PortRef source = state_.plan.payload_edges[edges_[input]].source;
  const OutputPortRecord& output = state_.output(source);
  const auto bytes = output.tensor ? output.tensor->bounds.max_byte_span : std::nullopt;
  const auto* derived = state_.span_of(source);
  if (bytes && *bytes > 0) {
    return {InputBound::State::kBounded, *bytes, derived, {}};
  }
  // A pool must have a bound, and is refused for itself.
  if (derived != nullptr || is_pooled(output)) return {};
  return {InputBound::State::kUnbounded, 0, nullptr,
          "pass-through output " + state_.plan.output_name(source)};
}

InputBound BoundedProducers::of_import(PortRef input) const {
  const ImportSnapshot* const topic = state_.import_feeding(input);
  // A tensor topic has a contract, and that a positive span, or is refused for itself.
  if (topic == nullptr || !topic->options.tensor || topic->options.tensor->max_byte_span == 0) {
    return {};
  }
  return {InputBound::State::kBounded, topic->options.tensor->max_byte_span, nullptr, {}};
}

}  // namespace weftline
