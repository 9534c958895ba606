// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

/// Facts that belong to another kind of rate are null; an output that states none is null.
JsonText json(const OutputRateRecord& rate) {
  if (rate.kind == PortRateKind::kUnspecified) return {};
  const bool follows = rate.kind == PortRateKind::kFollowsInput;
  return Object{{"follows_input", follows ? JsonText(rate.follows_input) : JsonText()},
                {"kind", rate_kind_name(rate.kind)},
                {"maximum", optional(rate.maximum)},
                {"rate", follows ? JsonText() : json(rate.rate)},
                {"ratio", follows ? json(rate.ratio) : JsonText()}};
}

JsonText json(const PortRatePlanRecord& rate) {
  const bool rooted = rate.root.vertex.valid();
  return Object{{"basis", rate_basis_name(rate.basis)},
                {"factor", rooted ? json(rate.factor) : JsonText()},
                {"kind", rate_kind_name(rate.kind)},
                {"maximum", optional(rate.maximum)},
                {"nominal", optional(rate.nominal)},
                {"port", json(rate.port)},
                {"role", rate.is_output ? "output" : "input"},
                {"root", rooted ? json(rate.root) : JsonText()}};
}

JsonText json(const AccumulationHorizonPlanRecord& horizon) {
  return Object{{"basis", horizon_basis_name(horizon.basis)},
                {"edge", json(horizon.edge)},
                {"seconds", optional(horizon.seconds)}};
}

JsonText json(const HardFloorContributorRecord& contributor) {
  return Object{{"edge", json(contributor.edge)},
                {"entries", contributor.entries},
                {"group", contributor.group},
                {"reason", hard_floor_reason_name(contributor.reason)},
                {"scenario", contributor.scenario}};
}

JsonText json(const QueueSizingRecipeRecord& recipe) {
  return Object{{"admitted_ceiling", optional(recipe.admitted_ceiling)},
                {"admitted_depth", known(recipe.admitted_depth)},
                {"edge", json(recipe.edge)},
                {"evidence", sizing_evidence_name(recipe.evidence)},
                {"hard_floor", recipe.hard_floor},
                {"headroom", json(recipe.headroom)},
                {"horizon", optional(recipe.horizon)},
                {"maximum_rate", optional(recipe.maximum_rate)},
                {"nominal_arrivals", optional(recipe.nominal_arrivals)},
                {"rate", optional(recipe.rate)},
                {"rate_basis", rate_basis_name(recipe.rate_basis)},
                {"recommendation", optional(recipe.recommendation)}};
}

JsonText json(const PoolCapacityDependencyRecord& dependency) {
  return Object{{"active_shared_slots", dependency.active_shared_slots},
                {"admitted_shared_slots", dependency.admitted_shared_slots},
                {"edge", json(dependency.edge)},
                {"endpoint_name",
                 dependency.endpoint_name.empty() ? JsonText() : text(dependency.endpoint_name)},
                {"own_slots", dependency.own_slots},
                {"pool", json(dependency.pool)},
                {"source", json(dependency.source)}};
}

JsonText json(const ProviderAllocationPlanRecord& allocation) {
  return Object{{"active_bytes", known(allocation.active_bytes())},
                {"active_entries", known(allocation.active_entries)},
                {"admitted_bytes", known(allocation.admitted_bytes())},
                {"admitted_entries", known(allocation.admitted_entries)},
                {"entry_bytes", known(allocation.entry_bytes)},
                {"pool", json(allocation.pool)},
                {"producer_entries", allocation.producer_entries},
                {"reserved_bytes", nullptr}};
}

}  // namespace weftline
