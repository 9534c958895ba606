// SPDX-License-Identifier: Apache-2.0
//
// Contracts in a plan: as JSON, and in words.

#include "weftline/plan/temporal_records.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sample_plan.hpp"
#include "temporal_render.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;
using Selector = InputSelectorKind;
using Missing = MissingDataKind;

/// A key of the trigger of an operator, as JSON.
std::string written(const TemporalTriggerPlanRecord& trigger, std::string_view key) {
  PlanRecords plan = sample_plan();
  plan.operators[1].trigger = trigger;
  const JsonValue json = plan_to_json(plan);
  return json.find("operators")->as_array()->at(1).find("trigger")->find(key)->dump();
}

TEST_CASE("facts of another kind of trigger are null, whatever the record holds") {
  const TemporalTriggerPlanRecord full{.kind = Kind::kEach,
                                       .inputs = {0},
                                       .period_ns = 1,
                                       .phase_ns = 2,
                                       .window_ns = 3,
                                       .max_wait_ns = 4,
                                       .max_pending_windows = 5,
                                       .source = 6};
  const auto keys_of = [&](Kind kind) {
    TemporalTriggerPlanRecord trigger = full;
    trigger.kind = kind;
    std::string keys;
    for (const std::string_view key : {"period_ns", "phase_ns", "phase_origin", "window_ns",
                                       "max_wait_ns", "max_pending_windows", "source"}) {
      const std::string value = written(trigger, key);
      if (value != "null") keys.append(key).append("=").append(value).append(" ");
    }
    return keys;
  };
  CHECK(keys_of(Kind::kEach).empty());
  CHECK(keys_of(Kind::kAnyInput).empty());
  CHECK(keys_of(Kind::kClock) == "period_ns=1 phase_ns=2 phase_origin=\"captured_at_start\" ");
  CHECK(keys_of(Kind::kAligned) == "window_ns=3 ");
  CHECK(keys_of(Kind::kWindow) == "max_wait_ns=4 max_pending_windows=5 ");
  for (const Kind kind : {Kind::kReadable, Kind::kNotified, Kind::kDoorbell, Kind::kSpin}) {
    CHECK(keys_of(kind) == "source=6 ");
  }
}

TEST_CASE("what every kind of trigger has is written with any of them") {
  const TemporalTriggerPlanRecord trigger{.kind = Kind::kNotified,
                                          .complete_after_computes = 1'000,
                                          .presence_guaranteed_inputs = {0, 2},
                                          .reference_clock = ClockId{0},
                                          .bounded_state_capacity = 9,
                                          .max_start_delay_ns = 5,
                                          .on_violation = OnViolation::kFailRun};
  CHECK(written(trigger, "complete_after_computes") == "1000");
  CHECK(written(trigger, "presence_guaranteed_inputs") == "[0,2]");
  CHECK(written(trigger, "reference_clock") == "0");
  CHECK(written(trigger, "bounded_state_capacity") == "9");
  CHECK(written(trigger, "max_start_delay_ns") == "5");
  CHECK(written(trigger, "on_violation") == R"("fail_run")");
  CHECK(written({}, "on_violation") == "null");
}

TEST_CASE("sources are written with their operator, hostile names included") {
  PlanRecords plan = sample_plan();
  plan.operators[0].sources = {
      {.name = "bell\xff", .capacity = 7, .sender_reference_capacity = 3, .clock = ClockId{0}},
      {.name = "flag",
       .kind = ReadinessSourceKind::kSpin,
       .wake_requirement = ReadinessWakeRequirement::kBusyPollRequired}};
  const JsonValue json = plan_to_json(plan);
  CHECK(json.find("operators")->as_array()->front().find("sources")->dump() ==
        R"([{"capacity":7,"clock":0,"kind":"notification","name":"bell\\xff",)"
        R"("sender_reference_capacity":3,"wake_requirement":"deployment_selected"},)"
        R"({"capacity":1,"clock":null,"kind":"spin","name":"flag",)"
        R"("sender_reference_capacity":null,"wake_requirement":"busy_poll_required"}])");
}

TEST_CASE("a selection is written with the facts of its selector and policy") {
  PlanRecords plan = sample_plan();
  plan.edge_selections = {{.edge = EdgeId{0},
                           .selector = Selector::kLatestWithin,
                           .origin = TemporalRecordOrigin::kAuthored,
                           .triggering = false,
                           .max_age_ns = 5,
                           .max_age_parameter = "age",
                           .lookbehind_ns = 7,
                           .missing = Missing::kReuseLast,
                           .max_reuses = 4,
                           .reference_clock = ClockId{0},
                           .cache_capacity = 2,
                           .selector_cache = 1,
                           .reuse_cache = 1}};
  CHECK(plan_to_json(plan).find("edge_selections")->dump() ==
        R"([{"cache_capacity":2,"cardinality":"one","edge":0,"lookahead_ns":null,)"
        R"("lookbehind_ns":null,"max_age_ns":5,"max_age_parameter":"age","max_reuses":4,)"
        R"("max_selected_samples":1,"missing":"reuse_last","origin":"authored",)"
        R"("pending_cache":0,"reference_clock":0,"reuse_cache":1,"selector":"latest_within",)"
        R"("selector_cache":1,"triggering":false}])");
  plan.edge_selections[0] = {.selector = Selector::kBracketedWindow,
                             .lookbehind_ns = 7,
                             .lookahead_ns = 8,
                             .max_reuses = 4};
  const JsonValue json = plan_to_json(plan);
  const JsonValue& bracket = json.find("edge_selections")->as_array()->front();
  CHECK(bracket.find("lookbehind_ns")->dump() == "7");
  CHECK(bracket.find("lookahead_ns")->dump() == "8");
  CHECK(bracket.find("max_reuses")->is_null());
  CHECK(bracket.find("missing")->is_null());
  CHECK(bracket.find("max_age_ns")->is_null());
}

