// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weftline/core/ids.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/plan/port_ref.hpp"

namespace weftline {

/// How a port states its rate; values of the public vocabulary.
enum class PortRateKind : std::uint8_t {
  kUnspecified = 0,
  kFixedNominal,
  kExpectedInput,
  kFollowsInput,
  kLifecycleNominal,
};

/// What an output states of its own rate.
struct OutputRateRecord {
  PortRateKind kind{PortRateKind::kUnspecified};
  Rate rate{};                     ///< kFixedNominal; kLifecycleNominal: until one is selected.
  std::optional<Rate> maximum{};   ///< kLifecycleNominal: the highest that may be selected.
  std::uint32_t follows_input{0};  ///< kFollowsInput
  RateRatio ratio{};               ///< kFollowsInput
};

// Rates, and the sizes of queues and pools that follow from them. Exact fractions throughout.

/// Where a port's rate comes from.
enum class PortRateBasis : std::uint8_t {
  kUndeclared = 0,  ///< Nobody says anything: positively absent.
  kDeclared,        ///< The output states it.
  kFollowed,        ///< The output follows an input of its operator.
  kUpstream,        ///< The input is fed by an output that has one.
  kExpected,        ///< The input's own expectation, for want of anything better.
  kUnresolved,      ///< Something is said, but no rate can be had from it.
};

/// One for each port, by vertex, inputs before outputs.
struct PortRatePlanRecord {
  PortRef port{};
  bool is_output{false};
  PortRateKind kind{PortRateKind::kUnspecified};
  PortRateBasis basis{PortRateBasis::kUndeclared};
  PortRef root{};  ///< The output that states the rate; invalid without one.
  Rational factor{Rational::one()};
  std::optional<Rational> nominal{};  ///< The root's rate at start, times the factor.
  std::optional<Rational> maximum{};  ///< Absent when a selectable rate states none.
};

enum class AccumulationHorizonBasis : std::uint8_t {
  kNone = 0,           ///< The contract takes each sample as it comes, or bounds nothing.
  kDeclared,           ///< The contract states it.
  kAlignedPartner,     ///< The longest period among the other aligned inputs, plus the window.
  kPartnerUnknown,     ///< An input that the operator waits for has no rate.
  kPartnerSelectable,  ///< The rate of such an input may be lowered without limit.
  kActivationPeriod,   ///< How long the trigger takes from one activation to the next, at most.
  kBracket,            ///< The length of the bracketed window, and the trigger's longest wait.
  kWindowWait,         ///< The longest wait of a window, for its anchors.
};

/// One for each edge, in their order: how long samples may pile up on it.
struct AccumulationHorizonPlanRecord {
  EdgeId edge{};
  AccumulationHorizonBasis basis{AccumulationHorizonBasis::kNone};
  std::optional<Rational> seconds{};
};

enum class HardFloorReason : std::uint8_t {
  kMinimumQueue = 0,
  kProducerBurst,
  kSelectorRetention,
  kWindowRetention,
};

/// Entries that an edge can't do without. Contributors of one group are views of the same entries,
/// groups of one scenario are live together, scenarios exclude each other.
struct HardFloorContributorRecord {
  EdgeId edge{};
  std::uint32_t scenario{0};
  std::uint32_t group{0};
  HardFloorReason reason{HardFloorReason::kMinimumQueue};
  std::uint32_t entries{0};
};

/// Whether rates and contract say enough to choose a depth.
enum class QueueSizingEvidence : std::uint8_t {
  kSufficient = 0,
  kRateUndeclared,
  kRateUnresolved,
  kRateWithoutMaximum,
  kHorizonAbsent,
  kSizeOverflow,
};

/// One for each edge, in their order: how its depth came about, or what an explicit one is compared
/// with. Numbers are absent where the evidence does not reach.
struct QueueSizingRecipeRecord {
  EdgeId edge{};
  QueueSizingEvidence evidence{QueueSizingEvidence::kRateUndeclared};
  PortRateBasis rate_basis{PortRateBasis::kUndeclared};
  std::optional<Rational> rate{};
  std::optional<Rational> maximum_rate{};
  std::optional<Rational> horizon{};
  Rational headroom{};
  std::uint64_t hard_floor{0};
  std::optional<std::uint64_t> nominal_arrivals{};
  std::optional<std::uint64_t> recommendation{};
  std::optional<std::uint64_t> admitted_ceiling{};
  /// The deepest that the edge may become: its depth, unless a selectable rate may raise it.
  std::uint32_t admitted_depth{0};
};

/// An edge or a topic that slots of a pool travel on. The slots that it shares with the arms beside
/// it (same source) count once, for the longest arm; its own add up.
struct PoolCapacityDependencyRecord {
  PoolId pool{};
  EdgeId edge{};                ///< Invalid for a topic.
  std::string endpoint_name{};  ///< Of a topic; empty for an edge.
  PortRef source{};
  std::uint32_t active_shared_slots{0};
  std::uint32_t admitted_shared_slots{0};
  std::uint32_t own_slots{0};
};

/// What a pool needs of its provider. Logical bytes are the largest tensor times the entries; what
/// the provider sets aside for them is not known before it is asked.
struct ProviderAllocationPlanRecord {
  PoolId pool{};
  std::uint64_t entry_bytes{0};
  std::uint32_t producer_entries{0};  ///< With those kept for peers that attach later.
  std::uint32_t active_entries{0};
  std::uint32_t admitted_entries{0};

  [[nodiscard]] std::uint64_t active_bytes() const noexcept { return entry_bytes * active_entries; }
  [[nodiscard]] std::uint64_t admitted_bytes() const noexcept {
    return entry_bytes * admitted_entries;
  }
};

}  // namespace weftline
