// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/random_contract.hpp"

#include <algorithm>
#include <array>

namespace weftline::testing {
namespace {

using Kind = TemporalRecordTriggerKind;
using Missing = MissingDataKind;
using Selector = InputSelectorKind;

std::int64_t below(std::mt19937& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(limit));
}

bool waits_for_source(Kind kind) {
  return kind == Kind::kReadable || kind == Kind::kNotified || kind == Kind::kDoorbell ||
         kind == Kind::kSpin;
}

/// Its reference is a time of its own, which samples can be matched with.
bool has_reference(Kind kind) {
  return kind == Kind::kEach || kind == Kind::kClock || kind == Kind::kAligned ||
         kind == Kind::kWindow;
}

void take_source(Kind kind, RandomContract& contract, std::mt19937& random) {
  SourcePlanRecord source{.name = "source", .clock = ClockId{0}};
  switch (kind) {
    case Kind::kNotified:
      source.kind = ReadinessSourceKind::kNotification;
      source.capacity = 1 + static_cast<std::uint32_t>(random() % 4);
      source.sender_reference_capacity = 1;
      break;
    case Kind::kReadable:
      source.kind = ReadinessSourceKind::kReadable;
      break;
    case Kind::kDoorbell:
      source.kind = ReadinessSourceKind::kDoorbell;
      break;
    default:
      source.kind = ReadinessSourceKind::kSpin;
      source.wake_requirement = ReadinessWakeRequirement::kBusyPollRequired;
      break;
  }
  contract.sources.push_back(std::move(source));
}

void take_policy(EdgeSelectionRecord& selection, std::mt19937& random) {
  if (selection.missing == Missing::kReuseLast) {
    selection.max_reuses = 1 + static_cast<std::uint32_t>(random() % 3);
    selection.reuse_cache = selection.max_selected_samples;
  }
}

EdgeSelectionRecord side_selection(Kind kind, std::mt19937& random) {
  EdgeSelectionRecord side{.triggering = false, .reference_clock = ClockId{0}};
  std::vector selectors{Selector::kLatestWithin, Selector::kDrainAll};
  if (has_reference(kind)) {
    selectors.push_back(Selector::kExact);
    selectors.push_back(Selector::kBracketedWindow);
  }
  side.selector = selectors[random() % selectors.size()];
  // A window without a bracket has nothing to wait for, and is not what it is made for.
  if (kind == Kind::kWindow && random() % 4 != 0) side.selector = Selector::kBracketedWindow;
  switch (side.selector) {
    case Selector::kExact:
      break;
    case Selector::kLatestWithin:
      side.max_age_ns = 1 + below(random, 12);
      side.selector_cache = 1;
      break;
    case Selector::kDrainAll:
      side.max_selected_samples = 1 + static_cast<std::uint32_t>(random() % 5);
      side.cardinality = SelectionCardinality::kBatch;
      side.selector_cache = side.max_selected_samples;
      break;
    case Selector::kBracketedWindow:
      side.lookbehind_ns = 1 + below(random, 15);
      side.lookahead_ns = kind == Kind::kWindow ? below(random, 8) : 0;
      side.max_selected_samples = 1 + static_cast<std::uint32_t>(random() % 6);
      side.cardinality = SelectionCardinality::kBatch;
      side.selector_cache = side.max_selected_samples + 1;
      break;
  }
  constexpr std::array kPolicies{Missing::kSkip,        Missing::kReuseLast, Missing::kReuseLast,
                                 Missing::kSafeDefault, Missing::kAbsent,    Missing::kAbsent};
  side.missing = random() % 40 == 0 ? Missing::kFail : kPolicies[random() % kPolicies.size()];
  // A candidate that is skipped does not lower a level: it would come again at once, and for ever.
  if (kind == Kind::kReadable) side.missing = Missing::kAbsent;
  take_policy(side, random);
  return side;
}

EdgeSelectionRecord triggering_selection(Kind kind, std::uint32_t inputs, std::mt19937& random) {
  EdgeSelectionRecord selection{.reference_clock = ClockId{0}};
  if (kind != Kind::kAnyInput || inputs < 2 || random() % 2 == 0) return selection;
  constexpr std::array kPolicies{Missing::kReuseLast, Missing::kSafeDefault, Missing::kAbsent};
  selection.missing = kPolicies[random() % kPolicies.size()];
  take_policy(selection, random);
  return selection;
}

}  // namespace

RandomContract random_contract(std::mt19937& random) {
  constexpr std::array kKinds{Kind::kAnyInput, Kind::kEach,     Kind::kClock,
                              Kind::kReadable, Kind::kNotified, Kind::kDoorbell,
                              Kind::kSpin,     Kind::kAligned,  Kind::kWindow};
  const Kind kind = kKinds[random() % kKinds.size()];
  RandomContract contract;
  TemporalTriggerPlanRecord& trigger = contract.trigger;
  trigger.kind = kind;
  trigger.reference_clock = ClockId{0};
  auto inputs = static_cast<std::uint32_t>(random() % 4);
  if (kind == Kind::kEach || kind == Kind::kAnyInput) inputs = std::max(inputs, 1U);
  if (kind == Kind::kAligned || kind == Kind::kWindow) inputs = std::max(inputs, 2U);

  std::uint32_t triggering = 0;
  if (kind == Kind::kEach || kind == Kind::kWindow) triggering = 1;
  if (kind == Kind::kAnyInput) triggering = inputs;
  if (kind == Kind::kAligned) {
    triggering = 2 + static_cast<std::uint32_t>(random() % (inputs - 1));
  }
  for (std::uint32_t port = 0; port < triggering; ++port) trigger.inputs.push_back(port);
  if (kind == Kind::kClock) {
    trigger.clock = ClockId{0};
    trigger.period_ns = 1 + below(random, 9);
    trigger.phase_ns = below(random, 9);
    if (random() % 2 == 0) trigger.phase_origin = ClockPhaseOrigin::kExplicitAbsolute;
  }
  if (kind == Kind::kAligned) trigger.window_ns = below(random, 6);
  if (kind == Kind::kWindow) {
    trigger.clock = ClockId{0};
    trigger.max_wait_ns = 1 + below(random, 30);
    trigger.max_pending_windows = 1 + static_cast<std::uint32_t>(random() % 3);
  }
  if (waits_for_source(kind)) take_source(kind, contract, random);

  for (std::uint32_t port = 0; port < inputs; ++port) {
    contract.selections.push_back(port < triggering ? triggering_selection(kind, inputs, random)
                                                    : side_selection(kind, random));
  }
  if (kind == Kind::kWindow) contract.selections[0].pending_cache = trigger.max_pending_windows;
  for (EdgeSelectionRecord& each : contract.selections) {
    each.cache_capacity = each.selector_cache + each.reuse_cache + each.pending_cache;
  }
  return contract;
}

}  // namespace weftline::testing
