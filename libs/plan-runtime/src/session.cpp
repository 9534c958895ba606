// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>

#include "guarded.hpp"
#include "plan_support.hpp"
#include "session_build.hpp"
#include "session_threads.hpp"
#include "slot_holders.hpp"
#include "weftline/core/file.hpp"

namespace weftline {

using runtime::guarded;

void RunSession::State::reject(std::string place, Error error) {
  build_diagnostics_.push_back({std::move(place), std::move(error)});
  resources_.reset();
  end(RunTermination::kFailed);
}

void RunSession::State::end(RunTermination termination) {
  {
    const std::lock_guard lock(mutex_);
    termination_.store(termination);
  }
  ended_.notify_all();
}

void RunSession::State::launch(const RunOptions& options, runtime::ChannelBindings* bindings) {
  if (!resources_->plan.ok()) {
    reject("plan", {ErrorCode::kInvalidArgument, "RUN_PLAN_REJECTED",
                    format_diagnostics(resources_->plan.diagnostics()), 0});
    return;
  }
  runtime::SessionBuild build{*resources_, options, bindings};
  auto built = guarded("RUN_BUILD_THREW", [&]() -> expected<void, Error> {
    WEFTLINE_TRY(
        runtime::check_supported(resources_->plan.records(), build.place, bindings != nullptr));
    WEFTLINE_TRY(runtime::build_session(build));
    build.place = runtime::thread_name(SupportThreadRole::kController);
    controller_.launch(
        build.place, runtime::asked_for(resources_->plan.records(), SupportThreadRole::kController),
        [this] { control_run(); });
    return runtime::admit(build, controller_.report());
  });
  warnings_ = std::move(build.warnings);
  placements_ = std::move(build.placements);
  if (built) {
    controller_.start();
  } else {
    controller_.join();
    reject(std::move(build.place), std::move(built).error());
  }
}

bool RunSession::State::start_operators() {
  for (const VertexId vertex : resources_->plan.records().lifecycle.start_order) {
    if (!resources_->operators[vertex.value]->start()) return false;
  }
  return true;
}

expected<void, Error> RunSession::State::await_peers(std::string& place) {
  // Short waits in a row, so that a stop is seen soon.
  constexpr std::chrono::milliseconds kSlice{20};
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t index = 0; index < resources_->exports.size(); ++index) {
    const auto& edge = resources_->plan.records().export_edges[index];
    const EndpointRecord& endpoint = *resources_->plan.endpoint_catalog().find(edge.endpoint_name);
    const std::chrono::nanoseconds longest = std::chrono::steady_clock::time_point::max() - start;
    const auto deadline =
        start + std::min(std::chrono::nanoseconds(endpoint.attach_timeout_ns), longest);
    place = "endpoint " + edge.endpoint_name;
    while (!resources_->control.stopping()) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline) break;
      auto attached = resources_->exports[index]->wait_for_peer(std::min(deadline, now + kSlice));
      if (attached) break;
      if (attached.error().code != ErrorCode::kTimeout) return attached;
    }
    if (resources_->control.stopping()) return {};
    const bool missing = resources_->exports[index]->lacks_required_peer();
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

void RunSession::State::control_run() {
  auto& lanes = resources_->lanes;
  auto& control = resources_->control;
  std::string place;
  bool ran = false;
  if (start_operators()) {
    if (auto attached = await_peers(place); !attached) {
      control.fail(std::move(place), std::move(attached).error());
    } else {
      ran = std::ranges::all_of(resources_->operators,
                                [](const auto& operation) { return operation->arm(); });
      if (ran) {
        for (const auto& lane : lanes) lane->start();
      }
    }
  }
  for (const auto& lane : lanes) lane->join();
  resources_->synchronize_streams();
  const auto& order = resources_->plan.records().lifecycle.start_order;
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    resources_->operators[vertex->value]->stop();
  }
  resources_->release_samples();

  bool all_finished = ran;
  for (const auto& lane : lanes) all_finished = all_finished && lane->finished();
  if (!control.diagnostics().empty()) {
    end(RunTermination::kFailed);
  } else if (control.succeeded() || all_finished) {
    end(RunTermination::kCompleted);
  } else {
    end(RunTermination::kStopped);
  }
}

RunCounters RunSession::State::counters() const {
  RunCounters counters;
  if (!resources_) return counters;
  for (const ClockPlanRecord& clock : resources_->plan.records().clocks) {
    if (!clock.is_default) continue;
    counters.read_at = {resources_->clocks[clock.id.value]->now_ns(), clock.id};
  }
  for (const auto& operation : resources_->operators) {
    counters.operators.push_back(operation->counters());
  }
  for (std::size_t index = 0; index < resources_->edges.size(); ++index) {
    const auto& edge = *resources_->edges[index];
    counters.edges.push_back({.edge = resources_->plan.payload_edges()[index].edge,
                              .pushed = edge.pushed(),
                              .dropped = edge.dropped(),
                              .depth = edge.depth_now(),
                              .depth_high_water = edge.depth_high_water()});
  }
  for (std::size_t index = 0; index < resources_->pools.size(); ++index) {
    const auto& record = resources_->plan.tensor_allocations()[index];
    counters.pools.push_back(
        {record.id, resources_->pools[index]->usage(),
         runtime::name_holders(resources_->plan.records(), resources_->arms, record.output,
                               resources_->pools[index]->held_slots())});
  }
  for (const auto& lane : resources_->lanes) counters.lanes.push_back(lane->counters());
  for (const auto& arm : resources_->exports) counters.exports.push_back(arm->counters());
  for (const auto& import : resources_->imports) counters.imports.push_back(import->counters());
  if (resources_->observation) resources_->observation->read(counters);
  return counters;
}

RunTrace RunSession::State::trace() const {
  return resources_ && resources_->observation ? resources_->observation->trace() : RunTrace{};
}

expected<void, Error> RunSession::State::write_trace(const std::filesystem::path& path) const {
  const PlanRecords none;
  const PlanRecords& plan = resources_ ? resources_->plan.records() : none;
  WEFTLINE_TRY(save_file(path, chrome_trace_json(plan, trace())));
  return {};
}

}  // namespace weftline
