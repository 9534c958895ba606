// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their triggers, edges with their selections, the order of the flow.
// Adds: the rate of every port and the accumulation horizon of every edge, exact; errors for rates,
// ratios and horizons that are none; a warning where an input expects another rate than it gets.
//
// An output has the rate that it states, or that of the input that it follows. An input has the
// rate of the output that feeds it. Only where that output states nothing at all, and the contract
// bounds how long samples pile up, is the input's own expectation used, for this one edge: nothing
// follows from it, so that a guess never becomes a fact further down.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "weftline/graph/trigger.hpp"

namespace weftline::passes {
namespace {

using Basis = AccumulationHorizonBasis;
using Trigger = TemporalRecordTriggerKind;

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

std::string text(std::uint64_t numerator, std::uint64_t denominator) {
  return std::to_string(numerator) + "/" + std::to_string(denominator);
}

class RateResolver {
 public:
  explicit RateResolver(CompileState& state) : state_(state) {
    for (const OperatorPlanRecord& op : state.plan.operators) {
      first_.push_back(state.plan.port_rates.size());
      for (std::uint32_t port = 0; port < op.inputs.size(); ++port) {
        const bool hinted = op.inputs[port].expected_rate.has_value();
        state.plan.port_rates.push_back(
            {.port = {op.id, port},
             .is_output = false,
             .kind = hinted ? PortRateKind::kExpectedInput : PortRateKind::kUnspecified,
             .basis = PortRateBasis::kUnresolved});
      }
      for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
        state.plan.port_rates.push_back({.port = {op.id, port},
                                         .is_output = true,
                                         .kind = op.outputs[port].rate.kind,
                                         .basis = PortRateBasis::kUnresolved});
      }
    }
  }

  void resolve() {
    // Nobody upstream says anything: that is known, not open.
    for (const auto& each : state_.imports_into) {
      if (each.second.size() == 1) input(each.first).basis = PortRateBasis::kUndeclared;
    }
    for (const VertexId vertex : state_.topological_order) {
      for (const std::uint32_t index : state_.incoming[vertex.value]) {
        take_upstream(state_.plan.payload_edges[index]);
      }
      const std::size_t outputs = state_.op(vertex).outputs.size();
      for (std::uint32_t port = 0; port < outputs; ++port) resolve_output({vertex, port});
    }
    for (const PayloadEdgePlanRecord& edge : state_.plan.payload_edges) {
      state_.plan.accumulation_horizons.push_back(horizon_of(edge));
    }
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      for (std::uint32_t port = 0; port < op.inputs.size(); ++port) use_expectation({op.id, port});
    }
  }

 private:
  PortRatePlanRecord& input(PortRef port) {
    return state_.plan.port_rates[first_[port.vertex.value] + port.port];
  }
  PortRatePlanRecord& output(PortRef port) {
    const std::size_t inputs = state_.op(port.vertex).inputs.size();
    return state_.plan.port_rates[first_[port.vertex.value] + inputs + port.port];
  }

