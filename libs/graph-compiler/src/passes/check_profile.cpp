// SPDX-License-Identifier: Apache-2.0
//
// Needs: queues with where their depths come from; the graph's topics.
// Adds: under which profile the plan was made; errors for what that profile refuses. The table is
// in profile.hpp, its rules in profile_rules.cpp.

#include "passes/passes.hpp"
#include "profile_rules.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline::passes {

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
  for (const OperatorPlanRecord& op : state.plan.operators) check_operator(state, op.id, scope);
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
