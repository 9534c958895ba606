// SPDX-License-Identifier: Apache-2.0
#include "lifecycle_runner.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace weftline::runtime {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{100};

}  // namespace

std::string LifecycleRunner::place_of(VertexId member, LifecycleStage stage) const {
  return operators_[member.value]->record().path + "." + std::string(lifecycle_stage_name(stage));
}

StageOutcome LifecycleRunner::call(VertexId member, LifecycleStage stage) noexcept {
  const CallbackWatch::Entry entry(watch_, place_of(member, stage));
  const std::int64_t began = RealtimeClock{}.now_ns();
  StageOutcome outcome = operators_[member.value]->run_stage(stage);
  // Not of one that has nothing for this stage.
  if (trace_ != nullptr && outcome.status != LifecycleStatus::kSkipped) {
    trace_->record({.kind = TraceEventKind::kStage,
                    .vertex = member,
                    .begin_ns = began,
                    .end_ns = RealtimeClock{}.now_ns(),
                    .value = static_cast<std::uint64_t>(stage)});
  }
  return outcome;
}

expected<void, RunDiagnostic> LifecycleRunner::forward(LifecycleStage stage,
                                                       std::span<const VertexId> members) {
  const auto interrupted = [&](VertexId member) {
    return make_unexpected(
        RunDiagnostic{place_of(member, stage), {ErrorCode::kInterrupted, "RUN_STOPPED", {}, 0}});
  };
  for (const VertexId member : members) {
    if (control_.stopping()) return interrupted(member);
    StageOutcome outcome = call(member, stage);
    auto pause = kFirstPause;
    for (std::uint32_t retry = 0;
         retry < retries_ && outcome.status == LifecycleStatus::kRetryableFailure; ++retry) {
      if (!control_.pause_controller(pause)) return interrupted(member);
      pause = std::min(pause * 2, kLongestPause);
      outcome = call(member, stage);
    }
    if (outcome.failed()) {
      return make_unexpected(RunDiagnostic{place_of(member, stage), std::move(outcome.error)});
    }
    // A restart may begin with a later stage after kRelease.
    if (stage <= LifecycleStage::kAllocate) reached_[member.value].configured = true;
    if (stage == LifecycleStage::kStart) reached_[member.value].started = true;
  }
  return {};
}

void LifecycleRunner::take_down(std::span<const VertexId> members, LifecycleStage stage,
                                bool Reached::*was_built) noexcept {
  for (std::size_t left = members.size(); left > 0; --left) {
    const VertexId member = members[left - 1];
    if (!(reached_[member.value].*was_built)) continue;
    reached_[member.value].*was_built = false;
    StageOutcome outcome = call(member, stage);
    if (outcome.failed()) control_.fail(place_of(member, stage), std::move(outcome.error));
  }
}

void LifecycleRunner::stop(std::span<const VertexId> members) noexcept {
  take_down(members, LifecycleStage::kStop, &Reached::started);
}

void LifecycleRunner::release(std::span<const VertexId> members) noexcept {
  take_down(members, LifecycleStage::kRelease, &Reached::configured);
}

}  // namespace weftline::runtime
