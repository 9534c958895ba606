// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, clocks.
// Adds: each operator's readiness sources and its trigger, complete; errors for triggers that can't
// run, for sources that nothing uses, and for a graph without a default clock.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "passes/contract_rules.hpp"
#include "passes/passes.hpp"
#include "weftline/graph/trigger.hpp"

namespace weftline::passes {
namespace {

using Kind = TemporalRecordTriggerKind;

bool takes_source(Kind kind, ReadinessSourceKind source) {
  switch (source) {
    case ReadinessSourceKind::kNotification:
      return kind == Kind::kNotified;
    case ReadinessSourceKind::kReadable:
      return kind == Kind::kReadable;
    case ReadinessSourceKind::kDoorbell:
      return kind == Kind::kDoorbell;
    case ReadinessSourceKind::kSpin:
      return kind == Kind::kSpin;
  }
  return false;
}

/// Inputs with a fresh sample in each activation, ascending.
std::vector<std::uint32_t> guaranteed_inputs(const OperatorPlanRecord& op) {
  if (op.trigger.kind == Kind::kAnyInput && op.inputs.size() != 1) return {};
  std::vector<std::uint32_t> inputs = op.trigger.inputs;
  std::erase_if(inputs, [&](std::uint32_t port) { return port >= op.inputs.size(); });
  std::ranges::sort(inputs);
  const auto repeats = std::ranges::unique(inputs);
  inputs.erase(repeats.begin(), repeats.end());
  return inputs;
}

class ContractResolver {
 public:
  explicit ContractResolver(CompileState& state) : state_(state) {
    const auto& clocks = state.graph.clocks;
    for (std::uint32_t index = 0; index < clocks.size(); ++index) {
      clocks_.try_emplace(clocks[index].name, index);
    }
  }

  void resolve(OperatorPlanRecord& op) {
    VertexSnapshot& vertex = state_.graph.vertices[op.id.value];
    if (vertex.trigger) {
      op.trigger = std::move(*vertex.trigger);
    } else {
      op.trigger.origin = TemporalRecordOrigin::kCoreSynthesized;
      for (std::uint32_t port = 0; port < op.inputs.size(); ++port) {
        op.trigger.inputs.push_back(port);
      }
    }
    op.trigger.reference_clock = default_clock();
    record_sources(op, vertex.contract);
    if (op.trigger.kind == Kind::kAnyInput && op.inputs.empty()) {
      state_.error("OPERATOR_TRIGGER_MISSING", op.path,
                   "the operator has no input, and its contract names no trigger of its own",
                   "return a Contract with OnClock or with a readiness source from contract()");
      return;
    }
    check_inputs(op);
    check_kind(op, vertex.contract);
    check_start_delay(op);
    check_completion(op);
    op.trigger.presence_guaranteed_inputs = guaranteed_inputs(op);
  }

 private:
  [[nodiscard]] ClockId default_clock() const {
    const auto& clock = state_.graph.default_clock;
    return clock ? ClockId{*clock} : ClockId{};
  }

  /// Invalid, with an error, where the graph has no clock of that name.
  ClockId clock_of(const std::string& name, const std::string& place) {
    if (name.empty()) return default_clock();
    const auto found = clocks_.find(name);
    if (found != clocks_.end()) return ClockId{found->second};
    state_.error("CONTRACT_CLOCK_UNKNOWN", place,
                 "it names the clock \"" + name + "\", which the graph does not have",
                 "add_clock() it, or give the ClockKey another name");
    return {};
  }

  void record_sources(OperatorPlanRecord& op, const ContractSnapshot& contract) {
    for (std::uint32_t index = 0; index < contract.sources.size(); ++index) {
      const SourceSnapshot& source = contract.sources[index];
      const std::string place = op.path + " source " + source.record.name;
      op.sources.push_back(source.record);
      op.sources.back().clock = clock_of(source.clock, place);
      if (takes_source(op.trigger.kind, source.record.kind) && op.trigger.source == index) continue;
      state_.error("CONTRACT_SOURCE_UNUSED", place,
                   "setup() declares this source, but the operator's trigger is " +
                       std::string(trigger_name(op.trigger.kind)) + " and does not name it",
                   "name it in the trigger, or do not declare it");
    }
  }

