// SPDX-License-Identifier: Apache-2.0
//
// The reference models, on traces that were worked out by hand.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <vector>

#include "weftline/testing/operator_model.hpp"

using namespace weftline;
using testing::BracketedWindowModel;
using testing::DrainAllModel;
using testing::ExactModel;
using testing::LatestWithinModel;
using testing::MissingModel;
using testing::ModelActivation;
using testing::ModelInput;
using testing::ModelSample;
using testing::ModelSelection;
using testing::OperatorModel;

namespace {

using Kind = TemporalRecordTriggerKind;
using Selector = InputSelectorKind;
using Missing = MissingDataKind;
using Numbers = std::vector<std::uint64_t>;

/// Samples numbered from `first`, captured at the given times.
ModelInput input_of(std::initializer_list<std::int64_t> captures, std::uint64_t first = 0) {
  ModelInput input;
  for (const std::int64_t capture : captures) input.waiting.push_back({first++, capture});
  return input;
}

Numbers numbers(const std::vector<ModelSample>& samples) {
  Numbers list;
  for (const ModelSample& sample : samples) list.push_back(sample.sequence);
  return list;
}

Numbers waiting(const ModelInput& input) {
  Numbers list;
  for (const ModelSample& sample : input.waiting) list.push_back(sample.sequence);
  return list;
}

/// An operator whose inputs all trigger.
OperatorModel triggered(TemporalTriggerPlanRecord trigger, std::size_t inputs) {
  return {trigger, {}, std::vector<EdgeSelectionRecord>(inputs)};
}

ModelSelection selected(Numbers sequences) { return {InputState::kSelected, std::move(sequences)}; }
const ModelSelection kNothing{};

/// An operator with a triggering input 0 and a side input 1.
OperatorModel with_side(TemporalTriggerPlanRecord trigger, EdgeSelectionRecord side) {
  side.triggering = false;
  return {trigger, {}, {EdgeSelectionRecord{}, side}};
}

const TemporalTriggerPlanRecord kEach0{.kind = Kind::kEach, .inputs = {0}};

}  // namespace

TEST_CASE(
    "OnEach: one activation for each sample, when it came, with its capture time as reference") {
  OperatorModel model = triggered(kEach0, 1);
  CHECK_FALSE(model.next());
  model.advance(90);
  model.arrive(0, {0, 70});
  model.advance(95);
  model.arrive(0, {1, {}});
  model.advance(100);
  auto activation = model.next();
  REQUIRE(activation);
  CHECK(activation->activation_ns == 90);
  CHECK(activation->reference_ns == 70);
  CHECK(activation->inputs == std::vector{selected({0})});
  activation = model.next();
  REQUIRE(activation);
  CHECK(activation->activation_ns == 95);
  CHECK(activation->reference_ns == 95);
  model.end(0);
  CHECK_FALSE(model.next());
  CHECK(model.finished());
}

TEST_CASE("OnAnyInput: takes each head that is there, and ends with the last input") {
  OperatorModel model = triggered({.kind = Kind::kAnyInput, .inputs = {0, 1}}, 2);
  model.arrive(0, {0, {}});
  model.arrive(0, {1, {}});
  model.arrive(1, {5, {}});
  CHECK(model.next()->inputs == std::vector{selected({0}), selected({5})});
  CHECK(model.next()->inputs == std::vector{selected({1}), kNothing});
  CHECK_FALSE(model.next());
  model.end(0);
  CHECK_FALSE(model.finished());
  model.end(1);
  CHECK(model.finished());
}

TEST_CASE("OnAnyInput: an input without a sample follows its policy") {
  OperatorModel model(
      {.kind = Kind::kAnyInput, .inputs = {0, 1, 2}}, {},
      {{}, {.missing = Missing::kReuseLast, .max_reuses = 1}, {.missing = Missing::kAbsent}});
  model.arrive(0, {0, {}});
  CHECK_FALSE(model.next());  // there is nothing to reuse
  CHECK(model.skips() == 1);
  model.arrive(1, {9, {}});
  CHECK(model.next()->inputs == std::vector{kNothing, selected({9}), {InputState::kAbsent, {}}});
  model.arrive(0, {1, {}});
  CHECK(model.next()->inputs[1] == ModelSelection{InputState::kReused, {9}});
  model.arrive(0, {2, {}});
  CHECK_FALSE(model.next());  // reused once already
  CHECK(model.skips() == 2);
}

