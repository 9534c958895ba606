// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weftline/core/error.hpp"
#include "weftline/plan/rate_generation.hpp"

namespace weftline {

inline constexpr std::string_view kRateQueueInspectionSchema = "weftline.rate-queue-inspection";
inline constexpr std::uint32_t kRateQueueInspectionVersion = 1;

enum class RateQueueInspectionFormat : std::uint8_t { kHumanText = 0, kCanonicalJson };

/// One edge explained: where its rate and horizon come from, the arithmetic, the depth of that
/// generation and the deepest admitted one, and the pools whose slots travel on it. Joins the
/// plan's recipe with the published or the last rejected generation of `snapshot`; changes neither.
/// A rejected generation has no depths; they are null, as is every size that nobody reported. A
/// ConnectionOptions to paste is given only when rates and contract chose the depth.
/// kNotFound: RATE_GENERATION_UNKNOWN, RATE_EDGE_UNKNOWN. Inspection only: there is no way back.
[[nodiscard]] expected<std::string, Error> render_rate_queue_inspection(
    const PlanRecords& plan, const RateGenerationSnapshot& snapshot, std::uint64_t generation,
    EdgeId edge, RateQueueInspectionFormat format);

}  // namespace weftline