  /// The one edge into a port; null when there is none or more than one.
  const PayloadEdgePlanRecord* edge_into(PortRef target) {
    const PayloadEdgePlanRecord* found = nullptr;
    for (const std::uint32_t index : state_.incoming[target.vertex.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      if (edge.target != target) continue;
      if (found) return nullptr;
      found = &edge;
    }
    return found;
  }

  void take_upstream(const PayloadEdgePlanRecord& edge) {
    if (edge_into(edge.target) != &edge) return;
    const PortRatePlanRecord& upstream = output(edge.source);
    PortRatePlanRecord& own = input(edge.target);
    if (!upstream.nominal) {
      own.basis = upstream.basis;
      return;
    }
    own.basis = PortRateBasis::kUpstream;
    own.root = upstream.root;
    own.factor = upstream.factor;
    own.nominal = upstream.nominal;
    own.maximum = upstream.maximum;
  }

  /// Absent, with an error, when the rate is none.
  std::optional<Rational> exact(Rate rate, const std::string& place, std::string_view call) {
    const auto value = rate.as_rational();
    if (value) return *value;
    state_.error(
        "RATE_INVALID", place,
        std::string(call) + " states " + text(rate.samples, rate.seconds) + " samples a second",
        "state a positive number of samples and of seconds");
    return std::nullopt;
  }

  void resolve_output(PortRef port) {
    const OutputRateRecord& stated = state_.output(port).rate;
    const std::string place = state_.plan.output_name(port);
    switch (stated.kind) {
      case PortRateKind::kUnspecified:
        output(port).basis = PortRateBasis::kUndeclared;
        break;
      case PortRateKind::kFixedNominal:
        if (const auto rate = exact(stated.rate, place, "nominal_rate()")) {
          declare(port, *rate, *rate);
        }
        break;
      case PortRateKind::kLifecycleNominal:
        resolve_selectable(port, stated, place);
        break;
      case PortRateKind::kFollowsInput:
        resolve_follower(port, stated, place);
        break;
      default:
        state_.error("RATE_INVALID", place,
                     "the output states its rate as kind " +
                         std::to_string(static_cast<unsigned>(stated.kind)),
                     "state a nominal or selectable rate, or follow an input");
    }
  }

  void declare(PortRef port, Rational nominal, std::optional<Rational> maximum) {
    PortRatePlanRecord& record = output(port);
    record.basis = PortRateBasis::kDeclared;
    record.root = port;
    record.nominal = nominal;
    record.maximum = maximum;
  }

  void resolve_selectable(PortRef port, const OutputRateRecord& stated, const std::string& place) {
    const auto initial = exact(stated.rate, place, "lifecycle_nominal_rate()");
    std::optional<Rational> maximum;
    if (stated.maximum) {
      maximum = exact(*stated.maximum, place, "max_nominal_rate()");
      if (!maximum) return;
    }
    if (!initial) return;
    if (maximum && *initial > *maximum) {
      state_.error("RATE_ABOVE_MAXIMUM", place,
                   "the output starts at " + initial->to_string() +
                       " samples a second, its maximum is " + maximum->to_string(),
                   "raise max_nominal_rate() or lower lifecycle_nominal_rate()");
      return;
    }
    declare(port, *initial, maximum);
  }

  void resolve_follower(PortRef port, const OutputRateRecord& stated, const std::string& place) {
    const std::size_t inputs = state_.op(port.vertex).inputs.size();
    if (stated.follows_input >= inputs) {
      state_.error("RATE_FOLLOWS_UNKNOWN", place,
                   "the output follows input number " + std::to_string(stated.follows_input) +
                       " of " + std::to_string(inputs),
                   "follow an input that this operator declares");
      return;
    }
    const auto ratio = stated.ratio.as_rational();
    if (!ratio) {
      state_.error(
          "RATE_RATIO_INVALID", place,
          "the output follows by " + text(stated.ratio.numerator, stated.ratio.denominator),
          "give a RateRatio of two positive numbers");
      return;
    }
    const PortRatePlanRecord& followed = input({port.vertex, stated.follows_input});
    if (!followed.nominal) return;
    const auto factor = followed.factor.multiply(*ratio);
    const auto nominal = followed.nominal->multiply(*ratio);
    const auto maximum =
        followed.maximum ? followed.maximum->multiply(*ratio) : expected<Rational, Error>();
    if (!factor || !nominal || !maximum) {
      overflow(place, !nominal ? nominal.error() : !factor ? factor.error() : maximum.error());
      return;
    }
    PortRatePlanRecord& own = output(port);
    own.basis = PortRateBasis::kFollowed;
    own.root = followed.root;
    own.factor = *factor;
    own.nominal = *nominal;
    if (followed.maximum) own.maximum = *maximum;
  }

  void overflow(const std::string& place, const Error& error) {
    state_.error("RATE_OVERFLOW", place, error.message,
                 "state rates, ratios and horizons with smaller terms");
  }

  AccumulationHorizonPlanRecord horizon_of(const PayloadEdgePlanRecord& edge) {
    const InputPortRecord& target = state_.input(edge.target);
    AccumulationHorizonPlanRecord record{.edge = edge.edge};
    if (target.accumulates_over) {
      const Horizon& stated = *target.accumulates_over;
      if (const auto seconds = stated.as_rational()) {
        record.basis = AccumulationHorizonBasis::kDeclared;
        record.seconds = *seconds;
      } else {
        state_.error("CONTRACT_HORIZON_INVALID", state_.plan.input_name(edge.target),
                     "the contract lets samples pile up for " +
                         text(stated.numerator, stated.denominator) + " s",
                     "give Contract::accumulates() a positive Horizon");
      }
      return record;
    }
    const TemporalTriggerPlanRecord& trigger = state_.op(edge.target.vertex).trigger;
    const EdgeSelectionRecord& selection = state_.plan.edge_selections[edge.edge.value];
    if (selection.triggering) {
      if (trigger.kind == Trigger::kAligned && trigger.window_ns >= 0) {
        wait_for_partners(edge, trigger, trigger.window_ns, Basis::kAlignedPartner, record);
      } else if (trigger.kind == Trigger::kWindow) {
        take(edge, {trigger.max_wait_ns}, Basis::kWindowWait, record);
      }
    } else if (selection.origin == TemporalRecordOrigin::kAuthored) {
      wait_for_selection(edge, trigger, selection, record);
    }
    return record;
  }

  /// Samples of a side input are taken when their operator runs, or into the selector's cache as
  /// they come: LatestWithin lets nothing pile up, a bracketed window what it may still need.
  void wait_for_selection(const PayloadEdgePlanRecord& edge,
                          const TemporalTriggerPlanRecord& trigger,
                          const EdgeSelectionRecord& selection,
                          AccumulationHorizonPlanRecord& record) {
    if (selection.selector == InputSelectorKind::kBracketedWindow) {
      const std::int64_t wait = trigger.kind == Trigger::kWindow ? trigger.max_wait_ns : 0;
      take(edge, {selection.lookbehind_ns, selection.lookahead_ns, wait}, Basis::kBracket, record);
    } else if (selection.selector != InputSelectorKind::kLatestWithin) {
      wait_for_activation(edge, trigger, record);
    }
  }

  /// The longest time between two activations, where the trigger bounds it.
  void wait_for_activation(const PayloadEdgePlanRecord& edge,
                           const TemporalTriggerPlanRecord& trigger,
                           AccumulationHorizonPlanRecord& record) {
    switch (trigger.kind) {
      case Trigger::kClock:
        take(edge, {trigger.period_ns}, Basis::kActivationPeriod, record);
        break;
      case Trigger::kEach:
        wait_for_partners(edge, trigger, 0, Basis::kActivationPeriod, record);
        break;
      case Trigger::kAligned:
        if (trigger.window_ns < 0) break;
        wait_for_partners(edge, trigger, trigger.window_ns, Basis::kActivationPeriod, record);
        break;
      case Trigger::kWindow:
        if (trigger.max_wait_ns < 0) break;
        wait_for_partners(edge, trigger, trigger.max_wait_ns, Basis::kActivationPeriod, record);
        break;
      default:
        break;
    }
  }

  /// A positive sum of durations; none where one of them has been refused.
  void take(const PayloadEdgePlanRecord& edge, std::initializer_list<std::int64_t> durations_ns,
            AccumulationHorizonBasis basis, AccumulationHorizonPlanRecord& record) {
    std::uint64_t sum = 0;
    for (const std::int64_t ns : durations_ns) {
      if (ns < 0 || ns > kMaximumContractDuration.count()) return;
      sum += static_cast<std::uint64_t>(ns);
    }
    if (sum == 0) return;
    const auto seconds = Rational::make(sum, kNanosecondsPerSecond);
    if (!seconds) {
      overflow(state_.edge_name(edge), seconds.error());
      return;
    }
    record.basis = basis;
    record.seconds = *seconds;
  }

  /// A sample waits for the triggering inputs beside its own at most as long as the slowest of them
  /// takes for its next sample, and for the trigger's own window or wait.
  void wait_for_partners(const PayloadEdgePlanRecord& edge,
                         const TemporalTriggerPlanRecord& trigger, std::int64_t more_ns,
                         AccumulationHorizonBasis basis, AccumulationHorizonPlanRecord& record) {
    std::optional<Rational> slowest;
    for (const std::uint32_t port : trigger.inputs) {
      if (port == edge.target.port || port >= state_.op(edge.target.vertex).inputs.size()) continue;
      const PortRatePlanRecord& partner = input({edge.target.vertex, port});
      if (!partner.nominal) {
        record.basis = Basis::kPartnerUnknown;
        return;
      }
      if (state_.output(partner.root).rate.kind == PortRateKind::kLifecycleNominal) {
        record.basis = Basis::kPartnerSelectable;
        return;
      }
      slowest = slowest ? std::min(*slowest, *partner.nominal) : *partner.nominal;
    }
    if (!slowest) return;
    const auto more = Rational::make(static_cast<std::uint64_t>(more_ns), kNanosecondsPerSecond);
    const auto period = Rational::one().divide(*slowest);
    const auto seconds = more && period ? period->add(*more) : period;
    if (!seconds) {
      overflow(state_.edge_name(edge), seconds.error());
      record.basis = Basis::kPartnerUnknown;
      return;
    }
    record.basis = basis;
    record.seconds = *seconds;
  }

  void use_expectation(PortRef port) {
    const auto& stated = state_.input(port).expected_rate;
    if (!stated) return;
    const std::string place = state_.plan.input_name(port);
    const auto hint = exact(*stated, place, "expected_rate()");
    PortRatePlanRecord& own = input(port);
    if (!hint) return;
    if (own.nominal) {
      compare(*hint, own, place);
      return;
    }
    const PayloadEdgePlanRecord* edge = edge_into(port);
    if (!edge && own.basis == PortRateBasis::kUndeclared && state_.import_feeding(port) &&
        state_.input(port).accumulates_over) {
      own.basis = PortRateBasis::kExpected;
      own.nominal = *hint;
      own.maximum = *hint;
    }
    if (!edge || own.basis != PortRateBasis::kUndeclared ||
        !state_.plan.accumulation_horizons[edge->edge.value].seconds) {
      return;
    }
    own.basis = PortRateBasis::kExpected;
    own.nominal = *hint;
    own.maximum = *hint;
  }

  void compare(Rational hint, const PortRatePlanRecord& own, const std::string& place) {
    const bool selectable = state_.output(own.root).rate.kind == PortRateKind::kLifecycleNominal;
    if (own.nominal == hint || (selectable && (!own.maximum || hint <= *own.maximum))) return;
    const auto upstream = selectable ? own.maximum : own.nominal;
    state_.warning("RATE_EXPECTATION_DIFFERS", place,
                   "the input expects " + hint.to_string() + " samples a second, " +
                       state_.plan.output_name(own.root) + " leads to " +
                       (selectable ? "at most " : "") + upstream.value_or(hint).to_string(),
                   "correct expected_rate(), or leave it out: the upstream rate is used");
  }

  CompileState& state_;
  std::vector<std::size_t> first_{};  ///< By vertex: its first record in `port_rates`.
};

}  // namespace

void resolve_rates(CompileState& state) { RateResolver(state).resolve(); }

}  // namespace weftline::passes
