// SPDX-License-Identifier: Apache-2.0
//
// Needs: the names of authored partitions; the deployment's bindings; the device catalog.
// Adds: the SMs of each device that a binding divides: one part for each binding, one of all the
// rest that can be set apart, one of what can't. Errors for bindings of partitions or devices that
// can't be bound and for SMs that the device does not have.
//
// Exact and manual: no partition gets SMs that no binding names. One binding puts all of the plan's
// work on its device into green contexts, since ordinary streams would run on the bound SMs, too.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

class GreenContexts {
 public:
  explicit GreenContexts(CompileState& state) : state_(state) {
    for (const VertexSnapshot& vertex : state.graph.vertices) {
      if (vertex.authored_partition) members_.insert(*vertex.authored_partition);
    }
  }

  void resolve() {
    for (const GreenContextBinding& binding : state_.options.deployment.green_contexts()) {
      check(binding);
    }
    std::map<DeviceId, std::map<std::uint32_t, std::uint32_t>> devices;
    for (const auto& each : bound_) {
      devices[each.first.second][each.first.first] = each.second;
    }
    for (const auto& each : devices) divide(each.first, each.second);
  }

 private:
  void check(const GreenContextBinding& binding) {
    const std::string place = "partition " + binding.partition;
    const auto refuse = [&](std::string_view token, std::string message, std::string fix) {
      state_.error(token, place, std::move(message), std::move(fix));
    };
    const auto& names = state_.graph.partitions;
    const auto name = std::ranges::lower_bound(names, binding.partition);
    const auto partition = static_cast<std::uint32_t>(name - names.begin());
    if (name == names.end() || *name != binding.partition || !members_.contains(partition)) {
      refuse("GREEN_CONTEXT_PARTITION_UNKNOWN",
             "SMs are bound to partition \"" + binding.partition +
                 "\", which names no operators of the graph",
             "name an authored partition, or take the binding out");
      return;
    }
    const std::string device = binding.device.to_string();
    const DeviceDescription* const known = state_.options.devices.find(binding.device);
    if (known == nullptr) {
      refuse("DEVICE_NOT_IN_CATALOG",
             "the partition has SMs of " + device + "; CompileOptions::devices has " +
                 state_.offered_devices(),
             "bind it to one of these, or compile with the device catalog of the target");
      return;
    }
    const std::uint32_t quantum = known->green_contexts.quantum_sms();
    if (quantum == 0) {
      refuse("GREEN_CONTEXT_DEVICE_UNSUPPORTED", device + " can't set SMs apart",
             "take the binding out, or compile for a device with green contexts");
      return;
    }
    if (binding.sm_count == 0 || binding.sm_count % quantum != 0) {
      refuse("GREEN_CONTEXT_SM_COUNT_INVALID",
             std::to_string(binding.sm_count) + " SMs of " + device +
                 ", which gives them out in multiples of " + std::to_string(quantum),
             "give a positive multiple of that");
      return;
    }
    if (!bound_.try_emplace({partition, binding.device}, binding.sm_count).second) {
      refuse("GREEN_CONTEXT_DUPLICATE", "the partition's SMs of " + device + " are bound twice",
             "bind them once");
    }
  }

  void divide(DeviceId device, const std::map<std::uint32_t, std::uint32_t>& partitions) {
    const DeviceDescription& known = *state_.options.devices.find(device);
    const std::uint32_t quantum = known.green_contexts.quantum_sms();
    std::uint64_t taken = 0;
    for (const auto& each : partitions) taken += each.second;
    if (taken > known.sm_count) {
      state_.error("GREEN_CONTEXT_OVERSUBSCRIBED", device.to_string(),
                   std::to_string(taken) + " SMs are bound to " +
                       std::to_string(partitions.size()) + " partitions, the device has " +
                       std::to_string(known.sm_count),
                   "bind fewer");
      return;
    }
    GreenContextPoolPlanRecord pool{
        .device = device, .total_sm_count = known.sm_count, .quantum_sms = quantum};
    for (const auto& each : partitions) {
      state_.green_contexts[{each.first, device}] =
          add(pool, {.role = GreenContextRole::kDedicatedPartition,
                     .partition_name = state_.graph.partitions[each.first],
                     .sm_count = each.second,
                     .source = GreenContextSource::kDeveloperBinding});
    }
    const auto rest = static_cast<std::uint32_t>(known.sm_count - taken);
    const std::uint32_t left_over = rest % quantum;
    if (rest > left_over) {
      add(pool, {.role = GreenContextRole::kSharedServiceResidual,
                 .sm_count = rest - left_over,
                 .source = GreenContextSource::kResidualPolicy});
    }
    if (left_over > 0) {
      add(pool, {.role = GreenContextRole::kReservedResidual,
                 .sm_count = left_over,
                 .source = GreenContextSource::kResidualPolicy});
    }
    state_.plan.green_context_pools.push_back(std::move(pool));
  }

  GreenContextPlanId add(GreenContextPoolPlanRecord& pool,
                         GreenContextResourcePlanRecord resource) {
    auto& resources = state_.plan.green_context_resources;
    resource.id = GreenContextPlanId{static_cast<std::uint32_t>(resources.size())};
    resource.device = pool.device;
    pool.resources.push_back(resource.id);
    resources.push_back(std::move(resource));
    return pool.resources.back();
  }

  CompileState& state_;
  std::set<std::uint32_t> members_{};  ///< Authored partitions that have an operator.
  std::map<std::pair<std::uint32_t, DeviceId>, std::uint32_t> bound_{};
};

}  // namespace

void resolve_green_contexts(CompileState& state) { GreenContexts(state).resolve(); }

}  // namespace weftline::passes
