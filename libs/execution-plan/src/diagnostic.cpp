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
    {"CATALOG_CLOCK_HEALTH_INVALID", "what a topic says of its capture clock contradicts itself"},
    {"CATALOG_DEPLOYMENT_INVALID", "the graph's name can't name a deployment"},
    {"CATALOG_DUPLICATE_NAME", "two topics have one endpoint name"},
    {"CATALOG_FRAME_TOO_LARGE", "a topic's payload does not fit into a frame"},
    {"CATALOG_NAME_INVALID", "an endpoint's name can't name a file"},
    {"CATALOG_NUMBER_OUT_OF_RANGE", "an endpoint's depth or maximum is beyond its limits"},
    {"CATALOG_PAYLOAD_INVALID", "a topic's payload type is described wrongly"},
    {"CATALOG_TENSOR_INVALID", "a topic's tensor contract is missing, unwanted or can't be met"},
    {"CATALOG_TOO_LARGE", "all endpoints together are more than one catalog may hold"},
    {"CATALOG_URI_INVALID", "a topic's URI is not of the form weftline://path"},
    {"CONTRACT_AGE_INVALID", "a selector's largest age is zero or negative"},
    {"CONTRACT_ALIGNED_INPUTS", "an aligned trigger names fewer than two inputs, or one twice"},
    {"CONTRACT_BRACKET_INVALID", "a bracketed window is empty or ends before it begins"},
    {"CONTRACT_CLOCK_NOT_INDEPENDENT", "a trigger waits on a clock that somebody must drive"},
    {"CONTRACT_CLOCK_UNKNOWN", "a contract or source names a clock that the graph does not have"},
    {"CONTRACT_COMPLETION_NOT_A_SOURCE", "an operator with inputs ends after a number of calls"},
    {"CONTRACT_DURATION_TOO_LONG", "a duration in a contract is longer than any may be"},
    {"CONTRACT_HORIZON_INVALID", "a contract lets samples pile up for no time at all"},
    {"CONTRACT_INPUT_UNKNOWN", "a contract names an input that its operator does not have"},
    {"CONTRACT_KIND_UNSUPPORTED", "a trigger of a kind that this version does not have"},
    {"CONTRACT_LOOKAHEAD_UNAWAITED", "a window looks ahead, but the trigger does not wait"},
    {"CONTRACT_MAX_WAIT_INVALID", "a window trigger's longest wait is zero or negative"},
    {"CONTRACT_PARAMETER_NOT_FROZEN", "a contract takes an age from a parameter that may change"},
    {"CONTRACT_PENDING_WINDOWS_INVALID", "a window trigger keeps no window open, or too many"},
    {"CONTRACT_PERIOD_INVALID", "a clock trigger's period is zero or negative"},
    {"CONTRACT_PHASE_INVALID", "a clock trigger's phase is negative or counts from nowhere"},
    {"CONTRACT_PRESENCE_CONTRADICTED", "a policy for missing data contradicts the trigger"},
    {"CONTRACT_REFERENCE_MISSING", "a selector matches times, but the trigger has no time"},
    {"CONTRACT_REUSES_INVALID", "a sample is reused never, or too often"},
    {"CONTRACT_SAMPLES_INVALID", "a selector takes no samples at a time, or too many"},
    {"CONTRACT_SELECTION_REPEATED", "a contract selects from one input more than once"},
    {"CONTRACT_SELECTOR_CONTRADICTED", "a selector takes other samples than the one that triggers"},
    {"CONTRACT_SIDE_INPUT_UNSELECTED", "neither trigger nor selector takes from an input"},
    {"CONTRACT_SOURCE_UNKNOWN", "a trigger names a source that its operator does not have"},
    {"CONTRACT_SOURCE_UNUSED", "a readiness source that no trigger names"},
    {"CONTRACT_START_DELAY_INVALID", "a largest start delay that no activation can keep"},
    {"CONTRACT_WINDOW_INVALID", "an aligned trigger's window is negative"},
    {"DEVICE_NOT_IN_CATALOG", "a binding names a device that the target does not offer"},
    {"DEVICE_UNRESOLVED", "nothing says on which device some memory or an operator is"},
    {"ENDPOINT_ATTACH_WAIT_INVALID", "a topic's wait for its peer is negative"},
    {"ENDPOINT_BOUNDS_CONFLICT", "a topic states two queue depths"},
    {"ENDPOINT_CATALOG_MISMATCH", "a topic differs from the endpoint catalog that was given"},
    {"ENDPOINT_FAN_IN", "more than one output feeds an exported topic"},
    {"ENDPOINT_GENERATIONS_INVALID", "a deployment admits a number of producers that it can't"},
    {"ENDPOINT_NOT_IN_CATALOG", "the endpoint catalog that was given lacks a topic"},
    {"ENDPOINT_RESTART_INVALID", "a topic allows restarts that it can't have"},
    {"ENDPOINT_TYPE_MISMATCH", "a topic carries another type than in the catalog that was given"},
    {"ENDPOINT_UNCONNECTED", "nothing is connected to a topic"},
    {"GRAPH_CYCLE", "flows lead from an operator back to itself"},
    {"GRAPH_EXPORT_UNCONNECTED", "no flow leads to an exported input of an embedded graph"},
    {"GRAPH_INPUT_FAN_IN", "more than one output feeds an input"},
    {"GRAPH_INPUT_UNCONNECTED", "no output feeds an input"},
    {"GRAPH_OUTPUT_UNCONNECTED", "nobody receives what an output emits"},
    {"GREEN_CONTEXT_DEVICE_UNSUPPORTED", "SMs of a device that can't set any apart"},
    {"GREEN_CONTEXT_DUPLICATE", "SMs of one device bound twice to one partition"},
    {"GREEN_CONTEXT_NO_RESIDUAL", "no SMs are left for work that no binding names"},
    {"GREEN_CONTEXT_OVERSUBSCRIBED", "more SMs are bound than a device has"},
    {"GREEN_CONTEXT_PARTITION_UNKNOWN", "SMs for a partition that names no operators"},
    {"GREEN_CONTEXT_SM_COUNT_INVALID", "a number of SMs that a device does not set apart"},
    {"GREEN_CONTEXT_UNUSED", "SMs for a partition that has no work on their device"},
    {"IMPORT_BORROWS_EXCEEDED", "the inputs of a topic hold more samples than it lends"},
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
    {"PHYSICAL_TENSOR_BYTE_SPAN_INVALID", "a formula for slot bytes meets a value that is no size"},
    {"PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW", "derived slot bytes are beyond what can be counted"},
    {"PHYSICAL_TENSOR_BYTE_SPAN_PROJECTION_FAILED", "a byte-span projector returned an error"},
    {"PHYSICAL_TENSOR_BYTE_SPAN_SHAPE", "a shape parameter does not fit its output's rank"},
    {"PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED", "slot bytes derived from an input without a bound"},
    {"PHYSICAL_TENSOR_DERIVATION_FOREIGN", "a derivation reads another operator's parameters"},
    {"PHYSICAL_TENSOR_LAYOUT_MISMATCH", "both ends of a flow state different tensors"},
    {"PHYSICAL_TENSOR_PROJECTION_ID_CONFLICT", "two byte-span projectors have one id"},
    {"PINNED_DEVICE_CONFLICT", "a pinned pool is used on more than one device"},
    {"PLACEMENT_CPU_UNKNOWN", "a thread placement names CPUs that the target does not have"},
    {"PLACEMENT_DUPLICATE", "one thread is placed twice"},
    {"PLACEMENT_INVALID", "a thread placement has values that no thread can have"},
    {"PLACEMENT_PARTITION_UNKNOWN", "a thread placement for a partition that names no operators"},
    {"PORT_HISTORY_NOT_EXPORTED", "samples kept for late peers of an output without peers"},
    {"PORT_OVERRIDE_CONFLICT", "a flow and its input are given different depths"},
    {"PORT_TENSOR_OVERRIDE_CONFLICT", "the graph contradicts what setup() states of tensors"},
    {"PROFILE_CLOCK_HEALTH_UNSPECIFIED", "the profile asks imports for their clock's health"},
    {"PROFILE_PEER_OPTIONAL", "the profile refuses topics that run without their peer"},
    {"PROFILE_QUEUE_DEFAULT_DEPTH", "the profile refuses queue depths that nothing speaks for"},
    {"PROFILE_RATE_NOMINAL_ONLY", "the profile refuses queue depths from nominal rates"},
    {"PROFILE_UNKNOWN", "a profile outside its enum"},
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
    {"TENSOR_BOUNDARY_MANAGED", "managed memory, which does not cross processes"},
    {"TENSOR_BOUNDARY_MISMATCH", "a topic and a port state different tensors"},
    {"TENSOR_BOUNDARY_MISSING", "a tensor topic of which nobody says what its tensors are"},
    {"TENSOR_CONVERSION_UNAVAILABLE", "a topic asks for a conversion between kinds of memory"},
    {"TENSOR_DEVICE_BINDING_CONFLICT", "an output or import is bound to more than one device"},
    {"TENSOR_DEVICE_BINDING_UNEXPECTED", "a device binding for what takes none"},
    {"TENSOR_DEVICE_BINDING_UNKNOWN", "a device binding for what does not exist"},
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
