// SPDX-License-Identifier: Apache-2.0
#include "compile_state.hpp"

#include <algorithm>
#include <utility>

namespace weftline {
namespace {

constexpr std::size_t kMaximumTextBytes = 4'096;

void cut(std::string& text) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= kMaximumTextBytes) return;
  std::size_t end = kMaximumTextBytes - kEllipsis.size();
  // Not inside a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text.append(kEllipsis);
}

}  // namespace

std::string CompileState::edge_name(const PayloadEdgePlanRecord& edge) const {
  return plan.output_name(edge.source) + " -> " + plan.input_name(edge.target);
}

const ExportSnapshot* CompileState::topic_of(PortRef output) const {
  const auto found = std::ranges::lower_bound(exported, output, std::less<>{},
                                              &std::pair<PortRef, std::uint32_t>::first);
  return found != exported.end() && found->first == output ? &graph.exports[found->second]
                                                           : nullptr;
}

std::span<const PayloadEdgePlanRecord> CompileState::arms_of(PortRef output) const {
  const auto found = std::ranges::equal_range(plan.payload_edges, output, std::less<>{},
                                              &PayloadEdgePlanRecord::source);
  return {found.begin(), found.end()};
}

const ImportSnapshot* CompileState::import_feeding(PortRef input_port) const {
  const auto found = imports_into.find(input_port);
  if (found == imports_into.end() || found->second.size() != 1) return nullptr;
  return &graph.imports[found->second.front()];
}

TensorAllocationPlanRecord* CompileState::pool_of(PortRef port) {
  auto& pools = plan.tensor_allocations;
  const auto found =
      std::ranges::lower_bound(pools, port, std::less<>{}, &TensorAllocationPlanRecord::output);
  return found != pools.end() && found->output == port ? &*found : nullptr;
}

namespace {

template <class Record>
const Record* find_output(const std::vector<Record>& records, PortRef output) {
  const auto found = std::ranges::lower_bound(records, output, std::less<>{}, &Record::output);
  return found != records.end() && found->output == output ? &*found : nullptr;
}

}  // namespace

const TensorByteSpanDerivationPlanRecord* CompileState::span_of(PortRef output) const {
  return find_output(plan.tensor_byte_span_derivations, output);
}

const TensorMemoryKindDerivationPlanRecord* CompileState::kind_of(PortRef output) const {
  return find_output(plan.tensor_memory_kind_derivations, output);
}

std::string CompileState::offered_devices() const {
  std::string offered;
  for (const DeviceDescription& known : options.devices.devices) {
    offered.append(offered.empty() ? "" : ", ").append(known.id.to_string());
  }
  return offered.empty() ? "none" : offered;
}

void CompileState::error(std::string_view token, std::string place, std::string message,
                         std::string fix) {
  report(DiagnosticSeverity::kError, token, std::move(place), std::move(message), std::move(fix));
}

void CompileState::warning(std::string_view token, std::string place, std::string message,
                           std::string fix) {
  report(DiagnosticSeverity::kWarning, token, std::move(place), std::move(message), std::move(fix));
}

void CompileState::report(DiagnosticSeverity severity, std::string_view token, std::string place,
                          std::string message, std::string fix) {
  for (std::string* text : {&place, &message, &fix}) cut(*text);
  plan.diagnostics.push_back(
      {severity, std::string(token), std::move(place), std::move(message), std::move(fix)});
}

}  // namespace weftline
