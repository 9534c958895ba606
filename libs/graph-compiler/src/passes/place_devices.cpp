// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, edges, the deployment's bindings, the device catalog.
// Adds: a record for each pooled output, with its memory kind and device; each operator's device.
// Errors for bindings that are wrong or missing and for operators and pools on two devices.
//
// Nothing is guessed. Memory of a device is where its binding says. An operator is on the one
// device of its pooled outputs and of the pools that its inputs come from; tensors that a producer
// passes through come from somewhere else and say nothing. Pinned memory is made for the one device
// that uses it: that of its producer and of those that its edges lead to.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::passes {
namespace {

std::string binding_call(const OperatorPlanRecord& op, std::uint32_t port) {
  return "options.deployment.bind_tensor_output_device({.operator_path = \"" + op.path +
         "\", .output_port = \"" + op.outputs[port].name + "\", .device = …})";
}

std::optional<MemoryKind> stated_kind(const OutputPortRecord& output) {
  if (!is_pooled(output) || !output.tensor) return std::nullopt;
  return output.tensor->representation.memory_kind;
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
      : state_(state), uncertain_(state.plan.operators.size(), false) {}

  void read_bindings() {
    for (const auto& binding : state_.options.deployment.tensor_output_devices()) {
      if (const auto output = find_output(binding)) bind(*output, binding.device);
    }
  }

  void record_pools() {
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
        if (is_pooled(op.outputs[port])) record_pool(op, port);
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

  void place_pinned_pools() {
    for (TensorAllocationPlanRecord& pool : state_.plan.tensor_allocations) {
      if (pool.memory_kind == MemoryKind::kPinnedHost) place_pinned(pool);
    }
  }

 private:
  std::optional<PortRef> find_output(const TensorOutputDevicePlacement& binding) {
    const std::string place = binding.operator_path + "." + binding.output_port;
    const auto& operators = state_.plan.operators;
    const auto op = std::ranges::lower_bound(operators, binding.operator_path, std::less<>{},
                                             &OperatorPlanRecord::path);
    if (op == operators.end() || op->path != binding.operator_path) {
      state_.error("TENSOR_DEVICE_BINDING_UNKNOWN", place,
                   "a device binding names operator \"" + binding.operator_path +
                       "\", which the graph does not have",
                   "correct operator_path, or take the binding out");
      return std::nullopt;
    }
    const auto& outputs = op->outputs;
    const auto output = std::ranges::find(outputs, binding.output_port, &OutputPortRecord::name);
    if (output == outputs.end()) {
      std::string names;
      for (const auto& known : outputs) names.append(names.empty() ? "" : ", ").append(known.name);
      state_.error("TENSOR_DEVICE_BINDING_UNKNOWN", place,
                   "a device binding names output \"" + binding.output_port +
                       "\"; the operator's outputs are: " + (names.empty() ? "none" : names),
                   "correct output_port, or take the binding out");
      return std::nullopt;
    }
    const auto kind = stated_kind(*output);
    if (kind && is_device_resident(*kind)) {
      return PortRef{op->id, static_cast<std::uint32_t>(output - outputs.begin())};
    }
    // A pool without a memory kind is reported as such; what its binding should be is not known.
    if (is_pooled(*output) && (!kind || *kind == MemoryKind::kUnknown)) return std::nullopt;
    state_.error("TENSOR_DEVICE_BINDING_UNEXPECTED", place,
                 "the output is bound to " + binding.device.to_string() + ", but " +
                     (kind ? "its pool is in " + std::string(memory_kind_name(*kind)) + " memory"
                           : "it has no pool"),
                 "take the binding out, or give the output a pool in device or managed memory");
    return std::nullopt;
  }

  void bind(PortRef output, DeviceId device) {
    const std::string place = state_.plan.output_name(output);
    const auto [bound, is_new] = bound_.try_emplace(output, device);
    if (!is_new) {
      const std::optional<DeviceId> other = bound->second;
      if (other && *other != device) {
        const auto [low, high] = std::minmax(*other, device);
        state_.error("TENSOR_DEVICE_BINDING_CONFLICT", place,
                     "the output is bound to " + low.to_string() + " and to " + high.to_string(),
                     "bind it once");
        bound->second.reset();
      }
      return;
    }
    if (state_.options.devices.find(device) != nullptr) return;
    std::string offered;
    for (const DeviceDescription& known : state_.options.devices.devices) {
      offered.append(offered.empty() ? "" : ", ").append(known.id.to_string());
    }
    state_.error("DEVICE_NOT_IN_CATALOG", place,
                 "the output is bound to " + device.to_string() + "; CompileOptions::devices has " +
                     (offered.empty() ? "none" : offered),
                 "bind it to one of these, or compile with the device catalog of the target");
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
        .memory_kind = *kind};
    if (is_device_resident(*kind)) {
      const auto bound = bound_.find(output);
      if (bound == bound_.end()) {
        state_.error("DEVICE_UNRESOLVED", state_.plan.output_name(output),
                     "nothing says on which device this pool's " +
                         std::string(memory_kind_name(*kind)) + " memory is",
                     "add " + binding_call(op, port));
      } else {
        pool.device = bound->second;
      }
      if (!pool.device) uncertain_[op.id.value] = true;
    }
    state_.plan.tensor_allocations.push_back(std::move(pool));
  }

  std::vector<Holding> holdings_of(const OperatorPlanRecord& op) {
    std::vector<Holding> holdings;
    const auto hold = [&](std::string what, const TensorAllocationPlanRecord* pool) {
      if (pool == nullptr || !is_device_resident(pool->memory_kind)) return;
      if (pool->device) {
        holdings.push_back({std::move(what), *pool->device});
      } else {
        uncertain_[op.id.value] = true;
      }
    };
    for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
      const PortRef output{op.id, port};
      hold("output " + state_.plan.output_name(output), state_.pool_of(output));
    }
    for (const std::uint32_t index : state_.incoming[op.id.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      hold("input " + state_.plan.input_name(edge.target) + " (from " +
               state_.plan.output_name(edge.source) + ")",
           state_.pool_of(edge.source));
    }
    return holdings;
  }

  /// An input that insists on device memory must know on which device it is.
  void check_device_inputs(const OperatorPlanRecord& op) {
    for (const std::uint32_t index : state_.incoming[op.id.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      const auto& spec = state_.input(edge.target).tensor;
      if (!spec || is_pooled(state_.output(edge.source))) continue;
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
    const std::string place = state_.plan.output_name(pool.output);
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
      state_.error("PINNED_DEVICE_CONFLICT", place,
                   "pinned memory is made for one device, this pool is used by " + show(users),
                   "give each device an output of its own, or use MemoryKind::kHost");
    } else if (users.size() == 1) {
      pool.device = users.front().device;
    } else if (!uncertain) {
      state_.error("DEVICE_UNRESOLVED", place,
                   "pinned memory is made for one device, but neither " +
                       state_.op(pool.output.vertex).path +
                       " nor an operator that receives from here is on one",
                   "use MemoryKind::kHost, or lead the output to an operator with a pool in device "
                   "memory");
    }
  }

  CompileState& state_;
  /// The device of each bound output; empty after a conflict.
  std::map<PortRef, std::optional<DeviceId>> bound_{};
  /// By vertex: an error has been reported that leaves its device open. Keeps one mistake from
  /// being reported again at every place that it touches.
  std::vector<bool> uncertain_;
};

}  // namespace

void place_devices(CompileState& state) {
  Placement placement(state);
  placement.read_bindings();
  placement.record_pools();
  placement.place_operators();
  placement.place_pinned_pools();
}

}  // namespace weftline::passes
