// SPDX-License-Identifier: Apache-2.0
//
// Restarts of operators that wait for readiness sources: what was bound is bound anew.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"

using namespace test;
using weftline::Doorbell;
using weftline::LifecycleContext;
using weftline::LifecycleStage;
using weftline::LifecycleStatus;
using weftline::NotificationSender;
using weftline::RunTermination;
using State = weftline::LifecycleTransactionState;

namespace {

enum class Kind : std::uint8_t { kNotified, kReadable, kDoorbell, kSpin };

/// Waits for one source. What kArm and compute() do is the test's; `start` is counted from 0 over
/// all instances.
class Waiter final : public Operator<> {
 public:
  struct Script {
    Kind kind{Kind::kNotified};
    std::function<void(Waiter&, LifecycleContext&, int start)> bind{};
    std::function<void(ExecutionContext&)> act{};
    int starts{0};
    Collected<std::uint64_t> seen{};  ///< One for each activation.
    std::string bound_early{};        ///< The token of binding in kAllocate.
  };
  explicit Waiter(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  weftline::NotificationSourceRef notified;
  weftline::ReadableSourceRef readable;
  weftline::DoorbellSourceRef doorbell;
  weftline::SpinSourceRef spin;

  void setup(OperatorSpec& spec) override {
    if (script_->kind == Kind::kNotified) spec.notification_source(notified, "event").capacity(4);
    if (script_->kind == Kind::kReadable) spec.readable_source(readable, "event");
    if (script_->kind == Kind::kDoorbell) spec.doorbell_source(doorbell, "event");
    if (script_->kind == Kind::kSpin) spec.spin_source(spin, "event");
    spec.lifecycle().stage(LifecycleStage::kAllocate, &Waiter::allocate);
    spec.lifecycle().stage(LifecycleStage::kArm, &Waiter::arm);
  }
  Contract contract() const override {
    switch (script_->kind) {
      case Kind::kNotified:
        return Contract().trigger(weftline::OnNotified{notified});
      case Kind::kReadable:
        return Contract().trigger(weftline::OnReadable{readable});
      case Kind::kDoorbell:
        return Contract().trigger(weftline::OnDoorbell{doorbell});
      default:
        return Contract().trigger(weftline::OnSpin{spin});
    }
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (script_->act) script_->act(context);
    script_->seen.add(1);
    return {};
  }

 private:
  LifecycleStatus allocate(LifecycleContext& context) noexcept {
    if (script_->kind != Kind::kDoorbell) return LifecycleStatus::kOk;
    const auto bell = context.doorbell(doorbell);
    script_->bound_early = bell ? "-" : std::string(bell.error().token);
    return LifecycleStatus::kOk;
  }
  LifecycleStatus arm(LifecycleContext& context) noexcept {
    script_->bind(*this, context, script_->starts++);
    return LifecycleStatus::kOk;
  }

  const std::shared_ptr<Script> script_;
};

/// A waiter that may be restarted from outside and by itself.
class Run {
 public:
  Run(Kind kind, std::function<void(Waiter&, LifecycleContext&, int)> bind,
      LifecycleStage from = LifecycleStage::kStart) {
    script->kind = kind;
    script->bind = std::move(bind);
    from_ = from;
  }
  void begin() {
    weftline::Graph graph{"waiter"};
    use_realtime_clock(graph);
    const auto waiter = graph.op<Waiter>("waiter", script);
    graph.allow_external_restart(waiter, {.from_stage = from_});
    graph.grant_restart(waiter, waiter, {.from_stage = from_});
    weftline::CompileOptions options;
    options.lifecycle_transactions.emplace();
    plan_.emplace(weftline::compile(graph, options));
    INFO(weftline::format_diagnostics(plan_->diagnostics()));
    REQUIRE(plan_->ok());
    session.emplace(weftline::run_async(*plan_));
    REQUIRE(eventually(*session, [&] {
      return session->counters().lanes.at(0).parks > 0 || script->kind == Kind::kSpin;
    }));
  }
  State restart() {
    const auto receipt = session->lifecycle_control().request_restart("waiter");
    REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
    INFO(receipt.view().error.token << ": " << receipt.view().error.message);
    CHECK(receipt.view().effective_stage <= LifecycleStage::kArm);
    return receipt.view().state;
  }
  void stop() {
    session->request_stop();
    CHECK(run_to_end(*session) == RunTermination::kStopped);
    CHECK(session->diagnostics().empty());
  }
  [[nodiscard]] bool activated(std::size_t count) const {
    return script->seen.wait_for_count(count);
  }
  void check_still(std::size_t count) const {
    for_a_while([&] { CHECK(script->seen.values().size() == count); });
  }
  std::shared_ptr<Waiter::Script> script{std::make_shared<Waiter::Script>()};
  std::optional<weftline::RunSession> session{};

 private:
  LifecycleStage from_{LifecycleStage::kStart};
  std::optional<weftline::ExecutionPlan> plan_{};
};

struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void write() const { REQUIRE(::write(ends[1], "x", 1) == 1); }
  bool read() const {
    char byte = 0;
    return ::read(ends[0], &byte, 1) == 1;
  }
  std::array<int, 2> ends{-1, -1};
};

}  // namespace

