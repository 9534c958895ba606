// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_records.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace weftline {
namespace {

/// Works on the incomplete records of a rejected plan as well.
template <class Ports>
std::string port_name(const std::vector<OperatorPlanRecord>& operators, PortRef port,
                      Ports OperatorPlanRecord::*ports) {
  if (port.vertex.value >= operators.size()) return "?";
  const OperatorPlanRecord& owner = operators[port.vertex.value];
  const Ports& list = owner.*ports;
  if (port.port >= list.size()) return owner.path + ".?";
  const std::string& alias = list[port.port].diagnostic_alias;
  std::string name = owner.path + "." + list[port.port].name;
  return alias.empty() ? name : name + " (" + alias + ")";
}

const PortRatePlanRecord* find_rate(const std::vector<PortRatePlanRecord>& rates, PortRef port,
                                    bool is_output) {
  const auto key = [](const PortRatePlanRecord& rate) {
    return std::tuple(rate.port.vertex, rate.is_output, rate.port.port);
  };
  const auto wanted = std::tuple(port.vertex, is_output, port.port);
  const auto found = std::ranges::lower_bound(rates, wanted, std::less<>{}, key);
  return found != rates.end() && key(*found) == wanted ? &*found : nullptr;
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

const PortRatePlanRecord* PlanRecords::output_rate(PortRef output) const noexcept {
  return find_rate(port_rates, output, true);
}

const PortRatePlanRecord* PlanRecords::input_rate(PortRef input) const noexcept {
  return find_rate(port_rates, input, false);
}

}  // namespace weftline
