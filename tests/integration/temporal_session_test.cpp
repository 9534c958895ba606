// SPDX-License-Identifier: Apache-2.0
// Random contracts in real runs, on a driven clock, against the reference model.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <random>

#include "test_operators.hpp"
#include "weftline/core/synthetic_clock.hpp"
#include "weftline/testing/authored_contract.hpp"
#include "weftline/testing/operator_model.hpp"
#include "weftline/testing/random_contract.hpp"

using namespace test;
using weftline::ClockDriver;
using weftline::LifecycleContext;
using weftline::NotificationSender;
using weftline::ReadinessSourceKind;
using weftline::TemporalRecordTriggerKind;
using weftline::testing::AuthoredContract;
using weftline::testing::ModelActivation;
using weftline::testing::ModelSample;
using weftline::testing::ModelSelection;
using weftline::testing::OperatorModel;
using weftline::testing::RandomContract;

namespace {

template <class T>
T or_throw(expected<T, Error> result) {
  if (!result) throw weftline::RuntimeError(result.error());
  return std::move(*result);
}
void or_throw(expected<void, Error> result) {
  if (!result) throw weftline::RuntimeError(result.error());
}

/// Orders from the test's thread to one feeder. Absent: close.
class Mailbox {
 public:
  void adopt(NotificationSender sender) {
    const std::lock_guard lock(mutex_);
    sender_.emplace(std::move(sender));
    adopted_ = true;
  }
  [[nodiscard]] bool adopted() const { return adopted_; }
  void post(std::optional<ModelSample> order) {
    const std::lock_guard lock(mutex_);
    orders_.push_back(order);
    ++posted_;
    // A run that has failed meanwhile, as its model will say, is closed to orders.
    const auto notified = sender_->notify();
    if (!notified && notified.error().code != weftline::ErrorCode::kClosed) or_throw(notified);
  }
  std::optional<ModelSample> take() {
    const std::lock_guard lock(mutex_);
    const auto order = orders_.front();
    orders_.pop_front();
    return order;
  }
  void done() { done_.fetch_add(1); }
  [[nodiscard]] bool idle() const { return done_.load() == posted_; }

 private:
  std::mutex mutex_{};
  std::deque<std::optional<ModelSample>> orders_{};
  std::optional<NotificationSender> sender_{};
  std::uint64_t posted_{0};  ///< The test's thread.
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> adopted_{false};
};

/// Emits what it is told to.
class Feeder final : public Operator<> {
 public:
  explicit Feeder(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}
  Output<std::uint64_t> out;
  weftline::NotificationSourceRef orders;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out");
    spec.notification_source(orders, "orders").capacity(1'000);
  }
  Contract contract() const override { return Contract().trigger(weftline::OnNotified{orders}); }
  void start(LifecycleContext& context) override {
    mailbox_->adopt(or_throw(context.notification_sender(orders)));
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    const auto order = mailbox_->take();
    expected<void, Error> result{};
    if (!order) {
      result = out.close();
    } else {
      weftline::EmitOptions options;
      if (order->capture_ns) options.capture_time = context.clock().at_ns(*order->capture_ns);
      result = out.emit(order->sequence, options);
    }
    mailbox_->done();
    return result;
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
};

/// In the lane of the operator under test: runs once for each call, in turn with it.
class Ping final : public Operator<> {
 public:
  explicit Ping(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}
  weftline::NotificationSourceRef calls;
  void setup(OperatorSpec& spec) override { spec.notification_source(calls, "calls"); }
  Contract contract() const override { return Contract().trigger(weftline::OnNotified{calls}); }
  void start(LifecycleContext& context) override {
    mailbox_->adopt(or_throw(context.notification_sender(calls)));
  }
  expected<void, Error> compute(ExecutionContext&) override {
    mailbox_->take();
    mailbox_->done();
    return {};
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
};

/// What the test's thread and the operator under test share.
struct Bench {
  ~Bench() {
    for (const int descriptor : pipe) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }
  void drain() const {
    char byte = 0;
    while (::read(pipe[0], &byte, 1) == 1) {
    }
  }
  RandomContract contract{};
  Collected<ModelActivation> seen{};
  std::atomic<bool> flag{false};
  std::optional<NotificationSender> sender{};
  std::optional<weftline::Doorbell> bell{};
  std::array<int, 2> pipe{-1, -1};
};

/// The operator under test: as many inputs and sources as its contract has.
class Probe final : public Operator<> {
 public:
  explicit Probe(std::shared_ptr<Bench> bench) : bench_(std::move(bench)) {}
  std::array<Input<std::uint64_t>, 3> in{};

  void setup(OperatorSpec& spec) override {
    for (std::size_t port = 0; port < ports(); ++port) {
      spec.input(in.at(port), "in" + std::to_string(port));
    }
    authored_.declare_source(spec);
  }

  Contract contract() const override {
    return authored_.contract(std::array<const weftline::InputPort*, 3>{&in[0], &in[1], &in[2]});
  }

