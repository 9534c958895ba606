// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their triggers, edges; the graph's selections.
// Adds: for each edge and each input of an import what an activation takes from it, what happens
// when there is nothing, and how many samples are held outside its queue; errors for inputs that
// nothing takes from and for selections that can't work or contradict the trigger.
//
// What is held outside a queue, beyond the one sample in the operator's hands:
//   LatestWithin     1: it stays for the next activation
//   DrainAll         the batch
//   BracketedWindow  the window's samples and the one before them, which shows that the input
//                    reaches that far; the one behind them stays at the head of the queue
//   ReuseLast        what was selected last, for as long as nothing fresh comes
//   OnWindow         its open windows' anchors

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/contract_rules.hpp"
#include "passes/passes.hpp"
#include "weftline/graph/selection.hpp"

namespace weftline::passes {
namespace {

using Kind = TemporalRecordTriggerKind;
using Selector = InputSelectorKind;
using Missing = MissingDataKind;

std::string_view selector_call(Selector selector) {
  switch (selector) {
    case Selector::kExact:
      return "Exact";
    case Selector::kLatestWithin:
      return "LatestWithin";
    case Selector::kDrainAll:
      return "DrainAll";
    case Selector::kBracketedWindow:
      return "BracketedWindow";
  }
  return "an unknown selector";
}

std::string_view policy_call(Missing missing) {
  switch (missing) {
    case Missing::kSkip:
      return "Skip";
    case Missing::kReuseLast:
      return "ReuseLast";
    case Missing::kSafeDefault:
      return "SafeDefault";
    case Missing::kAbsent:
      return "Absent";
    case Missing::kFail:
      return "Fail";
  }
  return "an unknown policy";
}

/// The selections of one operator's inputs; their records, without an edge, by port.
class OperatorSelections {
 public:
  OperatorSelections(CompileState& state, const OperatorPlanRecord& op)
      : state_(state),
        op_(op),
        trigger_name_(trigger_name(op.trigger.kind)),
        records_(op.inputs.size()),
        stated_(op.inputs.size()) {
    for (EdgeSelectionRecord& record : records_) {
      record.triggering = false;
      record.reference_clock = op.trigger.reference_clock;
    }
    for (const std::uint32_t port : op.trigger.inputs) {
      if (port < records_.size()) records_[port].triggering = true;
    }
    find_stated();
    for (std::uint32_t port = 0; port < records_.size(); ++port) resolve(port);
  }

  [[nodiscard]] std::vector<EdgeSelectionRecord> take() && { return std::move(records_); }

 private:
  void find_stated() {
    for (const auto& each : state_.graph.vertices[op_.id.value].contract.selections) {
      if (each.input >= records_.size()) {
        state_.error("CONTRACT_INPUT_UNKNOWN", op_.path,
                     "a select() of its contract names input number " + std::to_string(each.input) +
                         " of " + std::to_string(records_.size()),
                     "name inputs of this operator that setup() declares");
      } else if (stated_[each.input] != nullptr) {
        state_.error("CONTRACT_SELECTION_REPEATED", place(each.input),
                     "the contract selects from this input as " +
                         std::string(selector_call(stated_[each.input]->selector)) + " and as " +
                         std::string(selector_call(each.selector)),
                     "select() from each input once");
      } else {
        stated_[each.input] = &each;
      }
    }
  }

  void resolve(std::uint32_t port) {
    EdgeSelectionRecord& record = records_[port];
    const InputSelectionSnapshot* const stated = stated_[port];
    if (record.triggering && op_.trigger.kind == Kind::kWindow) {
      record.pending_cache = op_.trigger.bounded_state_capacity;
    }
    if (stated == nullptr) {
      if (!record.triggering) report_unselected(port);
    } else {
      record.origin = TemporalRecordOrigin::kAuthored;
      record.selector = stated->selector;
      if (record.triggering) {
        check_triggering(port, *stated);
      } else {
        take_selector(port, *stated);
        record.missing = stated->missing;
      }
      if (record.missing == Missing::kReuseLast) take_reuse(port, *stated);
    }
    record.cache_capacity = record.selector_cache + record.reuse_cache + record.pending_cache;
  }

