// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/diagnostic.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "plan_names.hpp"
#include "text.hpp"

namespace weftline {
namespace {

constexpr std::size_t kMaximumReportBytes = 16'384;
/// Of one line in a report, so that a single huge name leaves room for the other findings.
constexpr std::size_t kMaximumLineCodePoints = 2'000;

constexpr auto kTokens = std::to_array<DiagnosticToken>({
    {"CATALOG_CHOICE_UNKNOWN", "an endpoint's setting is outside its enum"},
    {"CATALOG_DEPLOYMENT_INVALID", "the graph's name can't name a deployment"},
    {"CATALOG_DUPLICATE_NAME", "two topics have one endpoint name"},
    {"CATALOG_FRAME_TOO_LARGE", "a topic's payload does not fit into a frame"},
    {"CATALOG_NAME_INVALID", "an endpoint's name can't name a file"},
    {"CATALOG_NUMBER_OUT_OF_RANGE", "an endpoint's depth or maximum is beyond its limits"},
    {"CATALOG_PAYLOAD_INVALID", "a topic's payload type is described wrongly"},
    {"CATALOG_TOO_LARGE", "all endpoints together are more than one catalog may hold"},
    {"CATALOG_URI_INVALID", "a topic's URI is not of the form weftline://path"},
    {"CONTRACT_ALIGNED_INPUTS", "an aligned trigger names fewer than two inputs, or one twice"},
    {"CONTRACT_CLOCK_NOT_INDEPENDENT", "a clock trigger on a clock that somebody must drive"},
    {"CONTRACT_HORIZON_INVALID", "a contract lets samples pile up for no time at all"},
    {"CONTRACT_INPUT_UNKNOWN", "a trigger names an input that its operator does not have"},
    {"CONTRACT_KIND_UNSUPPORTED", "a trigger of a kind that this version can't run"},
    {"CONTRACT_PERIOD_INVALID", "a clock trigger's period is zero or negative"},
    {"CONTRACT_PHASE_INVALID", "a clock trigger's phase is negative"},
    {"CONTRACT_SIDE_INPUT_UNSUPPORTED", "an input that the operator's trigger does not wait for"},
    {"CONTRACT_WINDOW_INVALID", "an aligned trigger's window is negative"},
    {"DEVICE_NOT_IN_CATALOG", "a binding names a device that the target does not offer"},
    {"DEVICE_UNRESOLVED", "nothing says on which device some memory or an operator is"},
    {"ENDPOINT_ATTACH_WAIT_INVALID", "a topic's wait for its peer is negative"},
    {"ENDPOINT_FAN_IN", "more than one output feeds an exported topic"},
    {"ENDPOINT_UNCONNECTED", "no output feeds an exported topic"},
    {"GRAPH_CYCLE", "flows lead from an operator back to itself"},
    {"GRAPH_EXPORT_UNCONNECTED", "no flow leads to an exported input of an embedded graph"},
    {"GRAPH_INPUT_FAN_IN", "more than one output feeds an input"},
    {"GRAPH_INPUT_UNCONNECTED", "no output feeds an input"},
    {"GRAPH_OUTPUT_UNCONNECTED", "nobody receives what an output emits"},
    {"LIFECYCLE_CLOSURE_TOO_LARGE", "a restart takes more operators than the bounds admit"},
    {"LIFECYCLE_GRANT_CONFLICT", "one restart is granted from two stages"},
    {"LIFECYCLE_JOURNAL_TOO_SMALL", "a restart writes more journal entries than the bounds admit"},
    {"LIFECYCLE_OPTIONS_INVALID", "a bound of restart transactions is beyond its limits"},
    {"LIFECYCLE_ORDER_CYCLE", "operators start after one another in a loop"},
    {"LIFECYCLE_RESTART_DISABLED", "a granted restart in a plan without restarts"},
    {"OPERATOR_DEVICE_CONFLICT", "an operator's tensors are on more than one device"},
    {"OPERATOR_TRIGGER_MISSING", "an operator without inputs has nothing that activates it"},
    {"PARAM_FIELD_MISSING", "a required parameter was not given"},
    {"PARAM_SCHEMA_CONFLICT", "two parameter schemas of one id and version differ"},
    {"PARAM_VALIDATION_FAILED", "a parameter's value is one that its schema does not admit"},
    {"PARTITION_EMPTY", "a partition without operators"},
    {"PARTITION_INCLUDE_ALL_CONFLICT", "one partition includes all, another one has operators"},
    {"PARTITION_UNCOVERED", "an operator in no partition, where the graph requires exact ones"},
    {"PHYSICAL_TENSOR_LAYOUT_MISMATCH", "both ends of a flow state different tensors"},
    {"PINNED_DEVICE_CONFLICT", "a pinned pool is used on more than one device"},
    {"PORT_HISTORY_NOT_EXPORTED", "samples kept for late peers of an output without peers"},
    {"PORT_OVERRIDE_CONFLICT", "a flow and its input are given different depths"},
    {"PORT_TENSOR_OVERRIDE_CONFLICT", "the graph contradicts what setup() states of tensors"},
    {"QUEUE_DEPTH_BELOW_FLOOR", "a queue can't hold what one activation may emit"},
    {"QUEUE_DEPTH_BELOW_RECOMMENDATION", "a given depth is less than rates and contract suggest"},
    {"QUEUE_DEPTH_TOO_LARGE", "a queue deeper than any queue may be"},
    {"QUEUE_HEADROOM_INVALID", "the headroom ratio for automatic depths is less than 1"},
    {"QUEUE_SIZING_OVERFLOW", "rate and horizon make a depth that can't be counted"},
    {"RATE_ABOVE_MAXIMUM", "a selectable rate starts above its own maximum"},
    {"RATE_EXPECTATION_DIFFERS", "an input expects another rate than its output has"},
    {"RATE_FOLLOWS_UNKNOWN", "an output follows an input that its operator does not have"},
    {"RATE_INVALID", "a rate is zero or no number"},
    {"RATE_OVERFLOW", "an exact rate or horizon has terms beyond 64 bits"},
    {"RATE_RATIO_INVALID", "the ratio by which an output follows is zero or no number"},
    {"REGION_DEVICE_CONFLICT", "a region of one device has operators on another"},
    {"REGION_EMPTY", "a region without operators"},
    {"REGION_LOSSY_FLOW", "a lossless region has a queue that drops samples"},
    {"REGION_NOT_HOST_ONLY", "a host-only region has an operator on a device"},
    {"REGION_PARTITION_CONFLICT", "a region of one partition has operators in another"},
    {"RUNTIME_CLOCK_BINDING_UNAVAILABLE", "the graph has no default clock"},
    {"TENSOR_DEVICE_BINDING_CONFLICT", "an output is bound to more than one device"},
    {"TENSOR_DEVICE_BINDING_UNEXPECTED", "a device binding for an output that takes none"},
    {"TENSOR_DEVICE_BINDING_UNKNOWN", "a device binding for an output that does not exist"},
    {"TENSOR_EXPORT_UNSUPPORTED", "a tensor topic, which this version can't export"},
    {"TENSOR_POOL_BYTES_OVERFLOW", "a pool's slots or bytes can't be counted"},
    {"TENSOR_POOL_KIND_MISSING", "a pooled output does not say where its memory lives"},
    {"TENSOR_POOL_RANK_MISSING", "a pooled output states no rank and no largest rank"},
    {"TENSOR_POOL_RANK_TOO_HIGH", "a pooled output's rank is beyond a limit"},
    {"TENSOR_POOL_SPAN_MISSING", "a pooled output states no largest tensor, or one of no bytes"},
});

std::string left_out_line(std::size_t count) {
  return "… and " + std::to_string(count) + " more\n";
}

}  // namespace

std::span<const DiagnosticToken> diagnostic_tokens() noexcept { return kTokens; }

std::string format_diagnostic(const Diagnostic& diagnostic) {
  std::string line(severity_name(diagnostic.severity));
  line.append(" ").append(one_line(diagnostic.token));
  if (!diagnostic.place.empty()) line.append(" at ").append(one_line(diagnostic.place));
  line.append(": ").append(one_line(diagnostic.message));
  if (!diagnostic.fix.empty()) line.append(". Fix: ").append(one_line(diagnostic.fix));
  return line;
}

std::string format_diagnostics(std::span<const Diagnostic> diagnostics) {
  const std::size_t reserve = left_out_line(diagnostics.size()).size();
  std::string report;
  std::size_t left = diagnostics.size();
  bool full = false;
  for (const auto severity : {DiagnosticSeverity::kError, DiagnosticSeverity::kWarning}) {
    for (std::size_t index = 0; index < diagnostics.size() && !full; ++index) {
      if (diagnostics[index].severity != severity) continue;
      std::string line = "[";
      line.append(std::to_string(index)).append("] ");
      line.append(shorten(format_diagnostic(diagnostics[index]), kMaximumLineCodePoints));
      line.append("\n");
      full = report.size() + line.size() + reserve > kMaximumReportBytes;
      if (full) break;
      report.append(line);
      --left;
    }
  }
  if (left > 0) report.append(left_out_line(left));
  return report;
}

}  // namespace weftline
