// SPDX-License-Identifier: Apache-2.0
//
// Needs: queues with where their depths come from; the graph's topics.
// Adds: under which profile the plan was made; errors for what that profile refuses. The list is
// in profile.hpp, its rules in profile_rules.cpp. An operator of a region with a stricter profile
// is checked by that.

#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "profile_rules.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline::passes {
namespace {

/// By vertex: the region with the strictest profile of those that it is in; the first of equals.
std::vector<const RegionRecord*> strictest_regions(const PlanRecords& plan) {
  std::vector<const RegionRecord*> strictest(plan.operators.size(), nullptr);
  for (const RegionRecord& region : plan.regions) {
    if (!region.profile) continue;
    for (const VertexId member : region.members) {
      const RegionRecord*& known = strictest[member.value];
      if (known == nullptr || known->profile < region.profile) known = &region;
    }
  }
  return strictest;
}

}  // namespace

void check_profile(CompileState& state) {
  const Profile requested = state.options.profile;
  const bool known = requested <= Profile::kStrict;
  state.plan.profile_manifest = {.requested = requested,
                                 .effective = known ? requested : Profile::kStrict,
                                 .plan_schema_version = kPlanSchemaVersion};
  if (!known) {
    state.error("PROFILE_UNKNOWN", "profile",
                "CompileOptions::profile is number " +
                    std::to_string(static_cast<unsigned>(requested)) + ", outside its enum",
                "use kDevelopment, kDeployment or kStrict");
    return;
  }
  const ProfileScope scope{.profile = requested};
  const std::vector<const RegionRecord*> regions = strictest_regions(state.plan);
  for (const OperatorPlanRecord& op : state.plan.operators) {
    const RegionRecord* const region = regions[op.id.value];
    const bool stricter = region != nullptr && region->profile.value_or(requested) > requested;
    check_operator(state, op.id,
                   stricter
                       ? ProfileScope{region->profile.value_or(requested), "region " + region->name}
                       : scope);
  }
  for (std::size_t index = 0; index < state.imports.size(); ++index) {
    check_topic(state, TopicDirection::kImport, state.imports[index],
                state.graph.imports[index].options, scope);
  }
  for (std::size_t index = 0; index < state.exports.size(); ++index) {
    check_topic(state, TopicDirection::kExport, state.exports[index],
                state.graph.exports[index].options, scope);
  }
}

}  // namespace weftline::passes
