// SPDX-License-Identifier: Apache-2.0
#include "authoring_admission.hpp"

#include <string>
#include <vector>

namespace weftline::runtime {
namespace {

expected<void, Error> check_start_order(const PlanRecords& plan) {
  const auto& order = plan.lifecycle.start_order;
  std::vector<bool> placed(plan.operators.size(), false);
  bool once_each = order.size() == placed.size();
  for (const VertexId vertex : order) {
    once_each = once_each && vertex.value < placed.size() && !placed[vertex.value];
    if (!once_each) break;
    placed[vertex.value] = true;
  }
  if (once_each) return {};
  return fail(ErrorCode::kIncompatible, "RUN_START_ORDER_INVALID",
              "the plan's start order names " + std::to_string(order.size()) + " of " +
                  std::to_string(placed.size()) +
                  " operators, or one twice; run a plan as compile() made it");
}

expected<void, Error> check_history(const PlanRecords& plan) {
  for (const OperatorPlanRecord& op : plan.operators) {
    for (const OutputPortRecord& output : op.outputs) {
      if (output.late_joiner_history_depth == 0) continue;
      return fail(ErrorCode::kNotSupported, "RUN_HISTORY_UNSUPPORTED",
                  op.path + "." + output.name + " keeps " +
                      std::to_string(output.late_joiner_history_depth) +
                      " samples for peers that attach later, which this version does not do; take "
                      "late_joiner_history_depth() out");
    }
  }
  return {};
}

/// One process runs one group of a plan; a launcher that would run the others there is none.
expected<void, Error> check_process_groups(const PlanRecords& plan) {
  const EndpointRecord* first = nullptr;
  const auto check = [&](const std::string& name) -> expected<void, Error> {
    const EndpointRecord* const endpoint = plan.endpoint_catalog.find(name);
    if (endpoint == nullptr) return {};
    if (first == nullptr) first = endpoint;
    if (endpoint->process_group == first->process_group) return {};
    return fail(ErrorCode::kNotSupported, "RUN_PROCESS_GROUPS_UNSUPPORTED",
                "endpoint " + first->name + " belongs to process group " + first->process_group +
                    " and endpoint " + endpoint->name + " to " + endpoint->process_group +
                    "; this version runs a plan in one process: give each group a graph of its "
                    "own, with topics between them");
  };
  for (const ExportEdgePlanRecord& edge : plan.export_edges)
    WEFTLINE_TRY(check(edge.endpoint_name));
  for (const ImportEdgePlanRecord& edge : plan.import_edges)
    WEFTLINE_TRY(check(edge.endpoint_name));
  return {};
}

}  // namespace

expected<void, Error> check_authoring_records(const PlanRecords& plan) {
  WEFTLINE_TRY(check_start_order(plan));
  WEFTLINE_TRY(check_process_groups(plan));
  return check_history(plan);
}

}  // namespace weftline::runtime