TEST_CASE("after a restart old senders are closed, new ones notify, and what was pending is gone") {
  const auto from = GENERATE(LifecycleStage::kStart, LifecycleStage::kConfigure);
  std::vector<NotificationSender> senders;
  Gate gate;
  Run run(
      Kind::kNotified,
      [&](Waiter& waiter, LifecycleContext& context, int) {
        senders.push_back(std::move(*context.notification_sender(waiter.notified)));
      },
      from);
  bool granted = false;
  run.script->act = [&](ExecutionContext& context) {
    if (run.script->seen.values().empty()) {
      granted = gate.pass() && context.request_restart().has_value();
    }
  };
  run.begin();
  REQUIRE(senders.at(0).notify());
  REQUIRE(gate.wait_for_visitor());
  for (int more = 0; more < 4; ++more) REQUIRE(senders.at(0).notify());
  CHECK(senders.at(0).notify().error().token == "SOURCE_NOTIFICATIONS_FULL");
  gate.open();
  REQUIRE(
      eventually(*run.session, [&] { return run.session->counters().restarts.committed == 1; }));
  CHECK(granted);
  REQUIRE(senders.size() == 2);
  const auto closed = senders[0].notify();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().token == "SOURCE_CLOSED");
  CHECK(closed.error().code == ErrorCode::kClosed);
  run.check_still(1);
  for (std::size_t more = 2; more <= 5; ++more) {
    REQUIRE(senders[1].notify());
    REQUIRE(run.activated(more));
  }
  run.check_still(5);
  run.stop();
}

TEST_CASE("a doorbell counts from 0 again") {
  std::vector<Doorbell> bells;
  Run run(Kind::kDoorbell, [&](Waiter& waiter, LifecycleContext& context, int) {
    bells.push_back(*context.doorbell(waiter.doorbell));
  });
  run.begin();
  REQUIRE(bells.at(0).ring(7));
  REQUIRE(run.activated(1));
  REQUIRE(run.restart() == State::kCommitted);
  CHECK(bells[0].ring(8).error().token == "SOURCE_CLOSED");
  run.check_still(1);
  REQUIRE(bells.at(1).ring(1));
  REQUIRE(run.activated(2));
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(bells.at(2).ring(1));
  REQUIRE(run.activated(3));
  run.stop();
  CHECK(run.script->bound_early == "SOURCE_BOUND_EARLY");
}

TEST_CASE("a descriptor that was bound before a restart is of no interest after it") {
  Pipe first;
  Pipe second;
  Run run(Kind::kReadable, [&](Waiter& waiter, LifecycleContext& context, int start) {
    static_cast<void>(
        context.bind_readable(waiter.readable, (start == 0 ? first : second).ends[0]));
  });
  run.script->act = [&](ExecutionContext&) { static_cast<void>(first.read() || second.read()); };
  run.begin();
  first.write();
  REQUIRE(run.activated(1));
  REQUIRE(run.restart() == State::kCommitted);
  first.write();
  run.check_still(1);
  second.write();
  REQUIRE(run.activated(2));
  run.stop();
}

TEST_CASE("a spin source's flag that is up at the restart is no edge") {
  std::atomic<bool> flag{false};
  std::atomic<bool> other{true};
  Run run(Kind::kSpin, [&](Waiter& waiter, LifecycleContext& context, int start) {
    static_cast<void>(
        context.bind_spin(waiter.spin, weftline::SpinProbe::of(start == 0 ? flag : other)));
  });
  run.begin();
  flag = true;
  // Until a look has seen it down first.
  while (run.script->seen.values().empty()) {
    flag = false;
    for_a_while([] {});
    flag = true;
    for_a_while([] {});
  }
  const std::size_t before = run.script->seen.values().size();
  REQUIRE(run.restart() == State::kCommitted);
  run.check_still(before);
  while (run.script->seen.values().size() == before) {
    other = false;
    for_a_while([] {});
    other = true;
    for_a_while([] {});
  }
  run.stop();
}

TEST_CASE("a candidate that binds nothing makes way, and what ran before binds again") {
  const auto from = GENERATE(LifecycleStage::kArm, LifecycleStage::kConfigure);
  std::vector<NotificationSender> senders;
  Run run(
      Kind::kNotified,
      [&](Waiter& waiter, LifecycleContext& context, int start) {
        if (start == 1) return;
        senders.push_back(std::move(*context.notification_sender(waiter.notified)));
      },
      from);
  run.begin();
  const auto receipt = run.session->lifecycle_control().request_restart("waiter");
  REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
  CHECK(receipt.view().state == State::kRolledBack);
  CHECK(receipt.view().error.token == "SOURCE_UNBOUND");
  REQUIRE(senders.size() == 2);
  CHECK_FALSE(senders[0].notify());
  REQUIRE(senders[1].notify());
  REQUIRE(run.activated(1));
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(senders.at(2).notify());
  REQUIRE(run.activated(2));
  run.stop();
}

TEST_CASE("a binding that no start makes any more ends the run by the operator's name") {
  Run run(Kind::kNotified, [](Waiter& waiter, LifecycleContext& context, int start) {
    if (start == 0) static_cast<void>(context.notification_sender(waiter.notified));
  });
  run.begin();
  const auto receipt = run.session->lifecycle_control().request_restart("waiter");
  REQUIRE(run_to_end(*run.session) == RunTermination::kFailed);
  CHECK(receipt.view().state == State::kFailedStopped);
  REQUIRE(run.session->diagnostics().size() == 1);
  CHECK(run.session->diagnostics()[0].place == "waiter");
  CHECK(run.session->diagnostics()[0].error.token == "SOURCE_UNBOUND");
}
