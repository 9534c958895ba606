// SPDX-License-Identifier: Apache-2.0
//
// Every action of bringing a session up is made to fail, one after the other: what had come up is
// taken down in the exact reverse, and nothing is left. In a program that replaces operator new.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "channel_folder.hpp"
#include "process_census.hpp"
#include "staged_graph.hpp"
#include "weftline/testing/fake_channels.hpp"
#include "weftline/testing/session_faults.hpp"

using namespace test;
using weftline::RunTermination;
using weftline::testing::FakeChannels;
using weftline::testing::FakeProducer;
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

/// A plan, and how it is run under faults.
struct Subject {
  CurrentPoints current{std::make_shared<Points*>(nullptr)};
  StagedBorders borders{};
  weftline::ExecutionPlan plan{staged_plan(current, borders)};
  weftline::RunOptions options{};

  [[nodiscard]] weftline::RunSession run(SessionFaults& faults, FakeChannels& channels) const {
    if (!borders.import) return faults.run_async(plan, options);
    FakeProducer& told = channels.producer("told");
    told.attach(1);
    told.send(std::uint64_t{5});
    told.end();
    return faults.run_async(plan, options, channels);
  }
};

Fault run_with_fault(const Subject& subject, std::size_t failing) {
  Points points("", Points::Act::kNothing);
  *subject.current = &points;
  SessionFaults faults(failing);
  FakeChannels channels;
  Fault fault;
  {
    const auto session = subject.run(faults, channels);
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

/// Makes one action after the other fail; gives back in which steps any did.
std::set<std::string> fail_everywhere(const Subject& subject) {
  // What the first runs leave once and for all: tables of libraries, and a failure's words.
  static_cast<void>(run_with_fault(subject, SessionFaults::kNone));
  static_cast<void>(run_with_fault(subject, 0));

  std::set<std::string> failed_steps;
  for (std::size_t failing = 0;; ++failing) {
    Fault fault;
    const std::string left = left_behind([&] {
      // Copied out by the move of an empty one: strings of the report are no leak.
      const Fault made = run_with_fault(subject, failing);
      fault.termination = made.termination;
      fault.actions = made.actions;
    });
    INFO("action " << failing);
    CHECK(left == "");
    fault = run_with_fault(subject, failing);
    INFO(fault.action);
    std::ranges::reverse(fault.undone);
    CHECK(fault.undone == fault.begun);
    CHECK(fault.order == "");
    if (fault.actions <= failing) {
      CHECK(fault.termination == RunTermination::kCompleted);
      CHECK(failing > 40);  // else the walk would prove little
      return failed_steps;
    }
    CHECK(fault.termination == RunTermination::kFailed);
    CHECK(fault.diagnostics == 1);
    CHECK(fault.token == "RUN_FAULT_INJECTED");
    const std::string step = fault.action.substr(0, fault.action.find(':'));
    CHECK(fault.action == step + ": " + fault.place);
    // The controller is no step: it makes the later ones.
    if (!step.starts_with("controller")) CHECK(step == fault.begun.back());
    failed_steps.insert(step);
  }
}

void check_reached(const std::set<std::string>& failed, std::initializer_list<const char*> steps) {
  for (const char* const step : steps) {
    INFO(step);
    CHECK(failed.contains(step));
  }
}

}  // namespace

TEST_CASE(
    "a session undoes its steps in the exact reverse, and leaves nothing, wherever it fails") {
  const ChannelFolder folder;
  const auto failed = fail_everywhere({.options = {.channels = folder.options()}});
  check_reached(failed, {"clocks",
                         "devices",
                         "streams",
                         "pools",
                         "lanes",
                         "exports",
                         "operators",
                         "edges",
                         "threads",
                         "controller",
                         "controller's place",
                         "configure",
                         "discover",
                         "allocate",
                         "warm_up",
                         "arm",
                         "start",
                         "peers",
                         "triggers",
                         "lanes' work"});
}

TEST_CASE("so does one that takes another's numbers, on a device with SMs set apart") {
  const StagedBorders borders{.import = true, .sms = 12};
  const auto failed =
      fail_everywhere({.borders = borders, .options = {.devices = borders.devices()}});
  check_reached(failed, {"exports", "imports", "streams", "controller", "lanes' work"});
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
