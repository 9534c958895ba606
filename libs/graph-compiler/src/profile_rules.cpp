// SPDX-License-Identifier: Apache-2.0
#include "profile_rules.hpp"

namespace weftline {
namespace {

std::string under(const ProfileScope& scope) {
  return "under profile " + std::string(profile_name(scope.profile)) + " of " + scope.of;
}

/// The first profile that refuses; the list in profile.hpp says the same for people.
constexpr Profile kRefusesDefaultDepth = Profile::kDeployment;
constexpr Profile kRefusesUnknownClock = Profile::kDeployment;
constexpr Profile kRefusesNominalRate = Profile::kStrict;
constexpr Profile kRefusesOptionalPeer = Profile::kStrict;

}  // namespace

void check_edge(CompileState& state, const PayloadEdgePlanRecord& edge, const ProfileScope& scope) {
  if (edge.depth_origin == QueueDepthOrigin::kDefault && scope.profile >= kRefusesDefaultDepth) {
    state.error("PROFILE_QUEUE_DEFAULT_DEPTH", state.edge_name(edge),
                "the queue has the default depth of " + std::to_string(edge.queue_depth) +
                    ", for want of a rate or a horizon, which is refused " + under(scope),
                "give ConnectionOptions::queue_depth, or state the rate and how long samples may "
                "pile up");
  }
  if (edge.depth_origin == QueueDepthOrigin::kAutomatic && scope.profile >= kRefusesNominalRate) {
    state.error("PROFILE_RATE_NOMINAL_ONLY", state.edge_name(edge),
                "the depth of " + std::to_string(edge.queue_depth) +
                    " comes from a nominal rate, which bounds no burst, and is refused " +
                    under(scope),
                "give ConnectionOptions::queue_depth for the longest burst");
  }
}

void check_topic(CompileState& state, TopicDirection direction, const TopicState& topic,
                 const TopicOptions& options, const ProfileScope& scope) {
  const std::string place = "endpoint " + topic.name;
  const bool silent = options.clock_health.requirement == ClockHealthRequirement::kNotRequired;
  if (direction == TopicDirection::kImport && silent && scope.profile >= kRefusesUnknownClock) {
    state.error("PROFILE_CLOCK_HEALTH_UNSPECIFIED", place,
                "the import requires nothing of its capture clock's health, which is refused " +
                    under(scope),
                "set TopicOptions::clock_health to require fresh_healthy_report, with a "
                "max_report_age and an action");
  }
  if (options.attach.peer == PeerRequirement::kOptional && scope.profile >= kRefusesOptionalPeer) {
    state.error("PROFILE_PEER_OPTIONAL", place,
                "the topic runs without its peer, which is refused " + under(scope),
                "set TopicAttachPolicy::peer to PeerRequirement::kRequired");
  }
}

void check_operator(CompileState& state, VertexId vertex, const ProfileScope& scope) {
  for (const std::uint32_t index : state.incoming[vertex.value]) {
    check_edge(state, state.plan.payload_edges[index], scope);
  }
}

}  // namespace weftline