  [[nodiscard]] std::string place(std::uint32_t port) const {
    return op_.path + "." + op_.inputs[port].name;
  }
  [[nodiscard]] bool guaranteed(std::uint32_t port) const {
    return std::ranges::binary_search(op_.trigger.presence_guaranteed_inputs, port);
  }

  void report_unselected(std::uint32_t port) {
    if (op_.trigger.kind >= Kind::kPredicate) return;  // has been reported
    state_.error("CONTRACT_SIDE_INPUT_UNSELECTED", place(port),
                 std::string(trigger_name_) +
                     " does not wait for this input, and the contract does not say what to take "
                     "from it",
                 "add .select(" + op_.inputs[port].name +
                     ", LatestWithin{.max_age = …}) or another selector to the Contract, or name "
                     "the input in the trigger");
  }

  void check_triggering(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    if (stated.selector != Selector::kExact) {
      record.selector = Selector::kExact;
      state_.error("CONTRACT_SELECTOR_CONTRADICTED", place(port),
                   std::string(trigger_name_) + " takes the very sample that triggers, " +
                       std::string(selector_call(stated.selector)) + " would take others",
                   "select it as Exact, or leave the select() out");
    }
    const bool for_presence = stated.missing == Missing::kSkip || stated.missing == Missing::kFail;
    if (for_presence == guaranteed(port)) {
      if (!for_presence) record.missing = stated.missing;
      return;
    }
    state_.error(
        "CONTRACT_PRESENCE_CONTRADICTED", place(port),
        guaranteed(port)
            ? std::string(trigger_name_) + " runs with a fresh sample of this input only, so " +
                  std::string(policy_call(stated.missing)) + " has nothing to replace"
            : std::string(trigger_name_) + " runs with any of its inputs, " +
                  std::string(policy_call(stated.missing)) + " would make it wait for this one",
        guaranteed(port) ? "leave the policy out"
                         : "use ReuseLast, SafeDefault or Absent, or a trigger that waits for it");
  }

  void take_selector(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    switch (stated.selector) {
      case Selector::kExact:
        require_reference(port, stated.selector);
        break;
      case Selector::kLatestWithin:
        take_age(port, stated);
        record.selector_cache = 1;
        break;
      case Selector::kDrainAll:
        take_batch(port, stated);
        record.selector_cache = record.max_selected_samples;
        break;
      case Selector::kBracketedWindow:
        require_reference(port, stated.selector);
        take_bracket(port, stated);
        take_batch(port, stated);
        record.selector_cache = record.max_selected_samples + 1;
        break;
    }
  }

  void require_reference(std::uint32_t port, Selector selector) {
    if (has_reference(op_.trigger.kind) || op_.trigger.kind >= Kind::kPredicate) return;
    state_.error("CONTRACT_REFERENCE_MISSING", place(port),
                 std::string(selector_call(selector)) +
                     " matches capture times with that of the "
                     "activation, but " +
                     std::string(trigger_name_) + " has none of its own",
                 "use LatestWithin or DrainAll, or OnEach, OnClock, OnAligned or OnWindow");
  }

  void take_age(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    record.max_age_parameter = stated.max_age_parameter;
    if (!stated.max_age_may_enter_plan) {
      state_.error("CONTRACT_PARAMETER_NOT_FROZEN", place(port),
                   "the largest age is parameter " + stated.max_age_parameter +
                       ", which may change while the plan runs or is sensitive",
                   "declare it compile_time() or recompile_required(), and not sensitive()");
      return;
    }
    if (!stated.max_age_ns) return;  // its value was refused
    if (*stated.max_age_ns <= 0) {
      state_.error("CONTRACT_AGE_INVALID", place(port),
                   "no sample has an age of " + std::to_string(*stated.max_age_ns) + " ns or less",
                   "give LatestWithin a max_age of at least 1 ns");
      return;
    }
    check_duration(state_, place(port), "LatestWithin::max_age", *stated.max_age_ns);
    record.max_age_ns = stated.max_age_ns;
  }

