// SPDX-License-Identifier: Apache-2.0
#include "contract_freeze.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;

class Freezer {
 public:
  Freezer(const OperatorSpec& spec, VertexSnapshot& vertex) noexcept
      : spec_(spec), vertex_(vertex) {}

  [[noreturn]] void refuse(std::string_view token, const std::string& what) const {
    throw RuntimeError(
        {ErrorCode::kInvalidArgument, token, "operator " + vertex_.path + ": " + what, 0});
  }

  [[nodiscard]] std::uint32_t input_index(const InputPort& port) const {
    const auto& inputs = spec_.inputs();
    const auto found = std::ranges::find(inputs, &port, &InputDeclaration::port);
    if (found == inputs.end()) {
      refuse("CONTRACT_INPUT_FOREIGN", "its contract names an input that setup() did not declare");
    }
    return static_cast<std::uint32_t>(found - inputs.begin());
  }

  [[nodiscard]] std::uint32_t source_index(const ReadinessSourceRef& ref) const {
    const auto& sources = spec_.sources();
    const auto found = std::ranges::find(sources, &ref, &SourceDeclaration::ref);
    if (found == sources.end()) {
      refuse("CONTRACT_SOURCE_FOREIGN", "its trigger names a source that setup() did not declare");
    }
    return static_cast<std::uint32_t>(found - sources.begin());
  }

  // One for each kind of trigger.

  void write(const OnEach& each, TemporalTriggerPlanRecord& record) const {
    record.kind = Kind::kEach;
    record.inputs.push_back(input_index(each.input));
  }
  void write(const OnAnyInput&, TemporalTriggerPlanRecord& record) const {
    record.kind = Kind::kAnyInput;
    for (const auto& input : spec_.inputs()) record.inputs.push_back(input.port->index());
  }
  void write(const OnClock& clock, TemporalTriggerPlanRecord& record) const {
    record.kind = Kind::kClock;
    record.period_ns = clock.period.count();
    record.phase_ns = clock.phase.count();
    record.phase_origin = clock.origin;
  }
  void write(const OnAligned& aligned, TemporalTriggerPlanRecord& record) const {
    record.kind = Kind::kAligned;
    record.window_ns = aligned.window.count();
    for (const InputPort& input : aligned.inputs) record.inputs.push_back(input_index(input));
  }
  void write(const OnWindow& window, TemporalTriggerPlanRecord& record) const {
    record.kind = Kind::kWindow;
    record.inputs.push_back(input_index(window.anchor));
    record.max_wait_ns = window.max_wait.count();
    record.max_pending_windows = window.max_pending_windows;
    if (window.wait_clock) vertex_.contract.wait_clock = window.wait_clock->name;
  }
  void write(const OnNotified& on, TemporalTriggerPlanRecord& record) const {
    write_source(Kind::kNotified, on.event, record);
  }
  void write(const OnReadable& on, TemporalTriggerPlanRecord& record) const {
    write_source(Kind::kReadable, on.event, record);
  }
  void write(const OnDoorbell& on, TemporalTriggerPlanRecord& record) const {
    write_source(Kind::kDoorbell, on.event, record);
  }
  void write(const OnSpin& on, TemporalTriggerPlanRecord& record) const {
    write_source(Kind::kSpin, on.event, record);
  }

  // One for each selector.

  void write(const Exact&, InputSelectionSnapshot& selection) const {
    selection.selector = InputSelectorKind::kExact;
  }
  void write(const LatestWithin& latest, InputSelectionSnapshot& selection) const {
    selection.selector = InputSelectorKind::kLatestWithin;
    if (const auto& parameter = latest.max_age.parameter()) {
      read_age(*parameter, selection);
    } else {
      selection.max_age_ns = latest.max_age.age().count();
    }
  }
  void write(const DrainAll& drain, InputSelectionSnapshot& selection) const {
    selection.selector = InputSelectorKind::kDrainAll;
    selection.max_samples = drain.max_samples;
  }
  void write(const BracketedWindow& bracket, InputSelectionSnapshot& selection) const {
    selection.selector = InputSelectorKind::kBracketedWindow;
    selection.lookbehind_ns = bracket.lookbehind.count();
    selection.lookahead_ns = bracket.lookahead.count();
    selection.max_samples = bracket.max_samples;
  }

