// SPDX-License-Identifier: Apache-2.0
//
// Parameters that change while a plan runs.

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <thread>

#include "test_operators.hpp"
#include "weftline/runtime/parameter_control.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

using namespace test;
using weftline::ParamAssignment;
using weftline::ParameterControlHandle;
using weftline::ParamUpdateState;
using weftline::ParamUpdateStatus;
using weftline::RunTermination;

namespace {

struct Gains {
  std::uint64_t gain{1};
  std::uint64_t offset{0};
  std::uint64_t secret{5};
  std::uint64_t size{16};
  std::uint64_t exposure{1};
};
WEFTLINE_PARAM_SCHEMA(Gains, weftline::param_schema("test.Gains", 1),
                      weftline::field<&Gains::gain>("gain").range(0, 1'000'000).runtime_mutable(),
                      weftline::field<&Gains::offset>("offset").runtime_mutable(),
                      weftline::field<&Gains::secret>("secret").sensitive().runtime_mutable(),
                      weftline::field<&Gains::size>("size").recompile_required(),
                      weftline::field<&Gains::exposure>("exposure")
                          .lifecycle_mutable(weftline::LifecycleStage::kStart));

struct Seen {
  std::uint64_t gain{0};
  std::uint64_t offset{0};
  std::uint64_t generation{0};
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Writes down the parameters of every activation, until a function says that it is over.
class Watcher final : public Operator<Gains> {
 public:
  using Step = std::function<expected<void, Error>(ExecutionContext&)>;
  Watcher(std::shared_ptr<Collected<Seen>> seen, Step step)
      : seen_(std::move(seen)), step_(std::move(step)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(10)});
  }
  void start(weftline::LifecycleContext& context) override { write_down(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    write_down(context);
    WEFTLINE_TRY(step_(context));
    // Whatever was updated meanwhile: an activation has one set of values.
    if (context.params<Gains>().gain != last_.gain ||
        context.params_generation() != last_.generation) {
      return weftline::fail(ErrorCode::kFailure, "TEST_PARAMS_MOVED");
    }
    return {};
  }

 private:
  template <class Context>
  void write_down(const Context& context) {
    const Gains& params = context.template params<Gains>();
    const Seen now{params.gain, params.offset, context.params_generation()};
    if (now == last_ && written_) return;
    written_ = true;
    last_ = now;
    seen_->add(now);
  }

  const std::shared_ptr<Collected<Seen>> seen_;
  const Step step_;
  Seen last_{};
  bool written_{false};
};

expected<void, Error> go_on(ExecutionContext&) { return {}; }

struct Run {
  explicit Run(Watcher::Step step = go_on, Gains params = {}) {
    weftline::Graph graph{"updates"};
    graph.op<Watcher>("watcher", seen, std::move(step)).set_params(params);
    graph.op<Scripted>("bystander", Scripted::Script(go_on));
    plan.emplace(compiled(graph));
    session.emplace(weftline::run_async(*plan));
  }
  std::shared_ptr<Collected<Seen>> seen{std::make_shared<Collected<Seen>>()};
  std::optional<weftline::ExecutionPlan> plan{};
  std::optional<weftline::RunSession> session{};
};

std::string token(const weftline::ParamUpdateResult& result) {
  return result.error ? std::string(result.error->token) : "-";
}

}  // namespace

