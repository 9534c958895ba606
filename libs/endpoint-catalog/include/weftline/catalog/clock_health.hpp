// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weftline {

/// Whether an endpoint's publisher reports how good its capture clock is.
enum class ClockHealthCapability : std::uint8_t { kUnavailable = 0, kStatusReports };

/// Whether samples count only beside a report that the clock is healthy.
enum class ClockHealthRequirement : std::uint8_t { kNotRequired = 0, kFreshHealthyReport };

/// What a subscriber does with a sample whose clock is not known to be healthy.
enum class EndpointClockHealthDisposition : std::uint8_t {
  kNotApplicable = 0,  ///< Nothing is required.
  kSkip,               ///< The sample is dropped, counted.
  kDegraded,           ///< The sample is received with its degraded flag set.
  kFailRun,            ///< The run fails.
};

/// Names as the catalog spells them; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view clock_health_capability_name(
    ClockHealthCapability capability) noexcept;
[[nodiscard]] std::string_view clock_health_requirement_name(
    ClockHealthRequirement requirement) noexcept;
[[nodiscard]] std::string_view clock_health_disposition_name(
    EndpointClockHealthDisposition disposition) noexcept;

/// What is promised and asked of one endpoint's capture clock. A requirement needs the capability,
/// a `max_report_age` of 1 ns to a year, and an `action`; without one both stay unset.
struct ClockHealthOptions {
  ClockHealthCapability capability{ClockHealthCapability::kUnavailable};
  ClockHealthRequirement requirement{ClockHealthRequirement::kNotRequired};
  std::optional<std::chrono::nanoseconds> max_report_age{};
  EndpointClockHealthDisposition action{EndpointClockHealthDisposition::kNotApplicable};
  friend bool operator==(const ClockHealthOptions&, const ClockHealthOptions&) = default;
};

}  // namespace weftline
