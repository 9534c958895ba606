// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, edges, topics with their devices, green contexts, the deployment's bindings,
// the device catalog. Adds: a record for each pooled output, with its memory kind and device; a
// record for each output that passes device memory through; each operator's device. Errors for
// bindings that are wrong or missing and for operators and pools on two devices.
//
// Nothing is guessed. Memory of a device is where its binding says. What an output passes through
// is on the device of that output's binding, else on the one that another bound output of the
// operator or the green context of its partition names; where the operator's inputs are says
// nothing about it. An operator is on the one device of its outputs and of the tensors that its
// inputs take, imported ones included. Pinned memory is made for the one device that uses it: that
// of its producer and of those that its edges lead to; where it leaves the process, its producer
// works on that device, too, since the writer may be a stream.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "output_bindings.hpp"
#include "passes/passes.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::passes {
namespace {

std::optional<MemoryKind> stated_kind(const OutputPortRecord& output) {
  return output.tensor ? output.tensor->representation.memory_kind : std::nullopt;
}

bool passes_device_memory(const OutputPortRecord& output) {
  const auto kind = stated_kind(output);
  return is_pass_through(output) && kind && is_device_resident(*kind);
}

/// Something on a device: "gray.frames on cuda:0".
struct Holding {
  std::string what{};
  DeviceId device{};
};

std::string show(const std::vector<Holding>& holdings) {
  std::string text;
  for (const Holding& holding : holdings) {
    text.append(text.empty() ? "" : ", ");
    text.append(holding.what).append(" on ").append(holding.device.to_string());
  }
  return text;
}

/// The first holding of each device.
std::vector<Holding> by_device(const std::vector<Holding>& holdings) {
  std::vector<Holding> distinct;
  for (const Holding& holding : holdings) {
    if (std::ranges::find(distinct, holding.device, &Holding::device) == distinct.end()) {
      distinct.push_back(holding);
    }
  }
  return distinct;
}

class Placement {
 public:
  explicit Placement(CompileState& state)
      : state_(state), bindings_(state), uncertain_(state.plan.operators.size(), false) {
    for (const auto& context : state.green_contexts) {
      auto& devices = green_devices_[context.first.first];
      devices.push_back(context.first.second);
    }
  }

