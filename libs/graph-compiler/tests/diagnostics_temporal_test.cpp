// SPDX-License-Identifier: Apache-2.0
//
// Every diagnostic of a contract, word by word.

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "diagnostic_cases.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;
using Selector = InputSelectorKind;
using Missing = MissingDataKind;

constexpr std::int64_t kYearNs = 31'536'000'000'000'000;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TestGraph linear() {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  return graph;
}

/// "join" takes "a" and "b" by the given trigger.
TestGraph joined(TemporalTriggerPlanRecord trigger) {
  TestGraph graph;
  graph.source("a").source("b").op("join", {"left", "right"}, {});
  graph.flow("a.out", "join.left").flow("b.out", "join.right").trigger("join", std::move(trigger));
  return graph;
}

const TemporalTriggerPlanRecord kEachLeft{.kind = Kind::kEach, .inputs = {0}};
const TemporalTriggerPlanRecord kWindowLeft{
    .kind = Kind::kWindow, .inputs = {0}, .max_wait_ns = 5, .max_pending_windows = 2};

TestGraph ticking(TemporalTriggerPlanRecord trigger) {
  TestGraph graph = linear();
  graph.trigger("a", std::move(trigger));
  return graph;
}

/// An input beside OnEach, and what is taken from it.
TestGraph beside(InputSelectionSnapshot selection, TemporalTriggerPlanRecord trigger = kEachLeft) {
  TestGraph graph = joined(std::move(trigger));
  graph.select("join.right", std::move(selection));
  return graph;
}

TestGraph notified(std::uint32_t source, std::vector<SourceSnapshot> sources) {
  TestGraph graph = ticking({.kind = Kind::kNotified, .source = source});
  for (SourceSnapshot& each : sources) graph.readiness("a", std::move(each));
  return graph;
}

SourceSnapshot bell(std::string_view clock = {}) {
  return {{.name = "bell", .kind = ReadinessSourceKind::kNotification, .capacity = 4},
          std::string(clock)};
}

/// "a" waits on a clock of its own.
TestGraph waiting(std::string clock) {
  TestGraph graph = beside({.selector = Selector::kDrainAll, .max_samples = 4}, kWindowLeft);
  graph.snapshot().clocks.push_back({"manual", graph.snapshot().clocks.front().factory, false});
  graph.vertex("join").contract.wait_clock = std::move(clock);
  return graph;
}

template <class Change>
TestGraph with_trigger(TestGraph graph, std::string_view path, Change change) {
  change(*graph.vertex(path).trigger);
  return graph;
}

}  // namespace

