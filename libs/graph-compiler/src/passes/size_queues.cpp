// SPDX-License-Identifier: Apache-2.0
//
// Needs: edges with their selections, outputs, rates, horizons.
// Adds: the depth of every queue, with its recipe and the contributors of its hard floor; errors
// for depths that can't work, warnings for given depths that rates and contract say are short.
//
// A depth that the author gives is exact. Otherwise, where a rate and a finite horizon are known,
// the queue holds what arrives over the horizon, times the headroom. Where they are not, it holds
// two activations' worth of its producer, so that one can be received while the next is emitted,
// and at least 4.
// A blocking queue can't be shallower than one activation's worth: emission is all or nothing, so
// such an activation would never find room. A drop-oldest queue may be: it makes its own room.
// Where a selector leaves the first sample beyond its reference at the head of the queue, that one
// is there besides: else an output that feeds both a trigger and a side input could wait for ever.
//
// Legs of a fork that meet again need no depth of their own. An input-driven operator runs only
// when its outputs have room, so what a leg holds moves on by itself until it reaches the meeting
// operator; a full short leg holds back the fork, never the longer leg. That counts on a leg that
// emits for what it takes: one that thins out its samples needs, on the leg beside it, a depth for
// as many samples as it swallows. Rates and a follows() ratio tell how many; else only the author.

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "passes/passes.hpp"
#include "weftline/plan/queue_sizing.hpp"