  void check_inputs(const OperatorPlanRecord& op) {
    for (const std::uint32_t input : op.trigger.inputs) {
      if (input < op.inputs.size()) continue;
      state_.error("CONTRACT_INPUT_UNKNOWN", op.path,
                   "its trigger names input number " + std::to_string(input) + " of " +
                       std::to_string(op.inputs.size()),
                   "name inputs of this operator that setup() declares");
    }
  }

  void check_kind(OperatorPlanRecord& op, const ContractSnapshot& contract) {
    switch (op.trigger.kind) {
      case Kind::kAnyInput:
      case Kind::kEach:
        break;
      case Kind::kClock:
        check_clock(op);
        break;
      case Kind::kReadable:
      case Kind::kNotified:
      case Kind::kDoorbell:
      case Kind::kSpin:
        check_source(op);
        break;
      case Kind::kAligned:
        check_aligned(op);
        break;
      case Kind::kWindow:
        check_window(op, contract);
        break;
      default:
        state_.error("CONTRACT_KIND_UNSUPPORTED", op.path,
                     "its trigger is of kind " +
                         std::to_string(static_cast<unsigned>(op.trigger.kind)) +
                         ", which this version does not have",
                     "use one of the triggers of weftline/graph/trigger.hpp");
    }
  }

  /// A lane can sleep until some time only on a clock that goes on by itself, or whose driver wakes
  /// it.
  void check_progress(const OperatorPlanRecord& op, ClockId id, std::string_view use,
                      std::string_view end, std::string fix) {
    if (!id.valid()) return;
    const ClockSnapshot& clock = state_.graph.clocks[id.value];
    if (clock.independent_progress || clock.external_driver_admitted) return;
    const bool is_default = state_.graph.default_clock == id.value;
    state_.error(
        "CONTRACT_CLOCK_NOT_INDEPENDENT", op.path,
        std::string(use) + (is_default ? " the default clock \"" : " the clock \"") + clock.name +
            "\", whose time goes on neither by itself nor by a driver, so no lane can sleep "
            "until " +
            std::string(end),
        std::move(fix));
  }

  void check_clock(OperatorPlanRecord& op) {
    TemporalTriggerPlanRecord& trigger = op.trigger;
    trigger.clock = default_clock();
    trigger.bounded_state_capacity = 1;
    check_progress(
        op, trigger.clock, "OnClock ticks on", "a tick",
        "make a clock with independent_progress() or a driver() the default, or trigger by "
        "an input");
    if (trigger.period_ns <= 0) {
      state_.error("CONTRACT_PERIOD_INVALID", op.path,
                   "a period of " + std::to_string(trigger.period_ns) + " ns never ticks",
                   "give OnClock a period of at least 1 ns");
    }
    check_duration(state_, op.path, "OnClock::period", trigger.period_ns);
    if (trigger.phase_origin == ClockPhaseOrigin::kExplicitAbsolute) return;
    if (trigger.phase_origin != ClockPhaseOrigin::kCapturedAtSuccessfulStart) {
      state_.error("CONTRACT_PHASE_INVALID", op.path,
                   "OnClock::origin is " +
                       std::to_string(static_cast<unsigned>(trigger.phase_origin)) +
                       ", which is outside its enum",
                   "use one of its enumerators");
    } else if (trigger.phase_ns < 0) {
      state_.error("CONTRACT_PHASE_INVALID", op.path,
                   "a phase of " + std::to_string(trigger.phase_ns) + " ns lies before the start",
                   "give OnClock a phase of 0 or more");
    }
    check_duration(state_, op.path, "OnClock::phase", trigger.phase_ns);
  }

  void check_source(OperatorPlanRecord& op) {
    const std::uint32_t index = op.trigger.source;
    if (index < op.sources.size() && takes_source(op.trigger.kind, op.sources[index].kind)) {
      op.trigger.bounded_state_capacity = op.sources[index].capacity;
      return;
    }
    state_.error("CONTRACT_SOURCE_UNKNOWN", op.path,
                 std::string(trigger_name(op.trigger.kind)) + " names source number " +
                     std::to_string(index) + " of " + std::to_string(op.sources.size()) +
                     ", which is not there or is of another kind",
                 "name a source of this operator that setup() declares");
  }

