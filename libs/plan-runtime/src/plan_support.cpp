// SPDX-License-Identifier: Apache-2.0
#include "plan_support.hpp"

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

}  // namespace

expected<void, Error> check_supported(const PlanRecords& plan, std::string& place,
                                      bool imports_bound) {
  if (!imports_bound) WEFTLINE_TRY(check_imports(plan, place));
  return check_exports(plan, place);
}

}  // namespace weftline::runtime