  void start(LifecycleContext& context) override {
    if (bench_->contract.sources.empty()) return;
    switch (bench_->contract.sources.front().kind) {
      case ReadinessSourceKind::kNotification:
        bench_->sender.emplace(or_throw(context.notification_sender(authored_.notification)));
        break;
      case ReadinessSourceKind::kReadable:
        or_throw(context.bind_readable(authored_.readable, bench_->pipe[0]));
        break;
      case ReadinessSourceKind::kDoorbell:
        bench_->bell.emplace(or_throw(context.doorbell(authored_.doorbell)));
        break;
      case ReadinessSourceKind::kSpin:
        or_throw(context.bind_spin(authored_.spin, weftline::SpinProbe::of(bench_->flag)));
        break;
    }
  }

  expected<void, Error> compute(ExecutionContext& context) override {
    const bool ticks = bench_->contract.trigger.kind == TemporalRecordTriggerKind::kClock;
    ModelActivation seen{.activation_ns = context.activation_time().timestamp_ns,
                         .first_tick_ns = ticks ? context.first_tick_time().timestamp_ns : 0};
    for (std::size_t port = 0; port < ports(); ++port) {
      ModelSelection found{in.at(port).state(), {}};
      if (const auto batch = in.at(port).receive_batch()) {
        for (const auto& sample : *batch) found.sequences.push_back(sample.data);
      } else if (const auto sample = in.at(port).receive()) {
        found.sequences.push_back(sample->data);
      }
      seen.inputs.push_back(std::move(found));
    }
    if (bench_->pipe[0] >= 0) bench_->drain();
    bench_->seen.add(std::move(seen));
    return {};
  }

 private:
  [[nodiscard]] std::size_t ports() const { return bench_->contract.selections.size(); }

