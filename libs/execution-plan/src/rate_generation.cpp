// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/rate_generation.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace weftline {
namespace {

expected<void, Error> check(const PlanRecords& plan, const LifecycleRateSelection& selection) {
  const std::string place = plan.output_name(selection.output);
  const PortRatePlanRecord* stated = plan.output_rate(selection.output);
  if (!stated || stated->kind != PortRateKind::kLifecycleNominal || !stated->nominal) {
    return fail(ErrorCode::kNotFound, "RATE_SELECTION_UNKNOWN",
                place + " is no output with a selectable rate in this plan");
  }
  WEFTLINE_ASSIGN(const Rational rate, selection.rate.as_rational());
  if (stated->maximum && rate > *stated->maximum) {
    return fail(ErrorCode::kInvalidArgument, "RATE_ABOVE_MAXIMUM",
                place + ": " + rate.to_string() + " samples a second, the plan admits at most " +
                    stated->maximum->to_string());
  }
  return {};
}

/// Checks what was asked for, and adds the outputs that were not named.
expected<void, Error> complete(const PlanRecords& plan,
                               std::vector<LifecycleRateSelection>& selections) {
  for (std::size_t i = 0; i < selections.size(); ++i) {
    if (i > 0 && selections[i - 1].output == selections[i].output) {
      return fail(ErrorCode::kInvalidArgument, "RATE_SELECTION_REPEATED",
                  plan.output_name(selections[i].output) + " is given two rates; give one");
    }
    WEFTLINE_TRY(check(plan, selections[i]));
  }
  for (const PortRatePlanRecord& stated : plan.port_rates) {
    if (!stated.is_output || stated.kind != PortRateKind::kLifecycleNominal || !stated.nominal) {
      continue;
    }
    const auto at = std::ranges::lower_bound(selections, stated.port, std::less<>{},
                                             &LifecycleRateSelection::output);
    if (at != selections.end() && at->output == stated.port) continue;
    selections.insert(at,
                      {stated.port, {stated.nominal->numerator(), stated.nominal->denominator()}});
  }
  return {};
}

/// The rate of an input with these selections; absent when it has none.
expected<std::optional<Rational>, Error> rate_of(
    const PortRatePlanRecord& input, const std::vector<LifecycleRateSelection>& selections) {
  const auto at = std::ranges::lower_bound(selections, input.root, std::less<>{},
                                           &LifecycleRateSelection::output);
  if (!input.nominal || at == selections.end() || at->output != input.root) return input.nominal;
  WEFTLINE_ASSIGN(const Rational selected, at->rate.as_rational());
  WEFTLINE_ASSIGN(const Rational rate, selected.multiply(input.factor));
  return std::optional<Rational>(rate);
}

expected<EdgeGenerationRecord, Error> size_edge(
    const PlanRecords& plan, const QueueSizingRecipeRecord& recipe,
    const std::vector<LifecycleRateSelection>& selections) {
  const PayloadEdgePlanRecord& edge = plan.payload_edges[recipe.edge.value];
  EdgeGenerationRecord record{.active_depth = edge.queue_depth};
  if (const PortRatePlanRecord* input = plan.input_rate(edge.target)) {
    WEFTLINE_ASSIGN(record.rate, rate_of(*input, selections));
  }
  if (recipe.evidence != QueueSizingEvidence::kSufficient || !record.rate || !recipe.horizon) {
    return record;
  }
  WEFTLINE_ASSIGN(record.size,
                  size_queue(*record.rate, *recipe.horizon, recipe.headroom, recipe.hard_floor));
  if (edge.depth_origin == QueueDepthOrigin::kAutomatic) {
    record.active_depth = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(record.size->depth, recipe.admitted_depth));
  }
  return record;
}

PoolGenerationRecord size_pool(const PlanRecords& plan,
                               const ProviderAllocationPlanRecord& allocation,
                               const std::vector<EdgeGenerationRecord>& edges) {
  std::vector<PoolCapacityDependencyRecord> dependencies;
  for (PoolCapacityDependencyRecord each : plan.pool_capacity_dependencies) {
    if (each.pool != allocation.pool) continue;
    if (each.edge.valid()) {  // a topic's peers hold the same at every rate
      const std::uint32_t planned = plan.payload_edges[each.edge.value].queue_depth;
      each.active_shared_slots += edges[each.edge.value].active_depth - planned;
    }
    dependencies.push_back(each);
  }
  const std::uint64_t slots = count_pool_slots(allocation.producer_entries, dependencies).active;
  return {.active_entries = static_cast<std::uint32_t>(
              std::min<std::uint64_t>(slots, std::numeric_limits<std::uint32_t>::max()))};
}

expected<void, Error> evaluate(const PlanRecords& plan, RateGenerationRecord& record) {
  WEFTLINE_TRY(complete(plan, record.selections));
  std::vector<EdgeGenerationRecord> edges;
  for (const QueueSizingRecipeRecord& recipe : plan.queue_sizing_recipes) {
    WEFTLINE_ASSIGN(EdgeGenerationRecord edge, size_edge(plan, recipe, record.selections));
    edges.push_back(edge);
  }
  for (const ProviderAllocationPlanRecord& allocation : plan.provider_allocation_plans) {
    record.pools.push_back(size_pool(plan, allocation, edges));
  }
  record.edges = std::move(edges);
  return {};
}

}  // namespace

RateGenerationRecord evaluate_rate_generation(const PlanRecords& plan, std::uint64_t generation,
                                              std::vector<LifecycleRateSelection> selections) {
  std::ranges::sort(selections, {}, &LifecycleRateSelection::output);
  RateGenerationRecord record{.rate_generation = generation, .selections = std::move(selections)};
  if (auto done = evaluate(plan, record); !done) record.rejection = std::move(done).error();
  return record;
}

}  // namespace weftline