std::vector<DiagnosticCase> temporal_diagnostic_cases() {
  return {
      {"an age of nothing", beside({.selector = Selector::kLatestWithin, .max_age_ns = 0}),
       "error CONTRACT_AGE_INVALID at join.right: no sample has an age of 0 ns or less. Fix: give "
       "LatestWithin a max_age of at least 1 ns\n"},
      {"a negative age", beside({.selector = Selector::kLatestWithin, .max_age_ns = -kMost - 1}),
       "error CONTRACT_AGE_INVALID at join.right: no sample has an age of -9223372036854775808 ns "
       "or less. Fix: give LatestWithin a max_age of at least 1 ns\n"},
      {"OnAligned with one input",
       joined({.kind = Kind::kAligned, .inputs = {1, 1}, .window_ns = 5}),
       "error CONTRACT_ALIGNED_INPUTS at join: OnAligned names 2 inputs, 1 of them distinct. Fix: "
       "name two or more inputs, each once\n"
       "error CONTRACT_SIDE_INPUT_UNSELECTED at join.left: OnAligned does not wait for this input, "
       "and the contract does not say what to take from it. Fix: add .select(left, "
       "LatestWithin{.max_age = …}) or another selector to the Contract, or name the input in the "
       "trigger\n"},
      {"a bracketed window of no length",
       beside({.selector = Selector::kBracketedWindow, .max_samples = 4}),
       "error CONTRACT_BRACKET_INVALID at join.right: a window from 0 ns before to 0 ns after the "
       "reference. Fix: give lookbehind and lookahead 0 or more, and one of them at least 1 ns\n"},
      {"a bracketed window that ends before it begins",
       beside({.selector = Selector::kBracketedWindow,
               .lookbehind_ns = -5,
               .lookahead_ns = 7,
               .max_samples = 4}),
       "error CONTRACT_BRACKET_INVALID at join.right: a window from -5 ns before to 7 ns after the "
       "reference. Fix: give lookbehind and lookahead 0 or more, and one of them at least 1 ns\n"},
      {"OnClock on a clock that nobody drives",
       changed(
           linear(),
           [](TestGraph& graph) { graph.snapshot().clocks.front().independent_progress = false; }),
       "error CONTRACT_CLOCK_NOT_INDEPENDENT at a: OnClock ticks on the default clock \"clock\", "
       "whose time goes on neither by itself nor by a driver, so no lane can sleep until a tick. "
       "Fix: make a clock with independent_progress() or a driver() the default, or trigger by an "
       "input\n"},
      {"OnWindow on a clock that nobody drives", waiting("manual"),
       "error CONTRACT_CLOCK_NOT_INDEPENDENT at join: OnWindow waits on the clock \"manual\", "
       "whose time goes on neither by itself nor by a driver, so no lane can sleep until its wait "
       "is over. Fix: name a wait_clock with independent_progress() or a driver()\n"},
      {"OnWindow on a clock that is not there", waiting("Manual"),
       "error CONTRACT_CLOCK_UNKNOWN at join: it names the clock \"Manual\", which the graph does "
       "not have. Fix: add_clock() it, or give the ClockKey another name\n"},
      {"a source on a clock that is not there", notified(0, {bell("x\ny")}),
       "error CONTRACT_CLOCK_UNKNOWN at a source bell: it names the clock \"x\\x0ay\", which the "
       "graph does not have. Fix: add_clock() it, or give the ClockKey another name\n"},
      {"an operator with inputs that ends after some calls",
       with_trigger(joined(TemporalTriggerPlanRecord{.kind = Kind::kAnyInput, .inputs = {0, 1}}),
                    "join", [](auto& trigger) { trigger.complete_after_computes = 7; }),
       "error CONTRACT_COMPLETION_NOT_A_SOURCE at join: complete_after() ends an operator after 7 "
       "calls, but it has inputs, whose samples would then be dropped. Fix: use complete_after() "
       "on operators without inputs; others end with their inputs\n"},
      {"durations beyond a year",
       changed(beside({.selector = Selector::kLatestWithin, .max_age_ns = kMost},
                      {.kind = Kind::kAligned, .inputs = {0, 2}, .window_ns = kMost}),
               [](TestGraph& graph) {
                 graph.vertex("join").inputs.push_back(
                     {.name = "third", .payload = payload_identity<std::uint32_t>()});
                 graph.source("c").flow("c.out", "join.third");
                 graph.trigger(
                     "a",
                     {.kind = Kind::kClock, .period_ns = kYearNs + 1, .phase_ns = kYearNs + 2});
                 graph.trigger("b", {.kind = Kind::kClock,
                                     .period_ns = kYearNs,
                                     .phase_ns = kYearNs,
                                     .max_start_delay_ns = kYearNs + 1});
               }),
       "error CONTRACT_DURATION_TOO_LONG at a: OnClock::period is 31536000000000001 ns, the "
       "longest "
       "duration in a contract is 31536000000000000 ns (365 days). Fix: give a shorter one\n"
       "error CONTRACT_DURATION_TOO_LONG at a: OnClock::phase is 31536000000000002 ns, the longest "
       "duration in a contract is 31536000000000000 ns (365 days). Fix: give a shorter one\n"
       "error CONTRACT_DURATION_TOO_LONG at b: Contract::max_start_delay() is 31536000000000001 "
       "ns, the longest duration in a contract is 31536000000000000 ns (365 days). Fix: give a "
       "shorter one\n"
       "error CONTRACT_DURATION_TOO_LONG at join: OnAligned::window is 9223372036854775807 ns, the "
       "longest duration in a contract is 31536000000000000 ns (365 days). Fix: give a shorter "
       "one\n"
       "error CONTRACT_DURATION_TOO_LONG at join.right: LatestWithin::max_age is "
       "9223372036854775807 ns, the longest duration in a contract is 31536000000000000 ns (365 "
       "days). Fix: give a shorter one\n"},
      {"windows beyond a year",
       with_trigger(beside({.selector = Selector::kBracketedWindow,
                            .lookbehind_ns = kYearNs + 1,
                            .lookahead_ns = kMost,
                            .max_samples = 4},
                           kWindowLeft),
                    "join", [](auto& trigger) { trigger.max_wait_ns = kMost; }),
       "error CONTRACT_DURATION_TOO_LONG at join: OnWindow::max_wait is 9223372036854775807 ns, "
       "the "
       "longest duration in a contract is 31536000000000000 ns (365 days). Fix: give a shorter "
       "one\n"
       "error CONTRACT_DURATION_TOO_LONG at join.right: BracketedWindow::lookahead is "
       "9223372036854775807 ns, the longest duration in a contract is 31536000000000000 ns (365 "
       "days). Fix: give a shorter one\n"
       "error CONTRACT_DURATION_TOO_LONG at join.right: BracketedWindow::lookbehind is "
       "31536000000000001 ns, the longest duration in a contract is 31536000000000000 ns (365 "
       "days). Fix: give a shorter one\n"},
      {"OnEach with another operator's input",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.trigger("b", {.kind = Kind::kEach, .inputs = {0, 3}});
               }),
       "error CONTRACT_INPUT_UNKNOWN at b: its trigger names input number 3 of 1. Fix: name inputs "
       "of this operator that setup() declares\n"},
      {"a selection from another operator's input",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.vertex("b").contract.selections.push_back({.input = 0xffff'ffff});
               }),
       "error CONTRACT_INPUT_UNKNOWN at b: a select() of its contract names input number "
       "4294967295 "
       "of 1. Fix: name inputs of this operator that setup() declares\n"},
      {"a trigger that this version does not have",
       changed(joined({.kind = Kind::kPredicate, .inputs = {0}}),
               [](TestGraph& graph) { graph.trigger("a", {.kind = static_cast<Kind>(77)}); }),
       "error CONTRACT_KIND_UNSUPPORTED at a: its trigger is of kind 77, which this version does "
       "not have. Fix: use one of the triggers of weftline/graph/trigger.hpp\n"
       "error CONTRACT_KIND_UNSUPPORTED at join: its trigger is of kind 9, which this version does "
       "not have. Fix: use one of the triggers of weftline/graph/trigger.hpp\n"},
      {"a window ahead of a trigger that does not wait",
       beside({.selector = Selector::kBracketedWindow, .lookahead_ns = 3, .max_samples = 4}),
       "error CONTRACT_LOOKAHEAD_UNAWAITED at join.right: the window ends 3 ns after the "
       "reference, "
       "but OnEach does not wait for what lies ahead. Fix: use OnWindow, or a lookahead of 0\n"},
      {"OnWindow that does not wait",
       with_trigger(beside({.selector = Selector::kDrainAll, .max_samples = 4}, kWindowLeft),
                    "join", [](auto& trigger) { trigger.max_wait_ns = 0; }),
       "error CONTRACT_MAX_WAIT_INVALID at join: OnWindow waits 0 ns for what completes a window. "
       "Fix: give OnWindow a max_wait of at least 1 ns\n"},
      {"OnWindow that waits backwards",
       with_trigger(beside({.selector = Selector::kDrainAll, .max_samples = 4}, kWindowLeft),
                    "join", [](auto& trigger) { trigger.max_wait_ns = -1; }),
       "error CONTRACT_MAX_WAIT_INVALID at join: OnWindow waits -1 ns for what completes a window. "
       "Fix: give OnWindow a max_wait of at least 1 ns\n"},
      {"an age from a parameter that may change",
       beside({.selector = Selector::kLatestWithin,
               .max_age_parameter = "lens.age",
               .max_age_may_enter_plan = false}),
       "error CONTRACT_PARAMETER_NOT_FROZEN at join.right: the largest age is parameter lens.age, "
       "which may change while the plan runs or is sensitive. Fix: declare it compile_time() or "
       "recompile_required(), and not sensitive()\n"},
      {"OnWindow without open windows",
       with_trigger(beside({.selector = Selector::kDrainAll, .max_samples = 4}, kWindowLeft),
                    "join", [](auto& trigger) { trigger.max_pending_windows = 0; }),
       "error CONTRACT_PENDING_WINDOWS_INVALID at join: OnWindow keeps up to 0 windows open. Fix: "
       "give OnWindow::max_pending_windows 1 to 4096\n"},
      {"OnWindow with one open window too many",
       with_trigger(beside({.selector = Selector::kDrainAll, .max_samples = 4}, kWindowLeft),
                    "join", [](auto& trigger) { trigger.max_pending_windows = 4'097; }),
       "error CONTRACT_PENDING_WINDOWS_INVALID at join: OnWindow keeps up to 4097 windows open. "
       "Fix: give OnWindow::max_pending_windows 1 to 4096\n"},
      {"OnClock without a period", ticking({.kind = Kind::kClock, .period_ns = 0}),
       "error CONTRACT_PERIOD_INVALID at a: a period of 0 ns never ticks. Fix: give OnClock a "
       "period of at least 1 ns\n"},
      {"OnClock with a negative phase",
       ticking({.kind = Kind::kClock, .period_ns = 5, .phase_ns = -1}),
       "error CONTRACT_PHASE_INVALID at a: a phase of -1 ns lies before the start. Fix: give "
       "OnClock a phase of 0 or more\n"},
      {"OnClock that counts from nowhere",
       ticking({.kind = Kind::kClock,
                .period_ns = 5,
                .phase_origin = static_cast<ClockPhaseOrigin>(2)}),
       "error CONTRACT_PHASE_INVALID at a: OnClock::origin is 2, which is outside its enum. Fix: "
       "use one of its enumerators\n"},
      {"a policy for a sample that is always there",
       changed(joined(kEachLeft),
               [](TestGraph& graph) {
                 graph.select("join.left", {.missing = Missing::kSafeDefault});
                 graph.select("join.right", {.selector = Selector::kDrainAll, .max_samples = 4});
               }),
       "error CONTRACT_PRESENCE_CONTRADICTED at join.left: OnEach runs with a fresh sample of this "
       "input only, so SafeDefault has nothing to replace. Fix: leave the policy out\n"},
      {"a policy that makes OnAnyInput wait for all",
       changed(joined({.kind = Kind::kAnyInput, .inputs = {0, 1}}),
               [](TestGraph& graph) { graph.select("join.left", {.missing = Missing::kFail}); }),
       "error CONTRACT_PRESENCE_CONTRADICTED at join.left: OnAnyInput runs with any of its inputs, "
       "Fail would make it wait for this one. Fix: use ReuseLast, SafeDefault or Absent, or a "
       "trigger that waits for it\n"},
      {"times that nothing can be matched with",
       changed(notified(0, {bell()}),
               [](TestGraph& graph) {
                 graph.op("c", {"x", "y"}, {}).readiness("c", bell());
                 graph.source("d").flow("a.out", "c.x").flow("d.out", "c.y");
                 graph.trigger("c", {.kind = Kind::kNotified, .source = 0});
                 graph.select("c.x", {.selector = Selector::kExact});
                 graph.select("c.y", {.selector = Selector::kBracketedWindow,
                                      .lookbehind_ns = 5,
                                      .max_samples = 4});
               }),
       "error CONTRACT_REFERENCE_MISSING at c.x: Exact matches capture times with that of the "
       "activation, but OnNotified has none of its own. Fix: use LatestWithin or DrainAll, or "
       "OnEach, OnClock, OnAligned or OnWindow\n"
       "error CONTRACT_REFERENCE_MISSING at c.y: BracketedWindow matches capture times with that "
       "of "
       "the activation, but OnNotified has none of its own. Fix: use LatestWithin or DrainAll, or "
       "OnEach, OnClock, OnAligned or OnWindow\n"},
      {"a sample that is never reused",
       beside({.selector = Selector::kLatestWithin,
               .max_age_ns = 5,
               .missing = Missing::kReuseLast,
               .max_reuses = 0}),
       "error CONTRACT_REUSES_INVALID at join.right: ReuseLast reuses a sample up to 0 times in a "
       "row. Fix: give ReuseLast::max_reuses 1 to 1000000\n"},
      {"a sample that is reused once too often",
       beside({.selector = Selector::kLatestWithin,
               .max_age_ns = 5,
               .missing = Missing::kReuseLast,
               .max_reuses = 1'000'001}),
       "error CONTRACT_REUSES_INVALID at join.right: ReuseLast reuses a sample up to 1000001 times "
       "in a row. Fix: give ReuseLast::max_reuses 1 to 1000000\n"},
      {"a batch of nothing", beside({.selector = Selector::kDrainAll, .max_samples = 0}),
       "error CONTRACT_SAMPLES_INVALID at join.right: DrainAll takes up to 0 samples at a time. "
       "Fix: give max_samples 1 to 65536\n"},
      {"a batch of one sample too many",
       beside({.selector = Selector::kBracketedWindow, .lookbehind_ns = 5, .max_samples = 65'537}),
       "error CONTRACT_SAMPLES_INVALID at join.right: BracketedWindow takes up to 65537 samples at "
       "a time. Fix: give max_samples 1 to 65536\n"},
      {"an input that is selected from twice",
       changed(beside({.selector = Selector::kDrainAll, .max_samples = 4}),
               [](TestGraph& graph) {
                 graph.select("join.right", {.selector = Selector::kLatestWithin, .max_age_ns = 0});
               }),
       "error CONTRACT_SELECTION_REPEATED at join.right: the contract selects from this input as "
       "DrainAll and as LatestWithin. Fix: select() from each input once\n"},
      {"a selector for the sample that triggers",
       changed(joined({.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = 5}),
               [](TestGraph& graph) {
                 graph.select("join.right", {.selector = Selector::kDrainAll, .max_samples = 0});
               }),
       "error CONTRACT_SELECTOR_CONTRADICTED at join.right: OnAligned takes the very sample that "
       "triggers, DrainAll would take others. Fix: select it as Exact, or leave the select() "
       "out\n"},
      {"an input beside OnEach", joined(kEachLeft),
       "error CONTRACT_SIDE_INPUT_UNSELECTED at join.right: OnEach does not wait for this input, "
       "and the contract does not say what to take from it. Fix: add .select(right, "
       "LatestWithin{.max_age = …}) or another selector to the Contract, or name the input in the "
       "trigger\n"},
      {"a trigger on a source of another kind, or on none",
       changed(notified(0, {{{.name = "fd", .kind = ReadinessSourceKind::kReadable}, {}}}),
               [](TestGraph& graph) {
                 graph.source("c").sink("d").flow("c.out", "d.in");
                 graph.trigger("c", {.kind = Kind::kSpin, .source = 3});
               }),
       "error CONTRACT_SOURCE_UNKNOWN at a: OnNotified names source number 0 of 1, which is not "
       "there or is of another kind. Fix: name a source of this operator that setup() declares\n"
       "error CONTRACT_SOURCE_UNKNOWN at c: OnSpin names source number 3 of 0, which is not there "
       "or is of another kind. Fix: name a source of this operator that setup() declares\n"
       "error CONTRACT_SOURCE_UNUSED at a source fd: setup() declares this source, but the "
       "operator's trigger is OnNotified and does not name it. Fix: name it in the trigger, or do "
       "not declare it\n"},
      {"a second source", notified(1, {bell(), bell()}),
       "error CONTRACT_SOURCE_UNUSED at a source bell: setup() declares this source, but the "
       "operator's trigger is OnNotified and does not name it. Fix: name it in the trigger, or do "
       "not declare it\n"},
      {"a start delay of nothing",
       ticking({.kind = Kind::kClock, .period_ns = 5, .max_start_delay_ns = 0}),
       "error CONTRACT_START_DELAY_INVALID at a: no activation starts within 0 ns. Fix: give "
       "Contract::max_start_delay() at least 1 ns\n"},
      {"a violation that does nothing known",
       ticking({.kind = Kind::kClock,
                .period_ns = 5,
                .max_start_delay_ns = 1,
                .on_violation = static_cast<OnViolation>(3)}),
       "error CONTRACT_START_DELAY_INVALID at a: OnViolation is 3, which is outside its enum. Fix: "
       "use one of its enumerators\n"},
      {"OnAligned with a negative window",
       joined({.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = -5}),
       "error CONTRACT_WINDOW_INVALID at join: a window of -5 ns admits no samples. Fix: give "
       "OnAligned a window of 0 or more\n"},
  };
}

}  // namespace weftline