TEST_CASE("OnClock: ticks that were missed are one, which knows the first and the last") {
  OperatorModel model = triggered({.kind = Kind::kClock, .period_ns = 10, .phase_ns = 3}, 0);
  model.start(100);
  model.advance(102);
  CHECK_FALSE(model.next());
  model.advance(103);
  CHECK(model.next()->activation_ns == 103);
  CHECK_FALSE(model.next());
  model.advance(142);
  const auto late = model.next();
  REQUIRE(late);
  CHECK(late->first_tick_ns == 113);
  CHECK(late->activation_ns == 133);
  CHECK(late->reference_ns == 133);
  CHECK(model.coalesced_ticks() == 2);
  CHECK_FALSE(model.next());
  model.advance(143);
  CHECK(model.next()->activation_ns == 143);
  CHECK_FALSE(model.finished());
}

TEST_CASE("OnClock: an absolute phase begins at the first of its ticks not before the start") {
  const auto first_tick = [](std::int64_t phase, std::int64_t start) {
    OperatorModel model = triggered({.kind = Kind::kClock,
                                     .period_ns = 10,
                                     .phase_ns = phase,
                                     .phase_origin = ClockPhaseOrigin::kExplicitAbsolute},
                                    0);
    model.start(start);
    model.advance(start + 9);
    return model.next()->first_tick_ns;
  };
  CHECK(first_tick(3, 100) == 103);
  CHECK(first_tick(3, 103) == 103);
  CHECK(first_tick(3, 104) == 113);
  CHECK(first_tick(503, 100) == 103);
  CHECK(first_tick(-7, 100) == 103);
}

TEST_CASE(
    "OnAligned: the spread is inclusive, the oldest head goes, and only heads are looked at") {
  OperatorModel model = triggered({.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = 5}, 2);
  for (std::uint64_t i = 0; const std::int64_t capture : {0, 10, 20})
    model.arrive(0, {i++, capture});
  for (std::uint64_t i = 0; const std::int64_t capture : {5, 16, 19})
    model.arrive(1, {i++, capture});
  auto activation = model.next();
  REQUIRE(activation);  // 0 and 5 are 5 apart
  CHECK(activation->inputs == std::vector{selected({0}), selected({0})});
  CHECK(activation->reference_ns == 5);
  activation = model.next();  // 10 and 16 are not: 10 goes, though 16 and 19 would wait for it
  REQUIRE(activation);
  CHECK(activation->inputs == std::vector{selected({2}), selected({1})});
  CHECK(model.drops() == 1);
  CHECK_FALSE(model.next());
  model.end(0);
  CHECK(model.finished());
}

TEST_CASE("OnAligned: a sample without a capture time fails the run") {
  OperatorModel model = triggered({.kind = Kind::kAligned, .inputs = {0, 1}}, 2);
  model.arrive(0, {0, 4});
  CHECK_FALSE(model.next());
  CHECK(model.failure().empty());
  model.arrive(1, {0, {}});
  CHECK_FALSE(model.next());
  CHECK_FALSE(model.failure().empty());
}

namespace {

OperatorModel window(std::uint32_t pending, Missing missing = Missing::kSkip) {
  return with_side(
      {.kind = Kind::kWindow, .inputs = {0}, .max_wait_ns = 50, .max_pending_windows = pending},
      {.selector = Selector::kBracketedWindow,
       .lookbehind_ns = 10,
       .lookahead_ns = 2,
       .missing = missing,
       .max_selected_samples = 8});
}

}  // namespace

TEST_CASE("OnWindow: the first anchor primes, later ones wait for what lies ahead of them") {
  OperatorModel model = window(4);
  for (std::uint64_t i = 0; const std::int64_t capture : {88, 92, 96, 100}) {
    model.arrive(1, {i++, capture});
  }
  model.arrive(0, {0, 90});
  model.advance(90);
  CHECK_FALSE(model.next());
  model.arrive(0, {1, 100});
  model.advance(100);
  CHECK_FALSE(model.next());  // a sample at 102 or beyond is missing
  model.arrive(1, {4, 102});
  const auto activation = model.next();
  REQUIRE(activation);
  CHECK(activation->reference_ns == 100);
  CHECK(activation->inputs == std::vector{selected({1}), selected({1, 2, 3, 4})});
  model.end(0);
  CHECK_FALSE(model.next());
  CHECK(model.finished());
}