namespace weftline::passes {
namespace {

constexpr std::uint64_t kMinimumDefaultDepth = 4;

/// At least 1, so that a recommendation covers the arrivals that it is made from.
Rational headroom_of(CompileState& state) {
  const RateRatio stated = state.options.automatic_queue_sizing.headroom_ratio;
  const auto ratio = stated.as_rational();
  if (ratio && *ratio >= Rational::one()) return *ratio;
  state.error("QUEUE_HEADROOM_INVALID", "automatic_queue_sizing",
              "the headroom ratio is " + std::to_string(stated.numerator) + "/" +
                  std::to_string(stated.denominator),
              "set CompileOptions::automatic_queue_sizing.headroom_ratio to 1/1 or more");
  return Rational::one();
}

/// What stays at the head of a queue between activations.
std::optional<HardFloorReason> retention(const EdgeSelectionRecord& selection) {
  if (selection.triggering || selection.origin != TemporalRecordOrigin::kAuthored) return {};
  switch (selection.selector) {
    case InputSelectorKind::kExact:
    case InputSelectorKind::kLatestWithin:
      return HardFloorReason::kSelectorRetention;
    case InputSelectorKind::kBracketedWindow:
      return HardFloorReason::kWindowRetention;
    case InputSelectorKind::kDrainAll:
      return {};
  }
  return {};
}

std::uint64_t hard_floor(CompileState& state, const PayloadEdgePlanRecord& edge) {
  auto& contributors = state.plan.hard_floor_contributors;
  const std::size_t first = contributors.size();
  contributors.push_back(
      {.edge = edge.edge, .reason = HardFloorReason::kMinimumQueue, .entries = 1});
  if (edge.queue_policy == QueuePolicy::kBlocking) {
    contributors.push_back({.edge = edge.edge,
                            .reason = HardFloorReason::kProducerBurst,
                            .entries = state.output(edge.source).max_emits_per_compute});
    if (const auto reason = retention(state.plan.edge_selections[edge.edge.value])) {
      contributors.push_back({.edge = edge.edge, .group = 1, .reason = *reason, .entries = 1});
    }
  }
  return compose_hard_floor(std::span(contributors).subspan(first));
}

/// What the rates recommend, as far as the evidence goes.
QueueSizingRecipeRecord recommend(CompileState& state, const PayloadEdgePlanRecord& edge,
                                  Rational headroom) {
  const PortRatePlanRecord& rate = *state.plan.input_rate(edge.target);
  const auto& horizon = state.plan.accumulation_horizons[edge.edge.value].seconds;
  QueueSizingRecipeRecord recipe{.edge = edge.edge,
                                 .rate_basis = rate.basis,
                                 .rate = rate.nominal,
                                 .maximum_rate = rate.maximum,
                                 .horizon = horizon,
                                 .headroom = headroom,
                                 .hard_floor = hard_floor(state, edge)};
  if (rate.basis == PortRateBasis::kUnresolved) {
    recipe.evidence = QueueSizingEvidence::kRateUnresolved;
  } else if (!rate.nominal && (rate.kind == PortRateKind::kUnspecified || horizon)) {
    recipe.evidence = QueueSizingEvidence::kRateUndeclared;
  } else if (!rate.nominal || !horizon) {
    recipe.evidence = QueueSizingEvidence::kHorizonAbsent;
  } else if (!rate.maximum) {
    recipe.evidence = QueueSizingEvidence::kRateWithoutMaximum;
  } else {
    const auto active = size_queue(*rate.nominal, *horizon, headroom, recipe.hard_floor);
    const auto admitted = size_queue(*rate.maximum, *horizon, headroom, recipe.hard_floor);
    recipe.evidence =
        active && admitted ? QueueSizingEvidence::kSufficient : QueueSizingEvidence::kSizeOverflow;
    if (active && admitted) {
      recipe.nominal_arrivals = active->nominal_arrivals;
      recipe.recommendation = active->recommendation;
      recipe.admitted_ceiling = admitted->depth;
    }
  }
  return recipe;
}

/// 0, which is no depth, for a number beyond 32 bits.
std::uint32_t narrow(std::uint64_t depth) {
  return depth <= 0xffff'ffffU ? static_cast<std::uint32_t>(depth) : 0;
}

std::string derivation(const QueueSizingRecipeRecord& recipe, const std::optional<Rational>& rate) {
  const auto text = [](const std::optional<Rational>& value) {
    return value ? value->to_string() : std::string("an unknown number of");
  };
  return text(rate) + " samples a second over " + text(recipe.horizon) + " s, times " +
         recipe.headroom.to_string();
}

void check_given(CompileState& state, const PayloadEdgePlanRecord& edge,
                 const QueueSizingRecipeRecord& recipe) {
  const std::string place = state.edge_name(edge);
  const std::string depth = std::to_string(edge.queue_depth);
  if (edge.queue_depth > kMaximumQueueDepth) {
    state.error("QUEUE_DEPTH_TOO_LARGE", place,
                "the queue would have a depth of " + depth + ", the limit is " +
                    std::to_string(kMaximumQueueDepth),
                "give a smaller ConnectionOptions::queue_depth");
  } else if (edge.queue_depth < recipe.hard_floor) {
    state.error("QUEUE_DEPTH_BELOW_FLOOR", place,
                "a queue of depth " + depth + " can't hold the " +
                    std::to_string(recipe.hard_floor) + " samples that one activation may emit" +
                    (retention(state.plan.edge_selections[edge.edge.value])
                         ? " and the one that the selector leaves there"
                         : ""),
                "give ConnectionOptions::queue_depth " + std::to_string(recipe.hard_floor) +
                    " or more, or leave it out");
  } else if (recipe.evidence == QueueSizingEvidence::kSizeOverflow ||
             edge.queue_depth < recipe.recommendation.value_or(0)) {
    state.warning(
        "QUEUE_DEPTH_BELOW_RECOMMENDATION", place,
        "the queue has the given depth of " + depth + "; " + derivation(recipe, recipe.rate) +
            ", is " +
            (recipe.recommendation ? std::to_string(*recipe.recommendation) : "beyond 64 bits"),
        "raise ConnectionOptions::queue_depth, or leave it out");
  }
}

void size_automatically(CompileState& state, PayloadEdgePlanRecord& edge,
                        QueueSizingRecipeRecord& recipe) {
  const std::uint64_t ceiling = recipe.admitted_ceiling.value_or(recipe.hard_floor);
  edge.depth_origin = QueueDepthOrigin::kAutomatic;
  edge.queue_depth = narrow(std::max(recipe.hard_floor, recipe.recommendation.value_or(0)));
  recipe.admitted_depth = narrow(ceiling);
  if (ceiling <= kMaximumQueueDepth) return;
  state.error("QUEUE_DEPTH_TOO_LARGE", state.edge_name(edge),
              "the queue would have a depth of " + std::to_string(ceiling) + " for " +
                  derivation(recipe, recipe.maximum_rate) + ", and at least " +
                  std::to_string(recipe.hard_floor) + "; the limit is " +
                  std::to_string(kMaximumQueueDepth),
              "lower the rate, its maximum, the horizon or the output's max_emits_per_compute, or "
              "give ConnectionOptions::queue_depth");
}

void size_by_default(CompileState& state, PayloadEdgePlanRecord& edge, std::uint64_t floor) {
  const std::uint64_t burst = state.output(edge.source).max_emits_per_compute;
  const std::uint64_t depth = std::max<std::uint64_t>(
      floor,
      std::min<std::uint64_t>(std::max(kMinimumDefaultDepth, 2 * burst), kMaximumQueueDepth));
  edge.queue_depth = narrow(depth);
  if (depth <= kMaximumQueueDepth) return;
  state.error("QUEUE_DEPTH_TOO_LARGE", state.edge_name(edge),
              "the queue would have a depth of " + std::to_string(depth) + ", the limit is " +
                  std::to_string(kMaximumQueueDepth),
              "lower the output's max_emits_per_compute");
}

void size(CompileState& state, PayloadEdgePlanRecord& edge, Rational headroom) {
  QueueSizingRecipeRecord recipe = recommend(state, edge, headroom);
  if (edge.depth_origin == QueueDepthOrigin::kExplicit) {
    check_given(state, edge, recipe);
  } else if (recipe.evidence == QueueSizingEvidence::kSufficient) {
    size_automatically(state, edge, recipe);
  } else {
    if (recipe.evidence == QueueSizingEvidence::kSizeOverflow) {
      state.error("QUEUE_SIZING_OVERFLOW", state.edge_name(edge),
                  derivation(recipe, recipe.maximum_rate) + ", is beyond 64 bits",
                  "lower the rate, its maximum or the horizon, or give "
                  "ConnectionOptions::queue_depth");
    }
    size_by_default(state, edge, recipe.hard_floor);
  }
  if (recipe.admitted_depth == 0) recipe.admitted_depth = edge.queue_depth;
  state.plan.queue_sizing_recipes.push_back(recipe);
}

}  // namespace

void size_queues(CompileState& state) {
  const Rational headroom = headroom_of(state);
  for (PayloadEdgePlanRecord& edge : state.plan.payload_edges) size(state, edge, headroom);
}

}  // namespace weftline::passes
