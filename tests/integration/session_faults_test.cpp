// SPDX-License-Identifier: Apache-2.0
//
// Every action of bringing a session up is made to fail, one after the other: what had come up is
// taken down in the exact reverse, and nothing is left. In a program that replaces operator new.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "channel_folder.hpp"
#include "process_census.hpp"
#include "staged_graph.hpp"
#include "weftline/testing/session_faults.hpp"

using namespace test;
using weftline::RunTermination;
using weftline::testing::SessionFaults;

namespace {

struct Fault {
  std::string action{};  ///< The last one: what failed.
  std::size_t actions{0};
  std::string place{};
  std::string token{};
  std::vector<std::string> begun{};
  std::vector<std::string> undone{};
  std::string order{};
  RunTermination termination{RunTermination::kRunning};
  std::size_t diagnostics{0};
};

Fault run_with_fault(const weftline::ExecutionPlan& plan, const CurrentPoints& current,
                     const weftline::RunOptions& options, std::size_t failing) {
  Points points("", Points::Act::kNothing);
  *current = &points;
  SessionFaults faults(failing);
  Fault fault;
  {
    const auto session = faults.run_async(plan, options);
    fault.termination = run_to_end(session);
    const auto diagnostics = session.diagnostics();
    fault.diagnostics = diagnostics.size();
    if (!diagnostics.empty()) {
      fault.place = diagnostics.front().place;
      fault.token = diagnostics.front().error.token;
    }
  }
  fault.action = faults.actions().back();
  fault.actions = faults.actions().size();
  fault.begun = faults.begun();
  fault.undone = faults.undone();
  fault.order = taken_down_wrongly(points, "");
  return fault;
}

}  // namespace

TEST_CASE(
    "a session undoes its steps in the exact reverse, and leaves nothing, wherever it fails") {
  const ChannelFolder folder;
  const weftline::RunOptions options{.channels = folder.options()};
  const auto current = std::make_shared<Points*>(nullptr);
  const auto plan = staged_plan(current);
  // What the first runs leave once and for all: tables of libraries, and a failure's words.
  static_cast<void>(run_with_fault(plan, current, options, SessionFaults::kNone));
  static_cast<void>(run_with_fault(plan, current, options, 0));

  std::set<std::string> failed_steps;
  std::size_t failing = 0;
  for (;; ++failing) {
    Fault fault;
    const std::string left = left_behind([&] {
      // Copied out by the move of an empty one: strings of the report are no leak.
      const Fault made = run_with_fault(plan, current, options, failing);
      fault.termination = made.termination;
      fault.actions = made.actions;
    });
    INFO("action " << failing);
    CHECK(left == "");
    fault = run_with_fault(plan, current, options, failing);
    INFO(fault.action);
    std::ranges::reverse(fault.undone);
    CHECK(fault.undone == fault.begun);
    CHECK(fault.order == "");
    if (fault.actions <= failing) {
      CHECK(fault.termination == RunTermination::kCompleted);
      break;
    }
    CHECK(fault.termination == RunTermination::kFailed);
    CHECK(fault.diagnostics == 1);
    CHECK(fault.token == "RUN_FAULT_INJECTED");
    CHECK(fault.action == fault.begun.back() + ": " + fault.place);
    failed_steps.insert(fault.begun.back());
  }
  // Else the walk would prove little.
  CHECK(failing > 40);
  for (const char* const step :
       {"clocks", "devices", "streams", "pools", "lanes", "exports", "operators", "edges",
        "threads", "configure", "discover", "allocate", "warm_up", "arm", "start", "peers",
        "triggers", "lanes' work"}) {
    INFO(step);
    CHECK(failed_steps.contains(step));
  }
}

TEST_CASE("one plan runs twice, and in two sessions at once") {
  const ChannelFolder folder;
  const ChannelFolder other_folder;
  const auto current = std::make_shared<Points*>(nullptr);
  const auto plan = staged_plan(current);
  Points points("", Points::Act::kNothing);
  *current = &points;
  const auto both = [&] {
    const auto first = weftline::run_async(plan, {.channels = folder.options()});
    const auto second = weftline::run_async(plan, {.channels = other_folder.options()});
    return run_to_end(first) == RunTermination::kCompleted &&
           run_to_end(second) == RunTermination::kCompleted;
  };
  CHECK(both());
  CHECK(both());
  CHECK(points.passed(weftline::LifecycleStage::kStart).size() == 16);
  CHECK(points.passed(weftline::LifecycleStage::kRelease).size() == 16);
}