TEST_CASE("OnWindow: a wait that is over makes the window run with what there is") {
  for (const Missing missing : {Missing::kSkip, Missing::kSafeDefault}) {
    OperatorModel model = window(4, missing);
    model.arrive(0, {0, 90});
    model.arrive(0, {1, 100});
    model.advance(100);
    CHECK_FALSE(model.next());
    model.advance(149);
    CHECK_FALSE(model.next());
    CHECK(model.skips() == 0);
    model.advance(150);
    const auto activation = model.next();
    CHECK(activation.has_value() == (missing == Missing::kSafeDefault));
    CHECK(model.skips() == (missing == Missing::kSkip ? 1 : 0));
    if (activation) CHECK(activation->inputs[1] == ModelSelection{InputState::kSafeDefault, {}});
  }
}

TEST_CASE("OnWindow: no more windows are open than may be; later anchors start to wait later") {
  OperatorModel model = window(2, Missing::kAbsent);
  for (std::uint64_t i = 0; const std::int64_t capture : {90, 100, 110, 120}) {
    model.arrive(0, {i++, capture});
  }
  CHECK_FALSE(model.next());  // takes the anchors at 100 and 110
  model.advance(50);
  std::vector<std::int64_t> references;
  for (auto activation = model.next(); activation; activation = model.next()) {
    references.push_back(activation->reference_ns);
  }
  CHECK(references == std::vector<std::int64_t>{100, 110});
  model.advance(99);
  CHECK_FALSE(model.next());
  model.advance(100);
  CHECK(model.next()->reference_ns == 120);
}

TEST_CASE("OnWindow: inputs that have ended are waited for no longer, anchors need a time") {
  OperatorModel model = window(2, Missing::kAbsent);
  model.arrive(0, {0, 90});
  model.arrive(0, {1, 100});
  CHECK_FALSE(model.next());
  model.end(1);
  CHECK(model.next()->reference_ns == 100);
  model.arrive(0, {2, {}});
  CHECK_FALSE(model.next());
  CHECK_FALSE(model.failure().empty());
}

TEST_CASE("OnNotified: each notification is one activation, one beyond the capacity is refused") {
  OperatorModel model({.kind = Kind::kNotified, .source = 1}, {{}, {.capacity = 2}}, {});
  CHECK_FALSE(model.next());
  CHECK(model.notify());
  CHECK(model.notify());
  CHECK_FALSE(model.notify());
  model.advance(7);
  CHECK(model.next()->activation_ns == 7);
  CHECK(model.notify());
  CHECK(model.next());
  CHECK(model.next());
  CHECK_FALSE(model.next());
  CHECK_THROWS_AS(model.poll(true), std::invalid_argument);
}

TEST_CASE("OnReadable: a level makes no queue") {
  OperatorModel model({.kind = Kind::kReadable}, {{}}, {});
  model.set_readable(true);
  model.set_readable(true);
  CHECK(model.next());
  CHECK_FALSE(model.next());  // looks again first
  model.set_readable(true);
  CHECK(model.next());
  model.set_readable(false);
  CHECK_FALSE(model.next());
}

TEST_CASE("OnDoorbell: rings between two activations are one, and the count never goes back") {
  OperatorModel model({.kind = Kind::kDoorbell}, {{}}, {});
  model.ring(3);
  model.ring(7);
  CHECK(model.next());
  CHECK_FALSE(model.next());
  model.ring(7);
  model.ring(5);
  CHECK_FALSE(model.next());
  model.ring(8);
  CHECK(model.next());
}

TEST_CASE("OnSpin: only the edge from false to true counts, and edges coalesce") {
  OperatorModel model({.kind = Kind::kSpin}, {{}}, {});
  model.poll(true);
  CHECK_FALSE(model.next());
  model.poll(false);
  model.poll(true);
  model.poll(false);
  model.poll(true);
  CHECK(model.next());
  CHECK_FALSE(model.next());
  model.poll(true);
  CHECK_FALSE(model.next());
}