TEST_CASE("compute() sees an update from its next activation on, and the receipt says so") {
  Run run(go_on, {.gain = 3});
  REQUIRE(run.seen->wait_for_count(1));
  const auto control = run.session->parameter_control();
  const std::vector<ParamAssignment> batch{{"gain", 7}, {"offset", 70}};
  const auto update = control.update("watcher", batch);
  REQUIRE(update);
  CHECK(update.status == ParamUpdateStatus::kAccepted);
  REQUIRE(eventually(*run.session,
                     [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  const auto next = control.update("watcher", weftline::param_ref<&Gains::gain>(), 8,
                                   {.expected_generation = update.generation});
  REQUIRE(next);
  REQUIRE(eventually(*run.session,
                     [&] { return next.receipt.state() == ParamUpdateState::kObserved; }));
  run.session->request_stop();
  CHECK(run_to_end(*run.session) == RunTermination::kStopped);
  CHECK(run.seen->values() == std::vector<Seen>{{3, 0, 0}, {7, 70, 1}, {8, 70, 2}});
}

TEST_CASE("an update during compute() is not seen by that compute()") {
  const auto gate = std::make_shared<Gate>();
  Run run([gate](ExecutionContext&) {
    return gate->pass() ? expected<void, Error>{}
                        : weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG");
  });
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  const auto control = run.session->parameter_control();
  const auto skipped = control.update("watcher", "gain", 7);
  const auto update = control.update("watcher", "gain", 8);
  CHECK(skipped.receipt.state() == ParamUpdateState::kSuperseded);
  CHECK(update.receipt.state() == ParamUpdateState::kAccepted);
  gate->open();
  REQUIRE(eventually(*run.session,
                     [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  run.session->request_stop();
  CHECK(run_to_end(*run.session) == RunTermination::kStopped);
  CHECK(run.session->diagnostics().empty());
  CHECK(run.seen->values() == std::vector<Seen>{{1, 0, 0}, {8, 0, 2}});
}

TEST_CASE("an operator may update itself") {
  const auto gain = weftline::param_ref<&Gains::gain>();
  Run run([gain](ExecutionContext& context) -> expected<void, Error> {
    const std::uint64_t now = context.params<Gains>().gain;
    if (now == 4) context.request_success();
    return context.submit(gain, now + 1);
  });
  CHECK(run_to_end(*run.session) == RunTermination::kCompleted);
  const auto seen = run.seen->values();
  REQUIRE(seen.size() >= 4);
  CHECK(seen[3] == Seen{4, 0, 3});
}

TEST_CASE("updates that can't be made are refused by name, and nothing changes") {
  Run run;
  const auto control = run.session->parameter_control();
  CHECK(token(control.update("nobody", "gain", 1)) == "PARAM_OPERATOR_UNKNOWN");
  CHECK(token(control.update("bystander", "gain", 1)) == "PARAM_FIELD_UNKNOWN");
  CHECK(token(control.update("watcher", "gian", 1)) == "PARAM_FIELD_UNKNOWN");
  CHECK(token(control.update("watcher", "gain", -1)) == "PARAM_OVERFLOW");
  CHECK(token(control.update("watcher", "gain", std::numeric_limits<double>::quiet_NaN())) ==
        "PARAM_TYPE_MISMATCH");
  CHECK(token(control.update("watcher", "gain", 1'000'001)) == "PARAM_OUT_OF_RANGE");
  CHECK(token(control.update("watcher", "size", 1)) == "PARAM_NOT_MUTABLE");
  CHECK(token(control.update("watcher", "exposure", 1)) == "PARAM_UPDATES_DISABLED");
  CHECK(token(control.update("", "", 1)) == "PARAM_OPERATOR_UNKNOWN");
  CHECK(token(ParameterControlHandle().update("watcher", "gain", 1)) == "PARAM_CONTROL_CLOSED");
  CHECK(control.snapshot().find("watcher")->generation == 0);
  const Run other;
  CHECK(other.session->parameter_control().update("watcher", "gain", 2));
  CHECK(control.snapshot().find("watcher")->generation == 0);
}

TEST_CASE("a snapshot names its plan, and holds the newest values but the sensitive ones") {
  Run run;
  const auto control = run.session->parameter_control();
  REQUIRE(control.update("watcher", "gain", 7));
  REQUIRE(control.update("watcher", "secret", 987'654'321));
  const auto snapshot = control.snapshot();
  CHECK(snapshot.plan_digest == run.plan->digest());
  REQUIRE(snapshot.operators.size() == 1);
  CHECK(snapshot.operators[0].operator_path == "watcher");
  CHECK(snapshot.operators[0].generation == 2);
  CHECK(*snapshot.find("watcher", "gain")->as_uint() == 7);
  CHECK(snapshot.find("watcher", "secret")->is_null());
  CHECK(snapshot.find("watcher", "nothing") == nullptr);
  CHECK(snapshot.find("bystander") == nullptr);
  CHECK(ParameterControlHandle().snapshot().operators.empty());
}

TEST_CASE("a restricted handle can't do more than the one that it was made of") {
  Run run;
  const auto control = run.session->parameter_control();
  const auto gain_only = control.restricted({.scopes = {{{"watcher", "gain"}}}});
  CHECK(gain_only.update("watcher", "gain", 2));
  const auto refused = gain_only.update("watcher", "offset", 2);
  CHECK(refused.status == ParamUpdateStatus::kPermissionDenied);
  CHECK(token(refused) == "PARAM_ACCESS_DENIED");
  CHECK(gain_only.snapshot().operators.at(0).fields.size() == 1);
  const auto widened = gain_only.restricted({.scopes = {{{"watcher", ""}}}});
  CHECK(token(widened.update("watcher", "offset", 2)) == "PARAM_ACCESS_DENIED");
  const auto reader = control.restricted({.read_only = true});
  CHECK(token(reader.update("watcher", "gain", 3)) == "PARAM_ACCESS_DENIED");
  CHECK(reader.restricted({}).snapshot().operators.size() == 1);
  CHECK(token(reader.restricted({}).update("watcher", "gain", 3)) == "PARAM_ACCESS_DENIED");
  CHECK(control.restricted({.scopes = {{}}}).snapshot().operators.empty());
}

TEST_CASE("a handle outlives its session: it reads, and updates nothing") {
  ParameterControlHandle control;
  weftline::ParamUpdateReceipt observed;
  {
    Run run;
    control = run.session->parameter_control();
    observed = control.update("watcher", "gain", 7).receipt;
    REQUIRE(
        eventually(*run.session, [&] { return observed.state() == ParamUpdateState::kObserved; }));
    run.session->request_stop();
    CHECK(run_to_end(*run.session) == RunTermination::kStopped);
    CHECK(control.update("watcher", "gain", 8).status == ParamUpdateStatus::kClosed);
  }
  CHECK(control.update("watcher", "gain", 8).status == ParamUpdateStatus::kClosed);
  CHECK(*control.snapshot().find("watcher", "gain")->as_uint() == 7);
  CHECK(observed.state() == ParamUpdateState::kObserved);
}

TEST_CASE("a session that failed to build gives a handle that is closed") {
  weftline::Graph graph{"no-clock"};
  graph.op<Scripted>("bystander", Scripted::Script(go_on));
  const auto session = weftline::run_async(weftline::compile(graph));
  REQUIRE(session.termination() == RunTermination::kFailed);
  CHECK(token(session.parameter_control().update("a", "b", 1)) == "PARAM_CONTROL_CLOSED");
  CHECK(session.parameter_control().snapshot().operators.empty());
}

TEST_CASE("a million updates while the operator rests take no more memory than a few") {
  const auto gate = std::make_shared<Gate>();
  Run run([gate](ExecutionContext&) {
    return gate->pass() ? expected<void, Error>{}
                        : weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG");
  });
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  const auto control = run.session->parameter_control();
  const auto used = [] {
#if defined(__GLIBC__)
    return ::mallinfo2().uordblks;
#else
    return std::size_t{0};
#endif
  };
  std::uint64_t accepted = 0;
  const auto update = [&](std::uint64_t value) {
    accepted += control.update("watcher", "offset", value).status == ParamUpdateStatus::kAccepted;
  };
  for (std::uint64_t value = 1; value <= 100; ++value) update(value);
  const std::size_t before = used();
  for (std::uint64_t value = 101; value <= 1'000'000; ++value) update(value);
  CHECK(accepted == 1'000'000);
  CHECK(used() < before + 65'536);
}

TEST_CASE("updates race with the stop and the end of a session, and are accepted or closed") {
  for (int round = 0; round < 20; ++round) {
    auto run = std::make_unique<Run>();
    const auto control = run->session->parameter_control();
    std::atomic<std::uint64_t> strange{0};
    std::atomic<std::uint32_t> closed{0};
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 2; ++writer) {
      writers.emplace_back([&] {
        weftline::ParamUpdateReceipt last;
        for (std::uint64_t value = 1;; ++value) {
          const auto result = control.update("watcher", "offset", value);
          static_cast<void>(last.state());
          if (result.receipt.generation()) last = result.receipt;
          if (result.status == ParamUpdateStatus::kClosed) break;
          strange += result.status != ParamUpdateStatus::kAccepted &&
                     result.status != ParamUpdateStatus::kAcceptedNoChange;
          static_cast<void>(control.snapshot());
        }
        const auto state = last.state();
        strange += last.generation() && state != ParamUpdateState::kObserved &&
                   state != ParamUpdateState::kSuperseded && state != ParamUpdateState::kClosed;
        closed.fetch_add(1);
      });
    }
    REQUIRE(run->seen->wait_for_count(2));
    if (round % 2 == 0) run->session->request_stop();
    run.reset();
    for (auto& writer : writers) writer.join();
    CHECK(strange == 0);
    CHECK(closed == 2);
  }
}
