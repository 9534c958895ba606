// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/clock_health.hpp"

namespace weftline {

std::string_view clock_health_capability_name(ClockHealthCapability capability) noexcept {
  switch (capability) {
    case ClockHealthCapability::kUnavailable:
      return "unavailable";
    case ClockHealthCapability::kStatusReports:
      return "status_reports";
  }
  return "unknown";
}

std::string_view clock_health_requirement_name(ClockHealthRequirement requirement) noexcept {
  switch (requirement) {
    case ClockHealthRequirement::kNotRequired:
      return "not_required";
    case ClockHealthRequirement::kFreshHealthyReport:
      return "fresh_healthy_report";
  }
  return "unknown";
}

std::string_view clock_health_disposition_name(
    EndpointClockHealthDisposition disposition) noexcept {
  switch (disposition) {
    case EndpointClockHealthDisposition::kNotApplicable:
      return "not_applicable";
    case EndpointClockHealthDisposition::kSkip:
      return "skip";
    case EndpointClockHealthDisposition::kDegraded:
      return "degraded";
    case EndpointClockHealthDisposition::kFailRun:
      return "fail_run";
  }
  return "unknown";
}

}  // namespace weftline
