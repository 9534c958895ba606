// SPDX-License-Identifier: Apache-2.0
//
// Contracts and readiness sources as they are authored, and what a snapshot makes of them.

#include "weftline/graph/contract.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "weftline/graph/graph.hpp"

using namespace weftline;

namespace {

struct Timing {
  std::chrono::nanoseconds age{1'000};
  std::uint64_t big{std::numeric_limits<std::uint64_t>::max()};
  std::int32_t small{-5};
  std::chrono::nanoseconds live{7};
  std::chrono::nanoseconds secret{9};
  std::uint32_t bounded{3};
};

WEFTLINE_PARAM_SCHEMA(Timing, weftline::param_schema("com.example.Timing", 1),
                      weftline::field<&Timing::age>("age"),
                      weftline::field<&Timing::big>("big").recompile_required(),
                      weftline::field<&Timing::small>("small"),
                      weftline::field<&Timing::live>("live").runtime_mutable(),
                      weftline::field<&Timing::secret>("secret").sensitive(),
                      weftline::field<&Timing::bounded>("bounded").range(1, 10));

struct Other {
  std::chrono::nanoseconds age{1};
};

WEFTLINE_PARAM_SCHEMA(Other, weftline::param_schema("com.example.Other", 1),
                      weftline::field<&Other::age>("age"));

/// Goes by the name of Timing, but its "age" is a text.
struct Impostor {
  std::int32_t age{4};
};

WEFTLINE_PARAM_SCHEMA(Impostor, weftline::param_schema("com.example.Timing", 1),
                      weftline::field<&Impostor::age>("age"));

class Probe;
using Declare = std::function<void(Probe&, OperatorSpec&)>;
using Promise = std::function<Contract(const Probe&)>;

/// Declares and promises what a test says.
class Probe final : public Operator<Timing> {
 public:
  Probe(Promise promise, Declare declare)
      : promise_(std::move(promise)), declare_(std::move(declare)) {}
  Input<std::uint32_t> a;
  Input<std::uint32_t> b;
  Input<std::uint32_t> undeclared;
  NotificationSourceRef bell;
  ReadableSourceRef fd;
  DoorbellSourceRef door;
  SpinSourceRef flag;
  void setup(OperatorSpec& spec) override {
    spec.input(a, "a");
    spec.input(b, "b");
    if (declare_) declare_(*this, spec);
  }
  Contract contract() const override { return promise_(*this); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }

 private:
  Promise promise_;
  Declare declare_;
};

VertexSnapshot frozen(Promise promise, Declare declare = {}, Timing values = {}) {
  Graph graph{"demo"};
  graph.op<Probe>("probe", std::move(promise), std::move(declare)).set_params(values);
  return graph.snapshot().vertices.at(0);
}

InputSelectionSnapshot selection(const std::function<Contract&(Contract&, const Probe&)>& select,
                                 Timing values = {}) {
  const VertexSnapshot vertex = frozen(
      [&](const Probe& probe) {
        Contract contract;
        return select(contract, probe);
      },
      {}, values);
  REQUIRE(vertex.contract.selections.size() == 1);
  return vertex.contract.selections[0];
}

/// The token that an authoring call throws; empty when it does not.
template <class Call>
std::string thrown_token(Call&& call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    CHECK_FALSE(error.error().message.empty());
    return std::string(error.token());
  }
  return {};
}

using Kind = TemporalRecordTriggerKind;

}  // namespace

