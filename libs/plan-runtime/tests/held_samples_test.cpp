// SPDX-License-Identifier: Apache-2.0
//
// Samples that an input holds outside its queue.
#include <catch2/catch_test_macros.hpp>

#include "temporal_replay.hpp"

using namespace weftline;
using replay::Replay;

namespace {

EdgeSelectionRecord anchor(std::uint32_t open) {
  return {.reference_clock = ClockId{0}, .cache_capacity = open, .pending_cache = open};
}
EdgeSelectionRecord bracket(std::int64_t lookbehind_ns = 10) {
  return {.selector = InputSelectorKind::kBracketedWindow,
          .triggering = false,
          .lookbehind_ns = lookbehind_ns,
          .lookahead_ns = 10,
          .missing = MissingDataKind::kAbsent,
          .max_selected_samples = 4,
          .cardinality = SelectionCardinality::kBatch,
          .reference_clock = ClockId{0},
          .cache_capacity = 5,
          .selector_cache = 5};
}
TemporalTriggerPlanRecord window(std::uint32_t open) {
  TemporalTriggerPlanRecord trigger;
  trigger.kind = TemporalRecordTriggerKind::kWindow;
  trigger.inputs = {0};
  trigger.clock = ClockId{0};
  trigger.max_wait_ns = 1'000;
  trigger.max_pending_windows = open;
  return trigger;
}

}  // namespace

TEST_CASE("what is held for an activation that never comes is counted as passed over, once") {
  Replay replay(window(2), {}, {anchor(2), bracket()});
  replay.start();
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    replay.arrive(0, {sample, 20 + static_cast<std::int64_t>(sample)});
    replay.arrive(1, {sample, 12 + static_cast<std::int64_t>(sample)});
  }
  // The first anchor only primes; nothing lies beyond the others' windows yet.
  REQUIRE_FALSE(replay.next());
  CHECK(replay.inputs()[0].passed_over() == 1);
  CHECK(replay.inputs()[1].passed_over() == 0);
  for (int time = 0; time < 2; ++time) {
    for (const auto& input : replay.inputs().all()) input->clear();
    CHECK(replay.inputs()[0].passed_over() == 3);
    CHECK(replay.inputs()[1].passed_over() == 3);
  }
}

TEST_CASE("what an activation has had is not counted as passed over when it is dropped") {
  Replay replay(window(1), {}, {anchor(1), bracket()});
  replay.start();
  for (std::uint64_t sample = 0; sample < 2; ++sample) replay.arrive(0, {sample, 20});
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    replay.arrive(1, {sample, 10 * (1 + static_cast<std::int64_t>(sample))});
  }
  const auto activation = replay.next();
  REQUIRE(activation.has_value());
  CHECK(activation->inputs[1].sequences == std::vector<std::uint64_t>{0, 1, 2});
  for (const auto& input : replay.inputs().all()) input->clear();
  CHECK(replay.inputs()[0].passed_over() == 1);
  CHECK(replay.inputs()[1].passed_over() == 0);
}

TEST_CASE("a window has nothing from beyond its end, though the one before it reached farther") {
  Replay replay(window(2), {}, {anchor(2), bracket(30)});
  replay.start();
  std::uint64_t sequence = 0;
  for (const std::int64_t capture_ns : {30, 40, 38}) replay.arrive(0, {sequence++, capture_ns});
  sequence = 0;
  for (const std::int64_t capture_ns : {5, 15, 45, 50}) replay.arrive(1, {sequence++, capture_ns});
  const auto first = replay.next();
  REQUIRE(first.has_value());
  CHECK(first->inputs[1].sequences == std::vector<std::uint64_t>{1, 2, 3});
  const auto second = replay.next();
  REQUIRE(second.has_value());
  CHECK(second->inputs[1].sequences == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("the latest sample is none from beyond the reference, though an earlier one had it") {
  Replay replay({.kind = TemporalRecordTriggerKind::kEach, .inputs = {0}}, {},
                {{},
                 {.selector = InputSelectorKind::kLatestWithin,
                  .triggering = false,
                  .max_age_ns = 10,
                  .missing = MissingDataKind::kAbsent,
                  .reference_clock = ClockId{0},
                  .cache_capacity = 1,
                  .selector_cache = 1}});
  replay.start();
  std::uint64_t sequence = 0;
  for (const std::int64_t capture_ns : {40, 38, 41}) replay.arrive(0, {sequence++, capture_ns});
  replay.arrive(1, {7, 39});
  const auto sees = [&](std::vector<std::uint64_t> wanted) {
    const auto activation = replay.next();
    REQUIRE(activation.has_value());
    CHECK(activation->inputs[1].sequences == wanted);
  };
  sees({7});
  sees({});
  sees({7});
}
