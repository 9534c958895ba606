// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their parameters, edges, the order of the flow.
// Adds: a record for each pooled output whose slot bytes are derived, with the value of every step,
// and the result as max_byte_span in the output itself, as if setup() had stated it; errors for
// steps without a value and for projectors that share an id.
//
// Operators are visited in the order of the flow, so that what an input brings has its bound. On or
// behind a loop that order does not exist, and the bound stays unknown: the loop has been reported.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bounded_producer.hpp"
#include "byte_span_formula.hpp"
#include "derivation_params.hpp"
#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

/// What a projector's id must stand for everywhere.
struct Projection {
  void (*function)(){nullptr};
  std::set<std::string> parameters{};
  friend bool operator==(const Projection&, const Projection&) = default;
};

std::string show(const std::set<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text.append(text.empty() ? "" : ", ").append(path);
  return text;
}

Projection projection_of(const TensorByteSpanNode& node) {
  Projection projection{.function = node.function, .parameters = {}};
  for (const auto& parameter : node.parameters) {
    projection.parameters.insert(parameter->field.path);
  }
  return projection;
}

/// Plans tell calculations apart by their ids.
class Projections {
 public:
  explicit Projections(CompileState& state) : state_(state) {}

  void add(PortRef output, const TensorByteSpanNode& node) {
    if (node.operation != TensorByteSpanOperation::kParameterProjected) return;
    Projection here = projection_of(node);
    const auto [entry, is_new] = first_.try_emplace(node.projection_id, Seen{here, output});
    const Seen& first = entry->second;
    if (is_new || first.projection == here) return;
    const bool reported = !refused_.insert(node.projection_id).second;
    if (reported) return;
    state_.error("PHYSICAL_TENSOR_PROJECTION_ID_CONFLICT", state_.plan.output_name(output),
                 "projector " + node.projection_id +
                     (first.projection.function != here.function
                          ? " is one function here and another one at "
                          : " reads " + show(here.parameters) + " here and " +
                                show(first.projection.parameters) + " at ") +
                     state_.plan.output_name(first.output),
                 "give each calculation an id of its own, and name the same parameters with it");
  }
  [[nodiscard]] std::vector<std::string> refused() const {
    return {refused_.begin(), refused_.end()};
  }

 private:
  struct Seen {
    Projection projection{};
    PortRef output{};
  };
  CompileState& state_;
  std::map<std::string, Seen> first_{};
  std::set<std::string> refused_{};
};

/// By vertex: its outputs with a formula.
struct Formula {
  std::uint32_t record{0};
  const TensorByteSpanExpression* expression{nullptr};
};

/// The records without values, in their final order.
std::vector<std::vector<Formula>> collect(CompileState& state) {
  std::vector<std::vector<Formula>> formulas(state.plan.operators.size());
  auto& records = state.plan.tensor_byte_span_derivations;
  for (const OperatorPlanRecord& op : state.plan.operators) {
    for (const auto& [port, derivations] : state.graph.vertices[op.id.value].derivations) {
      if (!derivations.byte_span || !derivations.byte_span->valid()) continue;
      formulas[op.id.value].push_back(
          {static_cast<std::uint32_t>(records.size()), &*derivations.byte_span});
      records.push_back({.output = {op.id, port}});
    }
  }
  return formulas;
}

void evaluate(CompileState& state, VertexId vertex, const std::vector<Formula>& formulas,
              const std::vector<std::string>& refused_projections) {
  const DerivationParams params(state, vertex);
  const BoundedProducers producers(state, vertex);
  for (const Formula& formula : formulas) {
    auto& record = state.plan.tensor_byte_span_derivations[formula.record];
    ByteSpanFormula(state, record, params, producers)
        .evaluate(*formula.expression, refused_projections);
    auto& tensor = state.op(vertex).outputs[record.output.port].tensor;
    if (tensor && record.resolved_bytes > 0) tensor->bounds.max_byte_span = record.resolved_bytes;
  }
}

}  // namespace

void derive_byte_spans(CompileState& state) {
  const auto formulas = collect(state);
  Projections projections(state);
  for (const auto& of_vertex : formulas) {
    for (const Formula& formula : of_vertex) {
      const PortRef output = state.plan.tensor_byte_span_derivations[formula.record].output;
      for (const TensorByteSpanNode& node : formula.expression->nodes()) {
        projections.add(output, node);
      }
    }
  }
  const auto refused = projections.refused();
  for (const VertexId vertex : state.topological_order) {
    const auto& of_vertex = formulas[vertex.value];
    if (!of_vertex.empty()) evaluate(state, vertex, of_vertex, refused);
  }
}

}  // namespace weftline::passes