  const std::shared_ptr<Bench> bench_;
  AuthoredContract authored_{bench_->contract};
};

/// One run, event by event, beside the model.
class SessionTrace {
 public:
  explicit SessionTrace(std::uint32_t seed) : random_(seed) {
    bench_->contract = weftline::testing::random_contract(random_);
    auto& trigger = bench_->contract.trigger;
    const std::size_t ports = bench_->contract.selections.size();
    if (ports == 0 && random_() % 2 == 0) trigger.complete_after_computes = 1 + random_() % 20;
    if (trigger.kind == TemporalRecordTriggerKind::kReadable) {
      REQUIRE(::pipe2(bench_->pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    }
    model_.emplace(trigger, bench_->contract.sources, bench_->contract.selections);

    weftline::Graph graph{"trace"};
    graph.set_default_clock(graph.add_clock<weftline::SyntheticClock>("sim", driver_));
    const auto probe = graph.op<Probe>("probe", bench_);
    auto lane = graph.partition("probe");
    lane.add(probe).add(graph.op<Ping>("ping", ping_));
    for (std::size_t port = 0; port < ports; ++port) {
      feeds_.push_back({std::make_shared<Mailbox>()});
      const auto feeder = graph.op<Feeder>("feeder" + std::to_string(port), feeds_.back().mailbox);
      graph.add_flow(feeder->out, probe->in.at(port), {.queue_depth = 1'000});
      const auto where = random_() % 3;
      if (where == 0) lane.add(feeder);
      if (where == 1) graph.partition("lane" + std::to_string(port)).add(feeder);
    }
    plan_.emplace(weftline::compile(graph));
    INFO(weftline::format_diagnostics(plan_->diagnostics()));
    REQUIRE(plan_->ok());
    session_.emplace(weftline::run_async(*plan_));
  }

  void run(int events) {
    quiesce();
    model_->start(now_ns_);
    if (is(TemporalRecordTriggerKind::kSpin)) model_->poll(false);
    for (int event = 0; event < events && same_ && model_->failure().empty(); ++event) {
      happen(event);
      if (order_is_free() && random_() % 4 != 0) continue;
      compare();
    }
    if (same_ && model_->failure().empty()) compare();
    if (same_ && !model_->failure().empty()) {
      same_ = run_to_end(*session_) == weftline::RunTermination::kFailed;
      return;
    }
    session_->request_stop();
    same_ = same_ && run_to_end(*session_) != weftline::RunTermination::kFailed;
  }
  [[nodiscard]] bool same() const { return same_; }
  [[nodiscard]] std::size_t activations() const { return compared_; }
  [[nodiscard]] std::string text() const {
    std::string text = "trigger " + std::to_string(static_cast<int>(bench_->contract.trigger.kind));
    for (const auto& each : session_->diagnostics()) text += "\n" + each.to_string();
    return text;
  }

 private:
  struct Feed {
    std::shared_ptr<Mailbox> mailbox{};
    std::uint64_t sequence{0};
    std::int64_t capture_ns{0};
    bool ended{false};
  };

  [[nodiscard]] bool is(TemporalRecordTriggerKind kind) const {
    return bench_->contract.trigger.kind == kind;
  }
  [[nodiscard]] bool ended() const {
    return session_->termination() != weftline::RunTermination::kRunning;
  }
  /// What the probe sees does not depend on which of its inputs is fed first.
  [[nodiscard]] bool order_is_free() const {
    const bool by_samples =
        is(TemporalRecordTriggerKind::kEach) || is(TemporalRecordTriggerKind::kAligned);
    return by_samples &&
           std::ranges::all_of(bench_->contract.selections,
                               [](const auto& selection) { return selection.triggering; });
  }

  void call(const std::shared_ptr<Mailbox>& mailbox) {
    if (!eventually(*session_, [&] { return mailbox->idle(); })) same_ = same_ && ended();
  }
  [[nodiscard]] std::uint64_t progress() const {
    const auto counters = counters_of(*plan_, session_->counters(), "probe");
    return counters.activations + counters.skipped;
  }
  /// Returns when all that was said has arrived, and the probe was asked since, and had nothing to
  /// do: between two pings it is stepped at least once.
  void quiesce() {
    if (!eventually(*session_, [&] { return started(); })) return;
    for (const Feed& feed : feeds_) call(feed.mailbox);
    std::uint64_t before = 0;
    std::uint64_t now = progress();
    int unchanged = 0;
    while (unchanged < 2 && !ended() && same_) {
      ping_->post({});
      call(ping_);
      before = std::exchange(now, progress());
      unchanged = before == now ? unchanged + 1 : 0;
    }
  }
  [[nodiscard]] bool started() const {
    return ping_->adopted() &&
           std::ranges::all_of(feeds_, [](const Feed& feed) { return feed.mailbox->adopted(); });
  }

  void advance(std::int64_t by_ns) {
    // What was fed before belongs to the time before.
    if (order_is_free()) compare();
    now_ns_ += by_ns;
    same_ = same_ && driver_->advance_to(now_ns_).has_value();
    model_->advance(now_ns_);
  }

  void happen(int event) {
    const auto what = random_() % 20;
    if (what < 4) return advance(static_cast<std::int64_t>(random_() % 12));
    if (what < 9 && !bench_->contract.sources.empty()) return make_ready();
    if (feeds_.empty()) return advance(1);
    const auto index = static_cast<std::uint32_t>(random_() % feeds_.size());
    Feed& feed = feeds_[index];
    if (feed.ended) return advance(1);
    if (event > 20 && random_() % 30 == 0) {
      feed.ended = true;
      feed.mailbox->post({});
      model_->end(index);
      return;
    }
    feed.capture_ns += static_cast<std::int64_t>(random_() % 6);
    const ModelSample sample{feed.sequence++, feed.capture_ns};
    feed.mailbox->post(sample);
    model_->arrive(index, sample);
  }

  void make_ready() {
    switch (bench_->contract.sources.front().kind) {
      case ReadinessSourceKind::kNotification: {
        const bool wanted = model_->notify();
        same_ = same_ && (bench_->sender->notify().has_value() == wanted || model_->finished());
        break;
      }
      case ReadinessSourceKind::kDoorbell:
        rung_ += random_() % 2;
        model_->ring(rung_);
        same_ = same_ && (bench_->bell->ring(rung_).has_value() || model_->finished());
        break;
      case ReadinessSourceKind::kReadable:
        model_->set_readable(true);
        same_ = same_ && ::write(bench_->pipe[1], "x", 1) == 1;
        break;
      case ReadinessSourceKind::kSpin: {
        const bool flag = random_() % 2 == 0;
        bench_->flag = flag;
        model_->poll(flag);
        break;
      }
    }
  }

  void compare() {
    quiesce();
    const auto seen = bench_->seen.values();
    while (same_) {
      auto wanted = model_->next();
      if (!wanted) break;
      wanted->reference_ns = 0;  // compute() does not see it
      same_ = compared_ < seen.size() && seen[compared_] == *wanted;
      ++compared_;
    }
    same_ = same_ && compared_ == seen.size();
    if (!model_->failure().empty()) return;
    const auto counters = counters_of(*plan_, session_->counters(), "probe");
    same_ = same_ && counters.skipped == model_->skips() &&
            counters.unaligned_drops == model_->drops() &&
            counters.coalesced_ticks == model_->coalesced_ticks() &&
            counters.finished == model_->finished();
  }

  std::mt19937 random_;
  const std::shared_ptr<Bench> bench_{std::make_shared<Bench>()};
  const std::shared_ptr<ClockDriver> driver_{std::make_shared<ClockDriver>()};
  const std::shared_ptr<Mailbox> ping_{std::make_shared<Mailbox>()};
  std::vector<Feed> feeds_{};
  std::optional<OperatorModel> model_{};
  std::optional<weftline::ExecutionPlan> plan_{};
  std::optional<weftline::RunSession> session_{};
  std::int64_t now_ns_{0};
  std::uint64_t rung_{0};
  bool same_{true};
  std::size_t compared_{0};
};

}  // namespace

TEST_CASE("random contracts run as their models say, in any partitions") {
  std::size_t activations = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SessionTrace trace(seed);
    trace.run(60);
    INFO("seed " << seed << ", " << trace.text());
    REQUIRE(trace.same());
    activations += trace.activations();
  }
  CHECK(activations > 1'000);
}
