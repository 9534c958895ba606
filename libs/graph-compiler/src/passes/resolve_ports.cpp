// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with what setup() states of their ports, edges, what the graph states beside it.
// Adds: the ports' facts as they count, with a record of both layers for each port that the graph
// configures; errors where the layers contradict each other.
//
// Numbers of the graph replace those of setup(). Its tensor facts may only narrow: the operator was
// written for what it states, and a pool that it allocates from has to be there.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "passes/passes.hpp"
#include "tensor_narrowing.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"

namespace weftline::passes {
namespace {

using Layer = PortConfigurationLayer;

std::string text(std::uint64_t number) { return std::to_string(number); }
std::string text(MemoryKind kind) { return std::string(memory_kind_name(kind)); }
std::string text(DLDataType dtype) { return dtype_name(dtype); }
std::string text(TensorOutputStorage storage) {
  return storage == TensorOutputStorage::kRuntimePool ? "runtime_pool" : "pass_through";
}

class PortResolver {
 public:
  PortResolver(CompileState& state, const PortOverrideSnapshot& given)
      : state_(state), given_(given) {}

  void input() {
    InputPortRecord& port = state_.op(given_.port.vertex).inputs[given_.port.port];
    if (given_.queue_depth) queue_depth(*given_.queue_depth);
    const auto declared = port.tensor;
    if (given_.expects_tensor) {
      refuse_contradictions(narrow(port.tensor, *given_.expects_tensor), "expects_tensor()");
    }
    if (port.tensor) {
      representation(declared ? declared->representation : TensorRepresentation{},
                     port.tensor->representation);
    }
    alias(port.diagnostic_alias);
  }

  void output(const std::set<PortRef>& exported) {
    OutputPortRecord& port = state_.op(given_.port.vertex).outputs[given_.port.port];
    max_emits(port);
    if (given_.late_joiner_history_depth) history(port, exported);
    const auto declared = port.tensor;
    if (given_.produces_tensor) {
      refuse_contradictions(narrow(port.tensor, derivations(), *given_.produces_tensor),
                            "produces_tensor()");
    }
    if (port.tensor) tensor(declared, *port.tensor);
    alias(port.diagnostic_alias);
  }

 private:
  [[nodiscard]] std::string place() const {
    return given_.is_output ? state_.plan.output_name(given_.port)
                            : state_.plan.input_name(given_.port);
  }

  /// Of the output.
  [[nodiscard]] TensorOutputDerivations derivations() const {
    const auto& all = state_.graph.vertices[given_.port.vertex.value].derivations;
    const auto found = std::ranges::find(all, given_.port.port, &OutputDerivationSnapshot::output);
    return found != all.end() ? found->derivations : TensorOutputDerivations{};
  }

  void record(PortFact fact, Layer layer, std::string value,
              std::optional<std::string> replaced = std::nullopt) {
    state_.plan.port_configurations.push_back({.port = given_.port,
                                               .is_output = given_.is_output,
                                               .fact = fact,
                                               .layer = layer,
                                               .value = std::move(value),
                                               .replaced = std::move(replaced)});
  }

  /// A fact that setup() may have stated, and the value that counts.
  template <class Fact>
  void record(PortFact fact, const std::optional<Fact>& declared,
              const std::optional<Fact>& counts) {
    if (!counts) return;
    if (!declared) {
      record(fact, Layer::kGraph, text(*counts));
    } else if (text(*declared) == text(*counts)) {
      record(fact, Layer::kSetup, text(*counts));
    } else {
      record(fact, Layer::kGraph, text(*counts), text(*declared));
    }
  }

  void queue_depth(std::uint32_t depth) {
    record(PortFact::kQueueDepth, Layer::kGraph, text(depth));
    for (const std::uint32_t index : state_.incoming[given_.port.vertex.value]) {
      PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      if (edge.target != given_.port) continue;
      if (edge.depth_origin == QueueDepthOrigin::kExplicit && edge.queue_depth != depth) {
        state_.error("PORT_OVERRIDE_CONFLICT", state_.edge_name(edge),
                     "the flow has the given depth of " + text(edge.queue_depth) +
                         ", the input is configured with " + text(depth),
                     "give the depth once, to the flow or to configure()");
        continue;
      }
      edge.queue_depth = depth;
      edge.depth_origin = QueueDepthOrigin::kExplicit;
    }
  }

  void max_emits(OutputPortRecord& port) {
    const std::uint32_t declared = port.max_emits_per_compute;
    const std::uint32_t counts = given_.max_emits_per_compute.value_or(declared);
    record(PortFact::kMaxEmitsPerCompute, std::optional(declared), std::optional(counts));
    port.max_emits_per_compute = counts;
  }

  void history(OutputPortRecord& port, const std::set<PortRef>& exported) {
    const std::uint32_t depth = given_.late_joiner_history_depth.value_or(0);
    record(PortFact::kLateJoinerHistoryDepth, Layer::kGraph, text(depth));
    if (exported.contains(given_.port)) {
      port.late_joiner_history_depth = depth;
      return;
    }
    state_.error("PORT_HISTORY_NOT_EXPORTED", place(),
                 "the output keeps " + text(depth) +
                     " samples for peers that attach later, but no topic exports it",
                 "add_flow() it to an exported topic, or take late_joiner_history_depth() out");
  }

  void refuse_contradictions(const std::string& contradictions, std::string_view call) {
    if (contradictions.empty()) return;
    state_.error("PORT_TENSOR_OVERRIDE_CONFLICT", place(), contradictions,
                 "let configure()." + std::string(call) +
                     " only state what setup() leaves open, or lower its bounds");
  }

  void representation(const TensorRepresentation& declared, const TensorRepresentation& counts) {
    record(PortFact::kTensorMemoryKind, declared.memory_kind, counts.memory_kind);
    record(PortFact::kTensorDtype, declared.dtype, counts.dtype);
    record(PortFact::kTensorRank, declared.rank, counts.rank);
  }

  void tensor(const std::optional<TensorOutputSpec>& declared, const TensorOutputSpec& counts) {
    const TensorOutputSpec setup = declared.value_or(TensorOutputSpec{});
    representation(setup.representation, counts.representation);
    record(PortFact::kTensorMaxRank, setup.bounds.max_rank, counts.bounds.max_rank);
    record(PortFact::kTensorMaxByteSpan, setup.bounds.max_byte_span, counts.bounds.max_byte_span);
    record(PortFact::kTensorStorage, declared ? std::optional(declared->storage) : std::nullopt,
           std::optional(counts.storage));
  }

  void alias(std::string& name) {
    if (!given_.diagnostic_alias) return;
    record(PortFact::kDiagnosticAlias, Layer::kGraph, *given_.diagnostic_alias);
    name = *given_.diagnostic_alias;
  }

  CompileState& state_;
  const PortOverrideSnapshot& given_;
};

}  // namespace

void resolve_ports(CompileState& state) {
  if (state.graph.port_overrides.empty()) return;
  std::set<PortRef> exported;
  for (const ExportSnapshot& topic : state.graph.exports) {
    exported.insert(topic.sources.begin(), topic.sources.end());
  }
  for (const PortOverrideSnapshot& given : state.graph.port_overrides) {
    PortResolver resolver(state, given);
    if (given.is_output) {
      resolver.output(exported);
    } else {
      resolver.input();
    }
  }
}

}  // namespace weftline::passes