TEST_CASE("Exact: the sample of that very time; older ones go, younger ones wait") {
  ExactModel model;
  ModelInput input = input_of({10, 20, 30});
  CHECK(numbers(model.select(input, 20)) == Numbers{1});
  CHECK(waiting(input) == Numbers{2});
  CHECK(model.select(input, 29).empty());
  CHECK(waiting(input) == Numbers{2});
  CHECK(model.select(input, 31).empty());
  CHECK(waiting(input).empty());
  CHECK(model.most_held() == 0);
}

TEST_CASE("LatestWithin: the age is inclusive, the sample causal, and it stays") {
  LatestWithinModel model(5);
  ModelInput input = input_of({10, 20, 30});
  CHECK(numbers(model.select(input, 25)) == Numbers{1});
  CHECK(waiting(input) == Numbers{2});
  CHECK(model.select(input, 26).empty());
  CHECK(numbers(model.select(input, 30)) == Numbers{2});
  CHECK(numbers(model.select(input, 35)) == Numbers{2});
  CHECK(model.select(input, 36).empty());
  CHECK(model.most_held() == 1);
  ModelInput untimed;
  untimed.waiting.push_back({});
  CHECK(model.select(untimed, 0).empty());
  CHECK_FALSE(model.failure().empty());
}

TEST_CASE("LatestWithin: of samples out of order the newest counts") {
  LatestWithinModel model(100);
  ModelInput input = input_of({30, 10});
  CHECK(numbers(model.select(input, 40)) == Numbers{0});
}

TEST_CASE("DrainAll: all that wait, in order, with or without a time, up to the largest batch") {
  DrainAllModel model(2);
  ModelInput input = input_of({30, 10});
  input.waiting.push_back({2, {}});
  CHECK(numbers(model.select(input, 0)) == Numbers{0, 1});
  CHECK(numbers(model.select(input, 0)) == Numbers{2});
  CHECK(model.select(input, 0).empty());
  CHECK(model.failure().empty());
  CHECK(model.most_held() == 2);
}

TEST_CASE("BracketedWindow: both ends are inclusive, and all or nothing") {
  const auto taken = [](std::initializer_list<std::int64_t> captures, std::size_t most = 8) {
    BracketedWindowModel model(10, 5, most);
    ModelInput input = input_of(captures);
    return numbers(model.select(input, 100));
  };
  CHECK(taken({85, 92, 99, 104, 106}) == Numbers{1, 2, 3});
  CHECK(taken({90, 92, 105}) == Numbers{0, 1, 2});
  CHECK(taken({91, 99, 106}).empty());      // does not reach back to 90
  CHECK(taken({85, 92, 99, 104}).empty());  // does not reach on to 105
  CHECK(taken({85, 106}).empty());          // nothing inside
  CHECK(taken({85, 92, 99, 104, 106}, 3) == Numbers{1, 2, 3});
  CHECK(taken({85, 92, 99, 104, 106}, 2).empty());
}

TEST_CASE("BracketedWindow: windows overlap, and no more is held than the window and one before") {
  BracketedWindowModel model(10, 0, 3);
  ModelInput input = input_of({80, 90, 95, 100, 105, 110});
  CHECK(numbers(model.select(input, 100)) == Numbers{1, 2, 3});
  CHECK(numbers(model.select(input, 105)) == Numbers{2, 3, 4});
  CHECK(model.select(input, 200).empty());
  input.ended = true;
  CHECK(model.select(input, 210).empty());
  CHECK(model.most_held() <= 4);
}

