// SPDX-License-Identifier: Apache-2.0
#include "weftline/compile/compile.hpp"

#include <array>
#include <utility>

#include "compile_snapshot.hpp"
#include "passes/passes.hpp"

namespace weftline {
namespace {

using Pass = void (*)(CompileState&);

/// In order. A pass relies on the records of those before it, see the head of each file.
constexpr std::array kPasses{
    // One a line.
    // clang-format off
    Pass{passes::snapshot},
    Pass{passes::resolve_structure},
    Pass{passes::resolve_ports},
    Pass{passes::check_flows},
    Pass{passes::resolve_parameters},
    Pass{passes::resolve_contracts},
    Pass{passes::resolve_selections},
    Pass{passes::derive_memory_kinds},
    Pass{passes::check_tensors},
    Pass{passes::resolve_boundaries},
    Pass{passes::resolve_green_contexts},
    Pass{passes::place_devices},
    Pass{passes::partition},
    Pass{passes::place_threads},
    Pass{passes::check_regions},
    Pass{passes::assign_streams},
    Pass{passes::prove_fusion},
    Pass{passes::derive_byte_spans},
    Pass{passes::resolve_rates},
    Pass{passes::size_queues},
    Pass{passes::size_pools},
    Pass{passes::check_profile},
    Pass{passes::freeze_lifecycle},
    Pass{passes::freeze_endpoints},
    Pass{passes::seal},
    // clang-format on
};

}  // namespace

ExecutionPlan compile_snapshot(GraphSnapshot snapshot, const CompileOptions& options) {
  CompileState state(std::move(snapshot), options);
  for (const Pass pass : kPasses) pass(state);

  std::vector<OperatorFactory> operators;
  std::vector<ParamSet> params;
  operators.reserve(state.graph.vertices.size());
  params.reserve(state.graph.vertices.size());
  for (VertexSnapshot& vertex : state.graph.vertices) {
    operators.push_back(std::move(vertex.factory));
    params.push_back(std::move(vertex.params));
  }
  std::vector<ClockFactory> clocks;
  clocks.reserve(state.graph.clocks.size());
  for (ClockSnapshot& clock : state.graph.clocks) clocks.push_back(std::move(clock.factory));
  return {std::move(state.plan), std::move(operators), std::move(clocks), std::move(params)};
}

ExecutionPlan compile(const Graph& graph, const CompileOptions& options) {
  return compile_snapshot(graph.snapshot(), options);
}

}  // namespace weftline