  void check_aligned(const OperatorPlanRecord& op) {
    auto inputs = op.trigger.inputs;
    std::ranges::sort(inputs);
    const auto repeats = std::ranges::unique(inputs);
    const std::size_t distinct = inputs.size() - repeats.size();
    if (distinct < 2 || !repeats.empty()) {
      state_.error("CONTRACT_ALIGNED_INPUTS", op.path,
                   "OnAligned names " + std::to_string(op.trigger.inputs.size()) + " inputs, " +
                       std::to_string(distinct) + " of them distinct",
                   "name two or more inputs, each once");
    }
    if (op.trigger.window_ns < 0) {
      state_.error("CONTRACT_WINDOW_INVALID", op.path,
                   "a window of " + std::to_string(op.trigger.window_ns) + " ns admits no samples",
                   "give OnAligned a window of 0 or more");
    }
    check_duration(state_, op.path, "OnAligned::window", op.trigger.window_ns);
  }

  void check_window(OperatorPlanRecord& op, const ContractSnapshot& contract) {
    TemporalTriggerPlanRecord& trigger = op.trigger;
    trigger.clock = clock_of(contract.wait_clock, op.path);
    check_progress(op, trigger.clock, "OnWindow waits on", "its wait is over",
                   "name a wait_clock with independent_progress() or a driver()");
    if (trigger.max_wait_ns <= 0) {
      state_.error("CONTRACT_MAX_WAIT_INVALID", op.path,
                   "OnWindow waits " + std::to_string(trigger.max_wait_ns) +
                       " ns for what completes a window",
                   "give OnWindow a max_wait of at least 1 ns");
    }
    check_duration(state_, op.path, "OnWindow::max_wait", trigger.max_wait_ns);
    if (trigger.max_pending_windows == 0 || trigger.max_pending_windows > kMaximumPendingWindows) {
      state_.error(
          "CONTRACT_PENDING_WINDOWS_INVALID", op.path,
          "OnWindow keeps up to " + std::to_string(trigger.max_pending_windows) + " windows open",
          "give OnWindow::max_pending_windows 1 to " + std::to_string(kMaximumPendingWindows));
    }
    trigger.bounded_state_capacity = std::min(trigger.max_pending_windows, kMaximumPendingWindows);
  }

  void check_start_delay(const OperatorPlanRecord& op) {
    const auto& delay = op.trigger.max_start_delay_ns;
    if (!delay) return;
    if (*delay <= 0) {
      state_.error("CONTRACT_START_DELAY_INVALID", op.path,
                   "no activation starts within " + std::to_string(*delay) + " ns",
                   "give Contract::max_start_delay() at least 1 ns");
    }
    if (op.trigger.on_violation > OnViolation::kFailRun) {
      state_.error("CONTRACT_START_DELAY_INVALID", op.path,
                   "OnViolation is " +
                       std::to_string(static_cast<unsigned>(op.trigger.on_violation)) +
                       ", which is outside its enum",
                   "use one of its enumerators");
    }
    check_duration(state_, op.path, "Contract::max_start_delay()", *delay);
  }

  void check_completion(const OperatorPlanRecord& op) {
    const auto& calls = op.trigger.complete_after_computes;
    if (!calls || op.inputs.empty()) return;
    state_.error("CONTRACT_COMPLETION_NOT_A_SOURCE", op.path,
                 "complete_after() ends an operator after " + std::to_string(*calls) +
                     " calls, but it has inputs, whose samples would then be dropped",
                 "use complete_after() on operators without inputs; others end with their inputs");
  }

  CompileState& state_;
  std::map<std::string_view, std::uint32_t> clocks_{};  ///< By name.
};

}  // namespace

void resolve_contracts(CompileState& state) {
  if (!state.graph.default_clock) {
    state.error(
        "RUNTIME_CLOCK_BINDING_UNAVAILABLE", "graph " + state.graph.name,
        "the graph has no default clock",
        "call graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>(\"clock\"))");
  }
  ContractResolver resolver(state);
  for (OperatorPlanRecord& op : state.plan.operators) resolver.resolve(op);
}

}  // namespace weftline::passes