  // One for each policy.

  static void write(const Skip&, InputSelectionSnapshot& selection) {
    selection.missing = MissingDataKind::kSkip;
  }
  static void write(const ReuseLast& reuse, InputSelectionSnapshot& selection) {
    selection.missing = MissingDataKind::kReuseLast;
    selection.max_reuses = reuse.max_reuses;
  }
  static void write(const SafeDefault&, InputSelectionSnapshot& selection) {
    selection.missing = MissingDataKind::kSafeDefault;
  }
  static void write(const Absent&, InputSelectionSnapshot& selection) {
    selection.missing = MissingDataKind::kAbsent;
  }
  static void write(const Fail&, InputSelectionSnapshot& selection) {
    selection.missing = MissingDataKind::kFail;
  }

 private:
  void write_source(Kind kind, const ReadinessSourceRef& ref,
                    TemporalTriggerPlanRecord& record) const {
    record.kind = kind;
    record.source = source_index(ref);
  }

  /// By the operator's own field of that name, so that a struct which merely goes by the same
  /// schema is never read as another.
  void read_age(const ParamFieldDescriptor& field, InputSelectionSnapshot& selection) const {
    const ParamSchema* const schema = vertex_.params.schema();
    const ParamFieldDescriptor* const own = schema ? schema->find(field.path) : nullptr;
    if (own == nullptr || own->hash != field.hash || own->type != field.type) {
      refuse("CONTRACT_PARAMETER_FOREIGN", "its contract takes an age from parameter " +
                                               field.path + " of " + field.schema_id +
                                               ", which is not in its own parameters");
    }
    selection.max_age_parameter = own->path;
    selection.max_age_may_enter_plan =
        !own->sensitive && (own->mutability == ParamMutability::kCompileTime ||
                            own->mutability == ParamMutability::kRecompile);
    if (!selection.max_age_may_enter_plan || !vertex_.params.findings().empty()) return;
    const ParamScalar value = own->read(vertex_.params.values().get()).front();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
      // Far beyond the longest duration, which is refused with its own words.
      selection.max_age_ns = static_cast<std::int64_t>(std::min(*natural, std::uint64_t{kMost}));
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      selection.max_age_ns = *integer;
    }
  }

  const OperatorSpec& spec_;
  VertexSnapshot& vertex_;
};

}  // namespace

void freeze_contract(const Contract& contract, const OperatorSpec& spec, VertexSnapshot& vertex) {
  const Freezer freezer(spec, vertex);
  for (const SourceDeclaration& source : spec.sources()) {
    vertex.contract.sources.push_back({source.record, source.clock});
  }
  if (const auto& trigger = contract.trigger()) {
    TemporalTriggerPlanRecord record;
    std::visit([&](const auto& kind) { freezer.write(kind, record); }, *trigger);
    vertex.trigger = std::move(record);
  }
  const bool says_more = contract.start_delay() || contract.complete_after();
  if (!vertex.trigger && says_more) {
    TemporalTriggerPlanRecord record{.origin = TemporalRecordOrigin::kCoreSynthesized};
    freezer.write(OnAnyInput{}, record);
    vertex.trigger = std::move(record);
  }
  if (vertex.trigger) {
    if (const auto& delay = contract.start_delay()) {
      vertex.trigger->max_start_delay_ns = delay->limit.count();
      vertex.trigger->on_violation = delay->on_violation;
    }
    if (const auto& calls = contract.complete_after()) {
      vertex.trigger->complete_after_computes = calls->limit;
    }
  }
  for (const InputSelection& each : contract.selections()) {
    InputSelectionSnapshot selection{.input = freezer.input_index(each.input)};
    std::visit([&](const auto& kind) { freezer.write(kind, selection); }, each.selector);
    std::visit([&](const auto& kind) { freezer.write(kind, selection); }, each.missing);
    vertex.contract.selections.push_back(std::move(selection));
  }
  for (const Accumulation& each : contract.accumulations()) {
    vertex.inputs[freezer.input_index(each.input)].accumulates_over = each.horizon;
  }
}

}  // namespace weftline
