// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_records.hpp"

#include <algorithm>

namespace weftline {
namespace {

/// Works on the incomplete records of a rejected plan as well.
template <class Ports>
std::string port_name(const std::vector<OperatorPlanRecord>& operators, PortRef port,
                      Ports OperatorPlanRecord::*ports) {
  if (port.vertex.value >= operators.size()) return "?";
  const OperatorPlanRecord& owner = operators[port.vertex.value];
  const Ports& list = owner.*ports;
  return owner.path + "." + (port.port < list.size() ? list[port.port].name : "?");
}

}  // namespace

bool PlanRecords::ok() const noexcept {
  return std::ranges::none_of(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == DiagnosticSeverity::kError;
  });
}

std::string PlanRecords::output_name(PortRef output) const {
  return port_name(operators, output, &OperatorPlanRecord::outputs);
}

std::string PlanRecords::input_name(PortRef input) const {
  return port_name(operators, input, &OperatorPlanRecord::inputs);
}

}  // namespace weftline
