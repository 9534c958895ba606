// SPDX-License-Identifier: Apache-2.0
#include "output_bindings.hpp"

#include <algorithm>

#include "weftline/core/memory_kind.hpp"

namespace weftline {
namespace {

std::optional<MemoryKind> stated_kind(const OutputPortRecord& output) {
  return output.tensor ? output.tensor->representation.memory_kind : std::nullopt;
}

std::string memory_of(const OutputPortRecord& output) {
  const auto kind = stated_kind(output);
  if (is_pooled(output)) {
    return "its pool is in " + std::string(memory_kind_name(kind.value_or(MemoryKind::kUnknown))) +
           " memory";
  }
  if (!is_tensor(output)) return "it has no pool";
  if (!kind) return "it has no pool and states no memory kind";
  return "it passes " + std::string(memory_kind_name(*kind)) + " memory through";
}

}  // namespace

OutputBindings::OutputBindings(CompileState& state) : state_(state) {
  for (const ExportSnapshot& topic : state.graph.exports) {
    exported_.insert(topic.sources.begin(), topic.sources.end());
  }
  for (const auto& binding : state.options.deployment.tensor_output_devices()) {
    if (const auto output = find_output(binding)) bind(*output, binding.device);
  }
}

std::optional<DeviceId> OutputBindings::device_of(PortRef output) const {
  const auto found = bound_.find(output);
  return found == bound_.end() ? std::nullopt : found->second;
}

std::string OutputBindings::call(const OperatorPlanRecord& op, std::uint32_t port) {
  return "options.deployment.bind_tensor_output_device({.operator_path = \"" + op.path +
         "\", .output_port = \"" + op.outputs[port].name + "\", .device = …})";
}

std::optional<PortRef> OutputBindings::find_output(const TensorOutputDevicePlacement& binding) {
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
  const PortRef port{op->id, static_cast<std::uint32_t>(output - outputs.begin())};
  const auto kind = stated_kind(*output);
  if (is_tensor(*output) && kind) {
    if (is_device_resident(*kind)) return port;
    if (*kind == MemoryKind::kPinnedHost && is_exported(port)) return port;
  }
  // A pool without a memory kind is reported as such; what its binding should be is not known.
  if (is_pooled(*output) && (!kind || *kind == MemoryKind::kUnknown)) return std::nullopt;
  state_.error(
      "TENSOR_DEVICE_BINDING_UNEXPECTED", place,
      "the output is bound to " + binding.device.to_string() + ", but " + memory_of(*output),
      "take the binding out, or let the output state device or managed memory");
  return std::nullopt;
}

void OutputBindings::bind(PortRef output, DeviceId device) {
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
  state_.error("DEVICE_NOT_IN_CATALOG", place,
               "the output is bound to " + device.to_string() + "; CompileOptions::devices has " +
                   state_.offered_devices(),
               "bind it to one of these, or compile with the device catalog of the target");
}

}  // namespace weftline
