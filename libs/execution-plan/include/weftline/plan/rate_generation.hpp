// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/plan/queue_sizing.hpp"

namespace weftline {

// What a plan's recipes give for one choice of the selectable rates. Values only: making one
// changes no queue and no pool.

/// The rate that the owner of a selectable output chose.
struct LifecycleRateSelection {
  PortRef output{};
  Rate rate{};
};

struct EdgeGenerationRecord {
  std::optional<Rational> rate{};
  std::optional<QueueSize> size{};  ///< Absent without evidence for a size.
  std::uint32_t active_depth{0};
};

struct PoolGenerationRecord {
  std::uint32_t active_entries{0};
  /// What the provider reported to have set aside; absent until it has.
  std::optional<std::uint64_t> reserved_bytes{};
};

struct RateGenerationRecord {
  std::uint64_t rate_generation{0};
  /// For every selectable output of the plan, by output; in a rejected one, what was asked for.
  std::vector<LifecycleRateSelection> selections{};
  std::vector<EdgeGenerationRecord> edges{};  ///< By edge id; empty in a rejected one.
  std::vector<PoolGenerationRecord> pools{};  ///< By pool id; empty in a rejected one.
  std::optional<Error> rejection{};
};

/// Outputs that are not named keep the rate that the plan starts with. Rejected, with the reason in
/// the record: a port that is no selectable output (RATE_SELECTION_UNKNOWN), one named twice
/// (RATE_SELECTION_REPEATED), a rate that is none (RATE_INVALID) or above the maximum
/// (RATE_ABOVE_MAXIMUM), numbers beyond 64 bits (RATIONAL_OVERFLOW). Never deeper than the plan's
/// admitted depths.
[[nodiscard]] RateGenerationRecord evaluate_rate_generation(
    const PlanRecords& plan, std::uint64_t generation,
    std::vector<LifecycleRateSelection> selections);

/// A copy of what a session had published and last rejected. Each may be there without the other:
/// the first candidate of all can fail.
class RateGenerationSnapshot {
 public:
  RateGenerationSnapshot() = default;
  RateGenerationSnapshot(std::optional<RateGenerationRecord> published,
                         std::optional<RateGenerationRecord> last_rejected)
      : published_(std::move(published)), last_rejected_(std::move(last_rejected)) {}

  /// Null without one; lives as long as this snapshot.
  [[nodiscard]] const RateGenerationRecord* published() const noexcept {
    return published_ ? &*published_ : nullptr;
  }
  [[nodiscard]] const RateGenerationRecord* last_rejected() const noexcept {
    return last_rejected_ ? &*last_rejected_ : nullptr;
  }

 private:
  std::optional<RateGenerationRecord> published_{};
  std::optional<RateGenerationRecord> last_rejected_{};
};

}  // namespace weftline