  void take_batch(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    record.cardinality = SelectionCardinality::kBatch;
    record.max_selected_samples = std::clamp(stated.max_samples, 1U, kMaximumSelectedSamples);
    if (record.max_selected_samples == stated.max_samples) return;
    state_.error("CONTRACT_SAMPLES_INVALID", place(port),
                 std::string(selector_call(stated.selector)) + " takes up to " +
                     std::to_string(stated.max_samples) + " samples at a time",
                 "give max_samples 1 to " + std::to_string(kMaximumSelectedSamples));
  }

  void take_bracket(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    record.lookbehind_ns = stated.lookbehind_ns;
    record.lookahead_ns = stated.lookahead_ns;
    const bool empty = stated.lookbehind_ns == 0 && stated.lookahead_ns == 0;
    if (stated.lookbehind_ns < 0 || stated.lookahead_ns < 0 || empty) {
      state_.error("CONTRACT_BRACKET_INVALID", place(port),
                   "a window from " + std::to_string(stated.lookbehind_ns) + " ns before to " +
                       std::to_string(stated.lookahead_ns) + " ns after the reference",
                   "give lookbehind and lookahead 0 or more, and one of them at least 1 ns");
      return;
    }
    check_duration(state_, place(port), "BracketedWindow::lookbehind", stated.lookbehind_ns);
    check_duration(state_, place(port), "BracketedWindow::lookahead", stated.lookahead_ns);
    if (stated.lookahead_ns == 0 || op_.trigger.kind >= Kind::kWindow) return;
    state_.error("CONTRACT_LOOKAHEAD_UNAWAITED", place(port),
                 "the window ends " + std::to_string(stated.lookahead_ns) +
                     " ns after the reference, but " + std::string(trigger_name_) +
                     " does not wait for what lies ahead",
                 "use OnWindow, or a lookahead of 0");
  }

  void take_reuse(std::uint32_t port, const InputSelectionSnapshot& stated) {
    EdgeSelectionRecord& record = records_[port];
    record.max_reuses = stated.max_reuses;
    record.reuse_cache = record.max_selected_samples;
    if (stated.max_reuses >= 1 && stated.max_reuses <= kMaximumReuses) return;
    state_.error(
        "CONTRACT_REUSES_INVALID", place(port),
        "ReuseLast reuses a sample up to " + std::to_string(stated.max_reuses) + " times in a row",
        "give ReuseLast::max_reuses 1 to " + std::to_string(kMaximumReuses));
  }

  CompileState& state_;
  const OperatorPlanRecord& op_;
  std::string_view trigger_name_;
  std::vector<EdgeSelectionRecord> records_;
  std::vector<const InputSelectionSnapshot*> stated_;  ///< By port; null where nothing is stated.
};

}  // namespace

void resolve_selections(CompileState& state) {
  auto& edges = state.plan.payload_edges;
  state.plan.edge_selections.resize(edges.size());
  for (const OperatorPlanRecord& op : state.plan.operators) {
    const std::vector<EdgeSelectionRecord> records = OperatorSelections(state, op).take();
    for (const std::uint32_t index : state.incoming[op.id.value]) {
      EdgeSelectionRecord& record = state.plan.edge_selections[index];
      record = records[edges[index].target.port];
      record.edge = edges[index].edge;
    }
    for (std::uint32_t port = 0; port < records.size(); ++port) {
      const PortRef input{op.id, port};
      if (state.import_feeding(input) != nullptr) {
        state.import_selections.emplace(input, records[port]);
      }
    }
  }
}

}  // namespace weftline::passes