  void record_pools() {
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
        if (is_pooled(op.outputs[port])) record_pool(op, port);
      }
    }
  }

  void place_passed_through() {
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
        const PortRef output{op.id, port};
        // Pinned memory that leaves the process may be written by a stream, which has a device.
        const bool leaves_pinned = is_pass_through(op.outputs[port]) &&
                                   stated_kind(op.outputs[port]) == MemoryKind::kPinnedHost &&
                                   bindings_.is_exported(output);
        if (!leaves_pinned && !passes_device_memory(op.outputs[port])) continue;
        if (bindings_.binds(output) || is_connected(output)) pass(op, port);
      }
    }
  }

  void place_operators() {
    for (OperatorPlanRecord& op : state_.plan.operators) {
      const auto holdings = by_device(holdings_of(op));
      if (holdings.size() > 1) {
        uncertain_[op.id.value] = true;
        state_.error("OPERATOR_DEVICE_CONFLICT", op.path,
                     "an operator runs on one device, this one has " + show(holdings),
                     "bind its pooled outputs to the device that its inputs come from, or split "
                     "the operator");
      }
      if (holdings.size() == 1) op.device = holdings.front().device;
      if (holdings.empty()) check_device_inputs(op);
    }
  }

  /// Those that leave the process first: they place their producers.
  void place_pinned_outputs() {
    auto& pools = state_.plan.tensor_allocations;
    for (const bool exported : {true, false}) {
      for (TensorAllocationPlanRecord& pool : pools) {
        const bool pinned = pool.memory_kind == MemoryKind::kPinnedHost;
        if (!pinned || bindings_.is_exported(pool.output) != exported) continue;
        place_pinned(pool);
        OperatorPlanRecord& op = state_.op(pool.output.vertex);
        if (exported && !op.device) op.device = pool.device;
      }
    }
  }

 private:
  [[nodiscard]] bool is_connected(PortRef output) const {
    if (bindings_.is_exported(output)) return true;
    const auto& edges = state_.outgoing[output.vertex.value];
    return std::ranges::any_of(edges, [&](std::uint32_t index) {
      return state_.plan.payload_edges[index].source == output;
    });
  }

  void record_pool(const OperatorPlanRecord& op, std::uint32_t port) {
    const PortRef output{op.id, port};
    const auto kind = stated_kind(op.outputs[port]);
    if (!kind || *kind == MemoryKind::kUnknown) {
      uncertain_[op.id.value] = true;
      if (state_.kind_of(output) != nullptr) return;  // Reported where it was to be derived.
      state_.error("TENSOR_POOL_KIND_MISSING", state_.plan.output_name(output),
                   kind ? "the pool's memory kind is kUnknown" : "the pool states no memory kind",
                   "set TensorOutputSpec::representation.memory_kind");
      return;
    }
    TensorAllocationPlanRecord pool{
        .id = PoolId{static_cast<std::uint32_t>(state_.plan.tensor_allocations.size())},
        .output = output,
        .memory_kind = *kind,
        .device = bindings_.device_of(output)};
    if (is_device_resident(*kind) && !bindings_.binds(output)) {
      state_.error("DEVICE_UNRESOLVED", state_.plan.output_name(output),
                   "nothing says on which device this pool's " +
                       std::string(memory_kind_name(*kind)) + " memory is",
                   "add " + OutputBindings::call(op, port));
    }
    const bool open = is_device_resident(*kind) || bindings_.binds(output);
    if (open && !pool.device) uncertain_[op.id.value] = true;
    state_.plan.tensor_allocations.push_back(std::move(pool));
  }

  void pass(const OperatorPlanRecord& op, std::uint32_t port) {
    const PortRef output{op.id, port};
    TensorOutputPlacementRecord record{.output = output};
    if (bindings_.binds(output)) {
      const auto device = bindings_.device_of(output);
      if (!device) {
        uncertain_[op.id.value] = true;
        return;
      }
      record.device = *device;
    } else if (const auto bound = device_of_bound_outputs(op)) {
      record.device = *bound;
      record.origin = TensorOutputPlacementOrigin::kOperator;
    } else if (const auto green = device_of_green_context(op)) {
      record.device = *green;
      record.origin = TensorOutputPlacementOrigin::kGreenContext;
    } else {
      const bool reported = uncertain_[op.id.value];
      uncertain_[op.id.value] = true;
      // Two bound outputs on two devices are reported as that.
      if (reported || has_bound_output(op)) return;
      state_.error("DEVICE_UNRESOLVED", state_.plan.output_name(output),
                   "nothing says on which device the " +
                       std::string(memory_kind_name(
                           stated_kind(op.outputs[port]).value_or(MemoryKind::kUnknown))) +
                       " memory is that this output passes through; where the operator's inputs "
                       "are says nothing about it",
                   "add " + OutputBindings::call(op, port));
      return;
    }
    state_.plan.tensor_output_placements.push_back(record);
  }

  [[nodiscard]] bool has_bound_output(const OperatorPlanRecord& op) const {
    for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
      if (bindings_.binds({op.id, port})) return true;
    }
    return false;
  }

  /// Absent without one, and where there are several.
  [[nodiscard]] std::optional<DeviceId> device_of_bound_outputs(
      const OperatorPlanRecord& op) const {
    std::optional<DeviceId> found;
    for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
      const auto device = bindings_.device_of({op.id, port});
      if (!device) continue;
      if (found && *found != *device) return std::nullopt;
      found = device;
    }
    return found;
  }

  [[nodiscard]] std::optional<DeviceId> device_of_green_context(
      const OperatorPlanRecord& op) const {
    const auto partition = state_.graph.vertices[op.id.value].authored_partition;
    if (!partition) return std::nullopt;
    const auto found = green_devices_.find(*partition);
    if (found == green_devices_.end() || found->second.size() != 1) return std::nullopt;
    return found->second.front();
  }

  [[nodiscard]] const TensorOutputPlacementRecord* passed(PortRef output) const {
    const auto& placements = state_.plan.tensor_output_placements;
    const auto found = std::ranges::lower_bound(placements, output, std::less<>{},
                                                &TensorOutputPlacementRecord::output);
    return found != placements.end() && found->output == output ? &*found : nullptr;
  }

  std::vector<Holding> holdings_of(const OperatorPlanRecord& op) {
    std::vector<Holding> holdings;
    const auto hold = [&](std::string what, PortRef output, bool own) {
      // Pinned memory does not tell its reader's device.
      const auto* const placement = passed(output);
      if (placement != nullptr && (own || passes_device_memory(state_.output(output)))) {
        holdings.push_back({std::move(what), placement->device});
        return;
      }
      const TensorAllocationPlanRecord* const pool = state_.pool_of(output);
      if (pool == nullptr) return;
      const bool resident = is_device_resident(pool->memory_kind);
      if (!resident && !(own && bindings_.binds(output))) return;
      if (pool->device) {
        holdings.push_back({std::move(what), *pool->device});
      } else {
        uncertain_[op.id.value] = true;
      }
    };
    for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
      const PortRef output{op.id, port};
      hold("output " + state_.plan.output_name(output), output, true);
    }
    for (const std::uint32_t index : state_.incoming[op.id.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      hold("input " + state_.plan.input_name(edge.target) + " (from " +
               state_.plan.output_name(edge.source) + ")",
           edge.source, false);
    }
    hold_imports(op, holdings);
    return holdings;
  }

  void hold_imports(const OperatorPlanRecord& op, std::vector<Holding>& holdings) {
    const auto begin = state_.imports_into.lower_bound({op.id, 0});
    for (auto each = begin; each != state_.imports_into.end() && each->first.vertex == op.id;
         ++each) {
      for (const std::uint32_t index : each->second) {
        const TopicState& topic = state_.imports[index];
        const bool tensors =
            state_.graph.imports[index].payload.kind == PayloadIdentityKind::kTensor;
        if (topic.device) {
          holdings.push_back({"input " + state_.plan.input_name(each->first) + " (from endpoint " +
                                  topic.name + ")",
                              *topic.device});
        } else if (tensors && needs_device(state_.graph.imports[index].options)) {
          uncertain_[op.id.value] = true;
        }
      }
    }
  }

  /// Not known without a contract.
  static bool needs_device(const TopicOptions& options) {
    return !options.tensor || options.tensor->memory_kind != MemoryKind::kHost;
  }

  /// An input that insists on device memory must know on which device it is.
  void check_device_inputs(const OperatorPlanRecord& op) {
    for (const std::uint32_t index : state_.incoming[op.id.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      const auto& spec = state_.input(edge.target).tensor;
      if (!spec || is_pooled(state_.output(edge.source))) continue;
      // Its own missing binding is reported there.
      if (passes_device_memory(state_.output(edge.source))) continue;
      const auto kind = spec->representation.memory_kind;
      if (!kind || !is_device_resident(*kind) || uncertain_[op.id.value]) continue;
      uncertain_[op.id.value] = true;
      state_.error("DEVICE_UNRESOLVED", state_.plan.input_name(edge.target),
                   "the input takes " + std::string(memory_kind_name(*kind)) + " memory, but " +
                       state_.plan.output_name(edge.source) +
                       " passes through tensors of an unknown device",
                   "let the input come from a pooled output, or give this operator a pooled output "
                   "and bind it with options.deployment.bind_tensor_output_device()");
    }
  }

  void place_pinned(TensorAllocationPlanRecord& pool) {
    const OperatorPlanRecord& producer = state_.op(pool.output.vertex);
    const bool exported = bindings_.is_exported(pool.output);
    std::vector<Holding> users;
    bool uncertain = false;
    const auto use = [&](VertexId vertex) {
      const OperatorPlanRecord& op = state_.op(vertex);
      if (op.device) users.push_back({"operator " + op.path, *op.device});
      uncertain = uncertain || uncertain_[vertex.value];
    };
    use(pool.output.vertex);
    for (const std::uint32_t index : state_.outgoing[pool.output.vertex.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      if (edge.source == pool.output) use(edge.target.vertex);
    }
    users = by_device(users);
    if (users.size() > 1) {
      state_.error("PINNED_DEVICE_CONFLICT", state_.plan.output_name(pool.output),
                   "pinned memory is made for one device, this pool is used by " + show(users),
                   "give each device an output of its own, or use MemoryKind::kHost");
    } else if (users.size() == 1) {
      pool.device = users.front().device;
    } else if (!uncertain) {
      state_.error("DEVICE_UNRESOLVED", state_.plan.output_name(pool.output),
                   "pinned memory is made for one device, but neither " + producer.path +
                       " nor an operator that receives from here is on one",
                   exported ? "add " + OutputBindings::call(producer, pool.output.port)
                            : std::string("use MemoryKind::kHost, or lead the output to an "
                                          "operator with a pool in device memory"));
    }
  }

  CompileState& state_;
  OutputBindings bindings_;
  /// By authored partition: the devices of which it has SMs.
  std::map<std::uint32_t, std::vector<DeviceId>> green_devices_{};
  /// By vertex: an error has been reported that leaves its device open. Keeps one mistake from
  /// being reported again at every place that it touches.
  std::vector<bool> uncertain_;
};

}  // namespace

void place_devices(CompileState& state) {
  Placement placement(state);
  placement.record_pools();
  placement.place_passed_through();
  placement.place_operators();
  placement.place_pinned_outputs();
}

}  // namespace weftline::passes
