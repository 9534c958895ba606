// SPDX-License-Identifier: Apache-2.0
#include "plan_support.hpp"

#include <utility>

namespace weftline::runtime {
namespace {

expected<void, Error> check_imports(const PlanRecords& plan, std::string& place) {
  if (plan.import_edges.empty()) return {};
  const ImportEdgePlanRecord& edge = plan.import_edges.front();
  place = "endpoint " + edge.endpoint_name;
  return fail(ErrorCode::kNotSupported, "RUN_IMPORT_UNSUPPORTED",
              "this version does not run plans with imported topics; " +
                  plan.input_name(edge.target) + " would get nothing");
}

expected<void, Error> check_exports(const PlanRecords& plan, std::string& place) {
  for (const ExportEdgePlanRecord& edge : plan.export_edges) {
    const EndpointRecord* const endpoint = plan.endpoint_catalog.find(edge.endpoint_name);
    if (endpoint == nullptr) continue;
    place = "endpoint " + edge.endpoint_name;
    if (endpoint->payload.kind == PayloadIdentityKind::kTensor) {
      return fail(ErrorCode::kNotSupported, "RUN_TENSOR_ENDPOINT_UNSUPPORTED",
                  "this version does not send tensors to other processes; export a scalar or a POD "
                  "computed from " +
                      plan.output_name(edge.source));
    }
    const bool timed = endpoint->capture_time == RequireCaptureTime::kYes;
    if (timed || endpoint->clock_health.requirement != ClockHealthRequirement::kNotRequired) {
      return fail(ErrorCode::kNotSupported, "RUN_CAPTURE_CLOCK_UNSUPPORTED",
                  "the topic requires " +
                      std::string(timed ? "a capture time of every sample"
                                        : "reports of its clock's health") +
                      ", which this version does not check; declare it without");
    }
  }
  return {};
}

constexpr std::string_view kPlacementToken = "RUN_THREAD_PLACEMENT_UNSUPPORTED";

expected<void, Error> without_placement(ProbeFailurePolicy policy, const std::string& where,
                                        std::vector<RunDiagnostic>& warnings) {
  Error error{ErrorCode::kNotSupported, kPlacementToken,
              "this version does not place threads: what the plan asks for was not applied", 0};
  if (policy != ProbeFailurePolicy::kWarnAndRecordFallback) {
    error.message =
        "this version does not place threads; take the placement out, or let it fall back by "
        "ProbeFailurePolicy::kWarnAndRecordFallback";
    return make_unexpected(std::move(error));
  }
  warnings.push_back({where, std::move(error)});
  return {};
}

bool asks_for_nothing(ThreadPlacement placement) {
  placement.probe_failure_policy = ThreadPlacement{}.probe_failure_policy;
  return placement == ThreadPlacement{};
}

expected<void, Error> check_threads(const PlanRecords& plan, std::string& place,
                                    std::vector<RunDiagnostic>& warnings) {
  for (const PartitionPlacementPlanRecord& asked : plan.partition_placements) {
    if (asks_for_nothing(asked.requested)) continue;
    place = "partition " + asked.partition_name;
    WEFTLINE_TRY(without_placement(asked.requested.probe_failure_policy, place, warnings));
  }
  for (const SupportThreadPlacementPlanRecord& asked : plan.support_thread_placements) {
    place = asked.role == SupportThreadRole::kController ? "the controller's thread"
                                                         : "the channels' thread";
    WEFTLINE_TRY(without_placement(asked.probe_failure_policy, place, warnings));
  }
  return {};
}

}  // namespace

expected<void, Error> check_supported(const PlanRecords& plan, std::string& place,
                                      std::vector<RunDiagnostic>& warnings, bool imports_bound) {
  if (!imports_bound) WEFTLINE_TRY(check_imports(plan, place));
  WEFTLINE_TRY(check_exports(plan, place));
  return check_threads(plan, place, warnings);
}

}  // namespace weftline::runtime
