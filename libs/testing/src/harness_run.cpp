// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/harness_run.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "weftline/core/synthetic_clock.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline::testing {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

/// How often the lane has run out of things to do. A look at what only a device can bring is none.
std::uint64_t rests_of(const RunSession& session) {
  const RunCounters counters = session.counters();
  if (counters.lanes.empty()) return 0;
  const LaneCounters& lane = counters.lanes.front();
  return lane.parks - std::min(lane.parks, lane.device_polls);
}

/// Until the lane has rested more often than `rests`, or the run has ended. False at the deadline.
bool wait_for_rest(const RunSession& session, std::uint64_t rests, Deadline deadline) {
  while (session.termination() == RunTermination::kRunning && rests_of(session) <= rests) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    // Nothing tells when a lane sleeps but its counter: this waits for that, and guesses no time.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

/// The times at which the clock stops.
std::set<std::int64_t> stops(const std::vector<std::int64_t>& fed, const TestRunOptions& options) {
  std::set<std::int64_t> times(fed.begin(), fed.end());
  const std::int64_t last = std::max(options.until.count(), times.empty() ? 0 : *times.rbegin());
  times.insert(last);
  if (const std::int64_t step = options.step.count(); step > 0) {
    for (std::int64_t time = step; time < last; time += step) times.insert(time);
  }
  return times;
}

/// Whether the operator ends by itself once its inputs have ended.
bool ends_with_inputs(const OperatorPlanRecord& op) {
  using Kind = TemporalRecordTriggerKind;
  const Kind kind = op.trigger.kind;
  return kind == Kind::kAnyInput || kind == Kind::kEach || kind == Kind::kAligned ||
         kind == Kind::kWindow;
}

std::string all_of(const std::vector<RunDiagnostic>& diagnostics) {
  std::string text;
  for (const RunDiagnostic& diagnostic : diagnostics) text += "; " + diagnostic.to_string();
  return text;
}

}  // namespace

HarnessGraph::HarnessGraph() : driver_(std::make_shared<ClockDriver>()) {
  graph_.set_default_clock(graph_.add_clock<SyntheticClock>("clock", driver_));
  graph_.partition("lane").include_all();
}

std::string HarnessGraph::input_name(std::uint32_t port) const {
  return graph_.snapshot().vertices.front().inputs[port].name;
}
std::string HarnessGraph::output_name(std::uint32_t port) const {
  return graph_.snapshot().vertices.front().outputs[port].name;
}

void HarnessGraph::bind_outputs() {
  if (!device_) return;
  const auto bind = [&](const std::string& path, const std::string& output) {
    options_.deployment.bind_tensor_output_device(
        {.operator_path = path, .output_port = output, .device = *device_});
  };
  const GraphSnapshot snapshot = graph_.snapshot();
  for (const OutputPortRecord& output : snapshot.vertices.front().outputs) {
    const bool on_device = output.tensor && output.tensor->representation.memory_kind &&
                           is_device_resident(*output.tensor->representation.memory_kind);
    if (on_device) bind(kOperatorUnderTest, output.name);
  }
  for (const std::string& feeder : device_feeders_) bind(feeder, "out");
}

expected<ExecutionPlan, Error> HarnessGraph::compile_all(const TestRunOptions& options) {
  const GraphSnapshot snapshot = graph_.snapshot();
  const VertexSnapshot& op = snapshot.vertices.front();
  for (std::uint32_t port = 0; port < op.inputs.size(); ++port) {
    const bool fed = std::ranges::any_of(snapshot.flows, [&](const FlowSnapshot& flow) {
      return flow.target == PortRef{VertexId{0}, port};
    });
    if (fed) continue;
    return fail(ErrorCode::kInvalidArgument, "HARNESS_INPUT_NOT_FED",
                "input " + op.inputs[port].name +
                    " gets nothing; feed() it, if only with no samples, which ends it at once");
  }
  if (device_) options_.devices = capture_device_catalog(options.run.devices);
  bind_outputs();
  ExecutionPlan plan = compile(graph_, options_);
  if (plan.ok()) return plan;
  return fail(ErrorCode::kInvalidArgument, "HARNESS_PLAN_REJECTED",
              format_diagnostics(plan.diagnostics()));
}

expected<TestOutcome, Error> HarnessGraph::run(const TestRunOptions& options) {
  if (std::exchange(ran_, true)) {
    return fail(ErrorCode::kInvalidArgument, "HARNESS_RAN",
                "a harness runs once, for its clock only goes on; make another one");
  }
  WEFTLINE_ASSIGN(const ExecutionPlan plan, compile_all(options));
  const auto records = plan.operators();
  const auto under_test = std::ranges::find(records, kOperatorUnderTest, &OperatorPlanRecord::path);

  RunSession session = run_async(plan, options.run);
  const Deadline deadline = std::chrono::steady_clock::now() + options.patience;
  const auto activations = [&] {
    return session.counters().operators.empty()
               ? 0
               : session.counters().operators[under_test->id.value].activations;
  };
  bool in_time = wait_for_rest(session, 0, deadline);
  bool enough = false;
  for (const std::int64_t time : stops(times_, options)) {
    if (!in_time || enough || session.termination() != RunTermination::kRunning) break;
    const std::uint64_t rests = rests_of(session);
    if (time > driver_->now_ns()) {
      WEFTLINE_TRY(driver_->advance_to(time));
      in_time = wait_for_rest(session, rests, deadline);
    }
    enough = options.activations != 0 && activations() >= options.activations;
  }
  const bool goes_on =
      !ends_with_inputs(*under_test) && !under_test->trigger.complete_after_computes;
  if (in_time && !enough && !goes_on) in_time = session.wait_until(deadline);
  if (session.termination() == RunTermination::kRunning) session.request_stop();
  session.wait();
  if (!in_time) {
    return fail(ErrorCode::kTimeout, "HARNESS_RUN_HANGS",
                "the run had not ended after " + std::to_string(options.patience.count()) +
                    " s and was stopped; the operator was activated " +
                    std::to_string(activations()) + " times" + all_of(session.diagnostics()));
  }
  TestOutcome outcome{session.termination(), session.diagnostics(), session.warnings(), {}};
  const RunCounters counters = session.counters();
  if (!counters.operators.empty()) outcome.counters = counters.operators[under_test->id.value];
  return outcome;
}

}  // namespace weftline::testing
