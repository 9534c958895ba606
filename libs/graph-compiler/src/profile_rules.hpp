// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "compile_state.hpp"

namespace weftline {

/// What one profile asks for, and on whose behalf: "the graph" or "region vision".
struct ProfileScope {
  Profile profile{Profile::kDevelopment};
  std::string of{"the graph"};
};

// The list of Profile, one function for each kind of thing. Each reports what the profile refuses.
// Whoever has several scopes for one thing calls with the strictest, so that nothing is said twice.

void check_edge(CompileState& state, const PayloadEdgePlanRecord& edge, const ProfileScope& scope);
void check_topic(CompileState& state, TopicDirection direction, const TopicState& topic,
                 const TopicOptions& options, const ProfileScope& scope);
/// All edges into an operator; topics belong to the graph.
void check_operator(CompileState& state, VertexId vertex, const ProfileScope& scope);

}  // namespace weftline
