// SPDX-License-Identifier: Apache-2.0
// A program of its own: it replaces operator new.
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "test_operators.hpp"
#include "weftline/testing/allocation_count.hpp"

using namespace test;
using weftline::Doorbell;
using weftline::LifecycleContext;
using weftline::MemoryKind;
using weftline::NotificationSender;
using namespace std::chrono_literals;

namespace {

constexpr DLDataType kByte{kDLUInt, 8, 1};
constexpr std::array<std::int64_t, 1> kShape{16};

/// Emits host tensors with the time of their tick, for ever.
class TensorSource final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor(
            {.representation = {.memory_kind = MemoryKind::kHost, .dtype = kByte, .rank = 1},
             .bounds = weftline::tensor_bounds(16),
             .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override { return Contract().trigger(OnClock{20us}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = kByte});
    if (!loan) return {};
    WEFTLINE_TRY(loan->write_host_and_commit([](void*, std::uint64_t) {}));
    const auto emitted = out.emit(std::move(*loan), {.capture_time = context.activation_time()});
    return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                   : emitted;
  }
};

using Counts = std::shared_ptr<std::array<std::atomic<std::uint64_t>, 6>>;

/// One trigger by samples, and a side input by a selector that a test picks.
class Selecting final : public Operator<> {
 public:
  Selecting(std::size_t kind, Counts counts) : kind_(kind), counts_(std::move(counts)) {}
  Input<Tensor> main;
  Input<Tensor> side;
  void setup(OperatorSpec& spec) override {
    spec.input(main, "main");
    spec.input(side, "side");
  }
  Contract contract() const override {
    switch (kind_) {
      case 0:
        return Contract()
            .trigger(OnEach{main})
            .select(side, weftline::LatestWithin{100us}, weftline::ReuseLast{3});
      case 1:
        return Contract()
            .trigger(OnClock{50us})
            .select(main, weftline::DrainAll{4}, weftline::ReuseLast{2})
            .select(side, weftline::BracketedWindow{60us, 0ns, 8}, weftline::SafeDefault{});
      case 2:
        return Contract()
            .trigger(weftline::OnWindow{.anchor = main, .max_wait = 1ms, .max_pending_windows = 3})
            .select(side, weftline::BracketedWindow{30us, 10us, 8}, weftline::Absent{});
      default:
        return Contract()
            .trigger(weftline::OnAligned{.inputs = {main, side}, .window = 15us})
            .max_start_delay(1ns, weftline::OnViolation::kDegrade);
    }
  }
  expected<void, Error> compute(ExecutionContext&) override {
    for (Input<Tensor>* input : {&main, &side}) {
      std::uint64_t bytes = 0;
      if (const auto batch = input->receive_batch()) {
        for (const auto& sample : *batch) bytes += sample.data.byte_size();
      } else if (const auto sample = input->receive()) {
        bytes += sample->data.byte_size();
      }
      if (bytes > 0) counts_->at(kind_).fetch_add(1, std::memory_order_relaxed);
    }
    return {};
  }

 private:
  const std::size_t kind_;
  const Counts counts_;
};

/// Notified, rung and readable, each by a thread of the test.
class Called final : public Operator<> {
 public:
  Called(bool rings, Counts counts, std::shared_ptr<std::optional<NotificationSender>> sender,
         std::shared_ptr<std::optional<Doorbell>> bell)
      : rings_(rings),
        counts_(std::move(counts)),
        sender_(std::move(sender)),
        bell_(std::move(bell)) {}
  weftline::NotificationSourceRef notified;
  weftline::DoorbellSourceRef rung;
  void setup(OperatorSpec& spec) override {
    if (rings_) {
      spec.doorbell_source(rung, "rung");
    } else {
      spec.notification_source(notified, "notified");
    }
  }
  Contract contract() const override {
    if (rings_) return Contract().trigger(weftline::OnDoorbell{rung});
    return Contract().trigger(weftline::OnNotified{notified});
  }
  void start(LifecycleContext& context) override {
    if (rings_) {
      bell_->emplace(*context.doorbell(rung));
    } else {
      sender_->emplace(std::move(*context.notification_sender(notified)));
    }
  }
  expected<void, Error> compute(ExecutionContext&) override {
    counts_->at(rings_ ? 5 : 4).fetch_add(1, std::memory_order_relaxed);
    return {};
  }

 private:
  const bool rings_;
  const Counts counts_;
  const std::shared_ptr<std::optional<NotificationSender>> sender_;
  const std::shared_ptr<std::optional<Doorbell>> bell_;
};

}  // namespace

TEST_CASE("triggers, selectors, caches and sources allocate nothing once they run") {
  const auto counts = std::make_shared<std::array<std::atomic<std::uint64_t>, 6>>();
  const auto sender = std::make_shared<std::optional<NotificationSender>>();
  const auto bell = std::make_shared<std::optional<Doorbell>>();
  weftline::Graph graph{"steady"};
  use_realtime_clock(graph);
  const auto first = graph.op<TensorSource>("first");
  const auto second = graph.op<TensorSource>("second");
  for (std::size_t kind = 0; kind < 4; ++kind) {
    const auto op = graph.op<Selecting>("op" + std::to_string(kind), kind, counts);
    const weftline::ConnectionOptions lossy{.queue_depth = 4,
                                            .queue_policy = weftline::QueuePolicy::kDropOldest};
    graph.add_flow(first->out, op->main, lossy);
    graph.add_flow(second->out, op->side, lossy);
  }
  graph.op<Called>("called", false, counts, sender, bell);
  graph.op<Called>("rung", true, counts, sender, bell);
  const auto plan = weftline::compile(graph);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  auto session = weftline::run_async(plan);

  std::uint64_t rings = 0;
  const auto call = [&] {
    if (*sender) static_cast<void>((*sender)->notify());
    if (*bell) static_cast<void>((*bell)->ring(++rings));
    std::this_thread::yield();
  };
  // The handles are written while the operators start, which their first activations prove.
  REQUIRE(eventually(session, [&] { return counts->at(0).load() > 0; }));
  const auto all_beyond = [&](std::uint64_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    for (const auto& each : *counts) {
      while (each.load(std::memory_order_relaxed) < count) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        call();
      }
    }
    return true;
  };
  REQUIRE(all_beyond(20));
  const std::uint64_t allocated = weftline::testing::allocations_of_all_threads();
  const bool went_on = all_beyond(300);
  CHECK(weftline::testing::allocations_of_all_threads() == allocated);
  CHECK(went_on);
  session.request_stop();
  CHECK(run_to_end(session) == weftline::RunTermination::kStopped);
}