TEST_CASE("every trigger is frozen with its facts") {
  const auto trigger = [](const std::function<Trigger(const Probe&)>& make) {
    const Declare sources = [](Probe& probe, OperatorSpec& spec) {
      spec.notification_source(probe.bell, "bell");
      spec.readable_source(probe.fd, "fd");
      spec.doorbell_source(probe.door, "door");
      spec.spin_source(probe.flag, "flag");
    };
    return *frozen([&](const Probe& probe) { return Contract().trigger(make(probe)); }, sources)
                .trigger;
  };
  const auto window = trigger([](const Probe& probe) {
    return OnWindow{
        .anchor = probe.b, .max_wait = std::chrono::microseconds(5), .max_pending_windows = 3};
  });
  CHECK(window.kind == Kind::kWindow);
  CHECK(window.inputs == std::vector<std::uint32_t>{1});
  CHECK(window.max_wait_ns == 5'000);
  CHECK(window.max_pending_windows == 3);
  const auto clock = trigger([](const Probe&) {
    return OnClock{.period = std::chrono::nanoseconds(9),
                   .phase = std::chrono::nanoseconds(-4),
                   .origin = ClockPhaseOrigin::kExplicitAbsolute};
  });
  CHECK(clock.phase_ns == -4);
  CHECK(clock.phase_origin == ClockPhaseOrigin::kExplicitAbsolute);
  const auto bell = trigger([](const Probe& probe) { return OnNotified{probe.bell}; });
  CHECK(bell.kind == Kind::kNotified);
  CHECK(bell.source == 0);
  CHECK(trigger([](const Probe& probe) { return OnReadable{probe.fd}; }).source == 1);
  CHECK(trigger([](const Probe& probe) { return OnDoorbell{probe.door}; }).source == 2);
  const auto spin = trigger([](const Probe& probe) { return OnSpin{.event = probe.flag}; });
  CHECK(spin.kind == Kind::kSpin);
  CHECK(spin.source == 3);
}

TEST_CASE("a wait clock is frozen by name, and the default clock by none") {
  const auto wait_clock = [](std::optional<ClockKey> key) {
    return frozen([&](const Probe& probe) {
             return Contract().trigger(OnWindow{.anchor = probe.a, .wait_clock = key});
           })
        .contract.wait_clock;
  };
  CHECK(wait_clock(ClockKey{"wall"}) == "wall");
  CHECK(wait_clock({}).empty());
}

TEST_CASE("sources are frozen in the order of their declaration, spin ones for polling") {
  const VertexSnapshot vertex = frozen([](const Probe&) { return Contract(); },
                                       [](Probe& probe, OperatorSpec& spec) {
                                         spec.spin_source(probe.flag, "flag").capacity(1);
                                         spec.notification_source(probe.bell, "bell")
                                             .capacity(8)
                                             .sender_reference_capacity(2)
                                             .clock({"wall"});
                                       });
  const auto& sources = vertex.contract.sources;
  REQUIRE(sources.size() == 2);
  CHECK(sources[0].record.kind == ReadinessSourceKind::kSpin);
  CHECK(sources[0].record.wake_requirement == ReadinessWakeRequirement::kBusyPollRequired);
  CHECK(sources[0].record.capacity == 1);
  CHECK(sources[0].clock.empty());
  CHECK(sources[1].record.name == "bell");
  CHECK(sources[1].record.capacity == 8);
  CHECK(sources[1].record.sender_reference_capacity == 2);
  CHECK(sources[1].record.wake_requirement == ReadinessWakeRequirement::kDeploymentSelected);
  CHECK(sources[1].clock == "wall");
}

TEST_CASE("source capacities are admitted up to their limits, at the call") {
  const auto token = [](const std::function<void(Probe&, OperatorSpec&)>& declare) {
    return thrown_token([&] {
      Graph graph{"demo"};
      graph.op<Probe>(
          "probe", [](const Probe&) { return Contract(); }, declare);
    });
  };
  const auto bell = [&](std::uint32_t capacity) {
    return token([=](Probe& probe, OperatorSpec& spec) {
      spec.notification_source(probe.bell, "bell").capacity(capacity);
    });
  };
  CHECK(bell(kMaximumNotificationCapacity).empty());
  CHECK(bell(kMaximumNotificationCapacity + 1) == "SOURCE_CAPACITY_INVALID");
  CHECK(bell(0) == "SOURCE_CAPACITY_INVALID");
  const auto senders = [&](std::uint32_t count) {
    return token([=](Probe& probe, OperatorSpec& spec) {
      spec.notification_source(probe.bell, "bell").sender_reference_capacity(count);
    });
  };
  CHECK(senders(kMaximumSenderReferences).empty());
  CHECK(senders(kMaximumSenderReferences + 1) == "SOURCE_CAPACITY_INVALID");
  CHECK(senders(0) == "SOURCE_CAPACITY_INVALID");
  for (const std::uint32_t capacity : {0U, 2U, 0xffff'ffffU}) {
    CHECK(token([=](Probe& probe, OperatorSpec& spec) {
            spec.readable_source(probe.fd, "fd").capacity(capacity);
          }) == "SOURCE_CAPACITY_INVALID");
    CHECK(token([=](Probe& probe, OperatorSpec& spec) {
            spec.spin_source(probe.flag, "flag").capacity(capacity);
          }) == "SOURCE_CAPACITY_INVALID");
    CHECK(token([=](Probe& probe, OperatorSpec& spec) {
            spec.doorbell_source(probe.door, "door").capacity(capacity);
          }) == "SOURCE_CAPACITY_INVALID");
  }
}

TEST_CASE("a source has a new name of its own and is declared once") {
  const auto token = [](const std::function<void(Probe&, OperatorSpec&)>& declare) {
    return thrown_token([&] {
      Graph graph{"demo"};
      graph.op<Probe>(
          "probe", [](const Probe&) { return Contract(); }, declare);
    });
  };
  CHECK(token([](Probe& probe, OperatorSpec& spec) { spec.spin_source(probe.flag, "../x"); }) ==
        "PORT_NAME_INVALID");
  CHECK(token([](Probe& probe, OperatorSpec& spec) {
          spec.spin_source(probe.flag, "x");
          spec.readable_source(probe.fd, "x");
        }) == "PORT_NAME_DUPLICATE");
  CHECK(token([](Probe& probe, OperatorSpec& spec) {
          spec.spin_source(probe.flag, "x");
          spec.spin_source(probe.flag, "y");
        }) == "PORT_DECLARED_TWICE");
  // A port may have that name.
  CHECK(token([](Probe& probe, OperatorSpec& spec) { spec.spin_source(probe.flag, "a"); }).empty());
}

TEST_CASE("every selector and policy is frozen with its facts") {
  const auto latest = selection([](Contract& contract, const Probe& probe) -> Contract& {
    return contract.select(probe.b, LatestWithin{.max_age = std::chrono::milliseconds(5)},
                           ReuseLast{.max_reuses = 4});
  });
  CHECK(latest.input == 1);
  CHECK(latest.selector == InputSelectorKind::kLatestWithin);
  CHECK(latest.max_age_ns == 5'000'000);
  CHECK(latest.max_age_parameter.empty());
  CHECK(latest.missing == MissingDataKind::kReuseLast);
  CHECK(latest.max_reuses == 4);
  const auto drain = selection([](Contract& contract, const Probe& probe) -> Contract& {
    return contract.select(probe.a, DrainAll{.max_samples = 40}, SafeDefault{});
  });
  CHECK(drain.input == 0);
  CHECK(drain.selector == InputSelectorKind::kDrainAll);
  CHECK(drain.max_samples == 40);
  CHECK(drain.missing == MissingDataKind::kSafeDefault);
  const auto bracket = selection([](Contract& contract, const Probe& probe) -> Contract& {
    return contract.select(probe.a,
                           BracketedWindow{.lookbehind = std::chrono::nanoseconds(3),
                                           .lookahead = std::chrono::nanoseconds(4),
                                           .max_samples = 5},
                           Absent{});
  });
  CHECK(bracket.selector == InputSelectorKind::kBracketedWindow);
  CHECK(bracket.lookbehind_ns == 3);
  CHECK(bracket.lookahead_ns == 4);
  CHECK(bracket.max_samples == 5);
  CHECK(bracket.missing == MissingDataKind::kAbsent);
  const auto exact = selection([](Contract& contract, const Probe& probe) -> Contract& {
    return contract.select(probe.a, Exact{});
  });
  CHECK(exact.selector == InputSelectorKind::kExact);
  CHECK(exact.missing == MissingDataKind::kSkip);
  CHECK(selection([](Contract& contract, const Probe& probe) -> Contract& {
          return contract.select(probe.a, Exact{}, Fail{});
        }).missing == MissingDataKind::kFail);
}

TEST_CASE("an age may be a parameter: its given value is frozen, with its name") {
  const auto aged = [](auto ref, Timing values = {}) {
    return selection(
        [&](Contract& contract, const Probe& probe) -> Contract& {
          return contract.select(probe.a, LatestWithin{.max_age = ref});
        },
        values);
  };
  const auto age = aged(param_ref<&Timing::age>(), {.age = std::chrono::nanoseconds(77)});
  CHECK(age.max_age_ns == 77);
  CHECK(age.max_age_parameter == "age");
  CHECK(age.max_age_may_enter_plan);
  CHECK(aged(param_ref<&Timing::small>()).max_age_ns == -5);
  CHECK(aged(param_ref<&Timing::big>()).max_age_ns == std::numeric_limits<std::int64_t>::max());
  for (const auto& refused :
       {aged(param_ref<&Timing::live>()), aged(param_ref<&Timing::secret>())}) {
    CHECK_FALSE(refused.max_age_may_enter_plan);
    CHECK_FALSE(refused.max_age_ns.has_value());
  }
  // A value that the schema refuses is not taken; the refusal itself is reported by compile().
  const auto refused = aged(param_ref<&Timing::age>(), {.bounded = 11});
  CHECK_FALSE(refused.max_age_ns.has_value());
  CHECK(refused.max_age_may_enter_plan);
}

TEST_CASE("a parameter of another struct is refused, even one that goes by the same name") {
  const auto token = [](auto ref) {
    return thrown_token([&] {
      frozen([&](const Probe& probe) {
        return Contract().select(probe.a, LatestWithin{.max_age = ref});
      });
    });
  };
  CHECK(token(param_ref<&Timing::age>()).empty());
  CHECK(token(param_ref<&Other::age>()) == "CONTRACT_PARAMETER_FOREIGN");
  CHECK(token(param_ref<&Impostor::age>()) == "CONTRACT_PARAMETER_FOREIGN");
}

TEST_CASE("a contract that names what is not its operator's throws") {
  const auto token = [](const Promise& promise, const Declare& declare = {}) {
    return thrown_token([&] { frozen(promise, declare); });
  };
  CHECK(token([](const Probe& probe) { return Contract().select(probe.undeclared, Exact{}); }) ==
        "CONTRACT_INPUT_FOREIGN");
  CHECK(token([](const Probe& probe) {
          return Contract().trigger(OnWindow{.anchor = probe.undeclared});
        }) == "CONTRACT_INPUT_FOREIGN");
  CHECK(token([](const Probe& probe) { return Contract().trigger(OnDoorbell{probe.door}); }) ==
        "CONTRACT_SOURCE_FOREIGN");
  static const SpinSourceRef kStranger;
  CHECK(token([](const Probe&) { return Contract().trigger(OnSpin{kStranger}); },
              [](Probe& probe, OperatorSpec& spec) { spec.spin_source(probe.flag, "flag"); }) ==
        "CONTRACT_SOURCE_FOREIGN");
}

TEST_CASE("a start delay and an end stand beside any trigger, also one that nobody wrote") {
  const VertexSnapshot vertex = frozen([](const Probe&) {
    return Contract()
        .max_start_delay(std::chrono::milliseconds(2), OnViolation::kFailRun)
        .complete_after(ComputeCalls{.limit = 9});
  });
  REQUIRE(vertex.trigger);
  CHECK(vertex.trigger->kind == Kind::kAnyInput);
  CHECK(vertex.trigger->origin == TemporalRecordOrigin::kCoreSynthesized);
  CHECK(vertex.trigger->inputs == std::vector<std::uint32_t>{0, 1});
  CHECK(vertex.trigger->max_start_delay_ns == 2'000'000);
  CHECK(vertex.trigger->on_violation == OnViolation::kFailRun);
  CHECK(vertex.trigger->complete_after_computes == 9U);
  CHECK_FALSE(frozen([](const Probe&) { return Contract(); }).trigger.has_value());
  CHECK(thrown_token([] { Contract().complete_after({.limit = 0}); }) ==
        "CONTRACT_COMPLETION_INVALID");
}
