// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "weftline/compile/compile.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/runtime/run_session.hpp"

namespace test {

using weftline::Contract;
using weftline::Error;
using weftline::ErrorCode;
using weftline::ExecutionContext;
using weftline::expected;
using weftline::Input;
using weftline::OnClock;
using weftline::OnEach;
using weftline::Operator;
using weftline::OperatorSpec;
using weftline::Output;
using weftline::Tensor;

/// Longer than any test needs; reaching it is a failure with a message.
inline constexpr std::chrono::seconds kWatchdog{60};

/// A door that a test holds shut. Operators pass through it; the test sees how many are waiting.
class Gate {
 public:
  /// Blocks until open; false when the watchdog fired.
  bool pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    const bool opened = changed_.wait_for(lock, kWatchdog, [this] { return open_; });
    --waiting_;
    return opened;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait_for_visitor() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kWatchdog, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool open_{false};
  int waiting_{0};
};

/// Opens a gate when a test ends, passed or not: a session waits for whoever stands before it.
struct OpensAtEnd {
  std::shared_ptr<Gate> gate;
  ~OpensAtEnd() { gate->open(); }
};

/// What a sink has received, readable from the test's thread.
template <class T>
class Collected {
 public:
  void add(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  std::vector<T> values() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  bool wait_for_count(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kWatchdog, [&] { return values_.size() >= count; });
  }

 private:
  mutable std::mutex mutex_{};
  mutable std::condition_variable changed_{};
  std::vector<T> values_{};
};

/// Emits 0 … count-1, keeping a refused value for the next tick, then closes; count 0 never ends.
class CountingSource final : public Operator<> {
 public:
  explicit CountingSource(std::uint64_t count) : count_(count) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (count_ != 0 && next_ == count_) return out.close();
    const auto time = context.clock().at_ns(static_cast<std::int64_t>(next_));
    auto emitted = out.emit(next_, {.capture_time = time, .frame_id = next_});
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const std::uint64_t count_;
  std::uint64_t next_{0};
};

/// out = in + step; one sample each.
class AddStep final : public Operator<> {
 public:
  explicit AddStep(std::uint64_t step) : step_(step) {}
  Input<std::uint64_t> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return out.emit(sample.data + step_, {.capture_time = sample.metadata.capture,
                                          .frame_id = sample.metadata.frame_id});
  }

 private:
  const std::uint64_t step_;
};

class Collector final : public Operator<> {
 public:
  using Values = std::shared_ptr<Collected<std::uint64_t>>;
  explicit Collector(Values values, std::shared_ptr<Gate> gate = nullptr)
      : values_(std::move(values)), gate_(std::move(gate)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    if (gate_ && !gate_->pass())
      return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG", "the gate stayed shut");
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    values_->add(sample.data);
    return {};
  }

 private:
  const Values values_;
  const std::shared_ptr<Gate> gate_;
};

/// Does what a function says, once per tick.
class Scripted final : public Operator<> {
 public:
  using Script = std::function<expected<void, Error>(ExecutionContext&)>;
  explicit Scripted(Script script) : script_(std::move(script)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override { return script_(context); }

 private:
  const Script script_;
};

inline void use_realtime_clock(weftline::Graph& graph) {
  graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>("clock"));
}

/// With a realtime clock added; the plan has no errors.
inline weftline::ExecutionPlan compiled(weftline::Graph& graph) {
  use_realtime_clock(graph);
  auto plan = weftline::compile(graph);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

inline weftline::OperatorCounters counters_of(const weftline::ExecutionPlan& plan,
                                              const weftline::RunCounters& counters,
                                              std::string_view path) {
  for (const auto& operation : plan.operators()) {
    if (operation.path == path) return counters.operators[operation.id.value];
  }
  throw std::runtime_error("no such operator");
}

/// Runs a plan to its end under the watchdog; kRunning when it fired.
inline weftline::RunTermination run_to_end(const weftline::RunSession& session) {
  if (!session.wait_until(std::chrono::steady_clock::now() + kWatchdog))
    return weftline::RunTermination::kRunning;
  return session.termination();
}

/// Looks until it is so; false when the run ended, or the watchdog fired, before it was.
template <class Predicate>
bool eventually(const weftline::RunSession& session, Predicate holds) {
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  while (!holds()) {
    const bool over = session.termination() != weftline::RunTermination::kRunning ||
                      std::chrono::steady_clock::now() > deadline;
    if (over) return holds();
    std::this_thread::yield();
  }
  return true;
}

/// Looks again and again, for 20 ms. For what must not happen: a look that comes too early misses a
/// defect, and never invents one.
template <class Look>
void for_a_while(Look look) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < until) {
    look();
    std::this_thread::yield();
  }
}

inline std::vector<std::uint64_t> counting(std::uint64_t count, std::uint64_t from = 0) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t value = 0; value < count; ++value) values.push_back(from + value);
  return values;
}

}  // namespace test
