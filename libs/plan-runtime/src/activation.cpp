// SPDX-License-Identifier: Apache-2.0
#include "activation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "fusion_proof.hpp"
#include "session_threads.hpp"

namespace weftline::runtime {
namespace {

expected<void, Error> make_nothing(SessionBuild&) { return {}; }

// Threads that were never started wait for it.
void release_samples(SessionResources& resources) noexcept {
  join_threads(resources);
  resources.release_samples();
}

template <LifecycleStage Stage>
expected<void, Error> pass_stage(SessionBuild& build) {
  for (const VertexId member : build.resources.start_order()) {
    WEFTLINE_TRY(build.at(build.plan().operators()[member.value].path + "." +
                          std::string(lifecycle_stage_name(Stage))));
    auto passed = build.resources.lifecycle->forward(Stage, std::span(&member, 1));
    if (passed) continue;
    build.place = std::move(passed.error().place);
    return make_unexpected(std::move(passed).error().error);
  }
  return {};
}

// What is outside hears of the end first. Callbacks may have queued device work, and those that
// take down may free what it uses.
void quiesce(SessionResources& resources) noexcept {
  for (const auto& operation : resources.operators) operation->close_source();
  resources.synchronize_streams();
}

void release_operators(SessionResources& resources) noexcept {
  quiesce(resources);
  resources.lifecycle->release(resources.start_order());
}

void stop_operators(SessionResources& resources) noexcept {
  quiesce(resources);
  resources.lifecycle->stop(resources.start_order());
}

expected<void, Error> read_proofs(SessionBuild& build) {
  for (const auto& pool : build.plan().tensor_allocations()) {
    if (!pool.fused_stream.valid()) continue;
    WEFTLINE_TRY(build.at("pool of " + build.plan().records().output_name(pool.output)));
    WEFTLINE_TRY(check_fusion_proof(build.plan().records(), pool));
  }
  return {};
}

expected<void, Error> await_peers(SessionBuild& build) {
  // Short waits in a row, so that a stop is seen soon.
  constexpr std::chrono::milliseconds kSlice{20};
  SessionResources& resources = build.resources;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t index = 0; index < resources.exports.size(); ++index) {
    const auto& edge = build.plan().records().export_edges[index];
    const EndpointRecord& endpoint = *build.plan().endpoint_catalog().find(edge.endpoint_name);
    const std::chrono::nanoseconds longest = std::chrono::steady_clock::time_point::max() - start;
    const auto deadline =
        start + std::min(std::chrono::nanoseconds(endpoint.attach_timeout_ns), longest);
    WEFTLINE_TRY(build.at("endpoint " + edge.endpoint_name));
    while (!resources.control.stopping()) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline) break;
      auto attached = resources.exports[index]->wait_for_peer(std::min(deadline, now + kSlice));
      if (attached) break;
      if (attached.error().code != ErrorCode::kTimeout) return attached;
    }
    if (resources.control.stopping()) return fail(ErrorCode::kInterrupted, "RUN_STOPPED");
    const bool missing = resources.exports[index]->lacks_required_peer();
    if (missing && endpoint.attach_timeout_ns > 0) {
      return fail(ErrorCode::kTimeout, "EXPORT_PEER_MISSING",
                  "no subscriber came within " +
                      std::to_string(endpoint.attach_timeout_ns / 1'000'000) +
                      " ms; start one, wait longer (TopicOptions.attach.wait), or declare the peer "
                      "optional");
    }
  }
  return {};
}

expected<void, Error> arm_triggers(SessionBuild& build) {
  WEFTLINE_TRY(build.at("rates"));
  WEFTLINE_TRY(build.resources.rates.publish(build.resources.edges, build.resources.pools));
  for (const auto& operation : build.resources.operators) {
    WEFTLINE_TRY(build.at(operation->record().path));
    WEFTLINE_TRY(operation->arm_source());
    operation->start_trigger();
  }
  return {};
}

expected<void, Error> start_lanes(SessionBuild& build) {
  for (const auto& lane : build.resources.lanes) {
    WEFTLINE_TRY(build.at("partition " + lane->name()));
    lane->start();
  }
  return {};
}

constexpr std::array kSteps{
    SessionStep{"samples", make_nothing, release_samples},
    SessionStep{"configure", pass_stage<LifecycleStage::kConfigure>, release_operators},
    SessionStep{"discover", pass_stage<LifecycleStage::kDiscover>, nullptr},
    SessionStep{"allocate", pass_stage<LifecycleStage::kAllocate>, nullptr},
    SessionStep{"warm_up", pass_stage<LifecycleStage::kWarmUp>, nullptr},
    SessionStep{"proofs", read_proofs, nullptr},
    SessionStep{"arm", pass_stage<LifecycleStage::kArm>, nullptr},
    SessionStep{"start", pass_stage<LifecycleStage::kStart>, stop_operators},
    SessionStep{"peers", await_peers, nullptr},
    SessionStep{"triggers", arm_triggers, nullptr},
    SessionStep{"lanes' work", start_lanes, join_threads}};

}  // namespace

std::span<const SessionStep> activation_steps() noexcept { return kSteps; }

}  // namespace weftline::runtime