TEST_CASE("what is missing follows its policy, and reuse is bounded") {
  const auto outcome = [](MissingModel& model, std::vector<ModelSample> samples) {
    ModelSelection found;
    const auto what = model.apply(samples, found);
    return std::pair(what, found);
  };
  using Outcome = MissingModel::Outcome;
  MissingModel skip(Missing::kSkip, 0);
  CHECK(outcome(skip, {}).first == Outcome::kSkip);
  CHECK(outcome(skip, {{7, {}}}).second == selected({7}));
  MissingModel fails(Missing::kFail, 0);
  CHECK(outcome(fails, {}).first == Outcome::kFail);
  MissingModel safe(Missing::kSafeDefault, 0);
  CHECK(outcome(safe, {}) ==
        std::pair(Outcome::kRun, ModelSelection{InputState::kSafeDefault, {}}));
  MissingModel absent(Missing::kAbsent, 0);
  CHECK(outcome(absent, {}) == std::pair(Outcome::kRun, ModelSelection{InputState::kAbsent, {}}));
  MissingModel reuse(Missing::kReuseLast, 2);
  CHECK(outcome(reuse, {}).first == Outcome::kSkip);
  CHECK(outcome(reuse, {{7, {}}, {8, {}}}).second == selected({7, 8}));
  CHECK(outcome(reuse, {}).second == ModelSelection{InputState::kReused, {7, 8}});
  CHECK(outcome(reuse, {}).second == ModelSelection{InputState::kReused, {7, 8}});
  CHECK(outcome(reuse, {}).first == Outcome::kSkip);
  CHECK(outcome(reuse, {{9, {}}}).second == selected({9}));
  CHECK(outcome(reuse, {}).second == ModelSelection{InputState::kReused, {9}});
}

TEST_CASE("a candidate that is skipped counts as no reuse") {
  EdgeSelectionRecord reused{.selector = Selector::kDrainAll,
                             .triggering = false,
                             .missing = Missing::kReuseLast,
                             .max_reuses = 1,
                             .max_selected_samples = 4};
  EdgeSelectionRecord needed = reused;
  needed.missing = Missing::kSkip;
  OperatorModel model(kEach0, {}, {{}, reused, needed});
  std::uint64_t number = 0;
  const auto trigger = [&](bool need) {
    model.arrive(0, {number++, 1});
    if (need) model.arrive(2, {50, 1});
    return model.next();
  };
  model.arrive(1, {40, 1});
  CHECK(trigger(true)->inputs[1] == selected({40}));
  CHECK_FALSE(trigger(false));
  CHECK(trigger(true)->inputs[1] == ModelSelection{InputState::kReused, {40}});
  CHECK_FALSE(trigger(true));
  CHECK(model.skips() == 2);
}

TEST_CASE("a camera at 60 Hz drains a thousand samples a second without losing one") {
  OperatorModel model = with_side(
      kEach0,
      {.selector = Selector::kDrainAll, .missing = Missing::kAbsent, .max_selected_samples = 34});
  std::uint64_t imu = 0;
  std::uint64_t seen = 0;
  for (std::uint64_t frame = 1; frame <= 60; ++frame) {
    for (; imu * 60 < frame * 1'000; ++imu) {
      model.arrive(1, {imu, static_cast<std::int64_t>(imu) * 1'000'000});
    }
    model.arrive(0, {frame, static_cast<std::int64_t>(frame * 1'000'000'000 / 60)});
    const auto activation = model.next();
    REQUIRE(activation);
    for (const std::uint64_t sequence : activation->inputs[1].sequences) CHECK(sequence == seen++);
  }
  CHECK(seen == 1'000);
  CHECK(model.most_held(1) == 17);
}

TEST_CASE("an operator ends after as many calls as it may have; skips are none") {
  OperatorModel model({.kind = Kind::kNotified, .complete_after_computes = 2}, {{.capacity = 9}},
                      {});
  for (int i = 0; i < 3; ++i) CHECK(model.notify());
  CHECK(model.next());
  CHECK_FALSE(model.finished());
  CHECK(model.next());
  CHECK(model.finished());
  CHECK_FALSE(model.next());
}

TEST_CASE("a start is late beyond its limit, and the policy says what follows") {
  const auto status = [](OnViolation violation, std::int64_t started) {
    return testing::start_status({std::chrono::nanoseconds(5), violation}, 100, started);
  };
  CHECK(status(OnViolation::kFailRun, 105) == ActivationStatus::kOnTime);
  CHECK(status(OnViolation::kReport, 106) == ActivationStatus::kLate);
  CHECK(status(OnViolation::kDegrade, 106) == ActivationStatus::kLateDegraded);
  CHECK_FALSE(status(OnViolation::kFailRun, 106));
}