TEST_CASE("triggers are shown in full words") {
  OperatorPlanRecord op;
  op.inputs = {{.name = "left"}, {.name = "right"}};
  op.sources = {{.name = "bell"}};
  const auto shown = [&](TemporalTriggerPlanRecord trigger) {
    op.trigger = std::move(trigger);
    return show_trigger(op);
  };
  CHECK(shown({.kind = Kind::kAnyInput, .inputs = {0, 1}}) == "any of left, right");
  CHECK(shown({.kind = Kind::kEach, .inputs = {1}}) == "each right");
  CHECK(shown({.kind = Kind::kEach, .inputs = {7}}) == "each ?");
  CHECK(shown({.kind = Kind::kClock, .period_ns = 33'333'333}) == "every 33.3 ms");
  CHECK(shown({.kind = Kind::kClock, .period_ns = 5, .phase_ns = 2}) == "every 5 ns from 2 ns");
  CHECK(shown({.kind = Kind::kClock,
               .period_ns = 5,
               .phase_ns = -2,
               .phase_origin = ClockPhaseOrigin::kExplicitAbsolute}) ==
        "every 5 ns from -2 ns of the clock");
  CHECK(shown({.kind = Kind::kAligned, .inputs = {1, 0}, .window_ns = 5'000'000}) ==
        "right, left aligned within 5 ms");
  CHECK(
      shown(
          {.kind = Kind::kWindow, .inputs = {0}, .max_wait_ns = 2'000, .max_pending_windows = 3}) ==
      "window between samples of left, waits 2 us, 3 pending");
  CHECK(shown({.kind = Kind::kNotified}) == "each notification of bell");
  CHECK(shown({.kind = Kind::kReadable}) == "while bell is readable");
  CHECK(shown({.kind = Kind::kDoorbell}) == "doorbell bell");
  CHECK(shown({.kind = Kind::kSpin, .source = 1}) == "polled edge of ?");
  CHECK(shown({.kind = static_cast<Kind>(99)}) == "unknown");
  CHECK(shown({.kind = Kind::kEach,
               .inputs = {0},
               .complete_after_computes = 7,
               .max_start_delay_ns = 2'000'000,
               .on_violation = OnViolation::kDegrade}) ==
        "each left, starts within 2 ms or degrades, ends after 7");
  op.inputs.pop_back();
  CHECK(shown({.kind = Kind::kAnyInput, .inputs = {0}}) == "each left");
}

TEST_CASE("selections are shown in words, under the edges of authored ones") {
  CHECK(show_selection({}) == "takes the sample that triggers");
  CHECK(show_selection({.triggering = false, .missing = Missing::kFail}) ==
        "takes the sample of then, else fails the run");
  CHECK(show_selection({.selector = Selector::kLatestWithin,
                        .triggering = false,
                        .max_age_ns = 5'000'000,
                        .max_age_parameter = "age",
                        .missing = Missing::kSkip,
                        .cache_capacity = 1}) ==
        "takes the latest within 5 ms (parameter age), else does not run; holds 1 beyond the "
        "queue");
  CHECK(show_selection({.selector = Selector::kLatestWithin, .missing = Missing::kAbsent}) ==
        "takes the latest within an unknown age, else runs without");
  CHECK(show_selection({.selector = Selector::kDrainAll,
                        .missing = Missing::kReuseLast,
                        .max_reuses = 3,
                        .max_selected_samples = 40}) ==
        "drains up to 40, else reuses the last, up to 3 times");
  CHECK(show_selection({.selector = Selector::kBracketedWindow,
                        .lookbehind_ns = 1'000,
                        .lookahead_ns = 20,
                        .missing = Missing::kSafeDefault,
                        .max_selected_samples = 4}) ==
        "takes up to 4 from 1 us before to 20 ns after, else runs degraded");
  PlanRecords plan = sample_plan();
  plan.edge_selections = {{.selector = Selector::kDrainAll, .max_selected_samples = 40}};
  CHECK(render_plan(plan).find("drains") == std::string::npos);
  plan.edge_selections[0].origin = TemporalRecordOrigin::kAuthored;
  CHECK(render_plan(plan).find("\n      drains up to 40\n") != std::string::npos);
}

}  // namespace
}  // namespace weftline
