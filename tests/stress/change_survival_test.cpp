// SPDX-License-Identifier: Apache-2.0
//
// Random runs whose operators are restarted and get new parameters, from outside and by themselves,
// all the time. WEFTLINE_STRESS_SECONDS says how long (90), WEFTLINE_STRESS_SEED with which one to
// begin (1); each run takes the next one.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "random_changes.hpp"
#include "survival_limits.hpp"
#include "weftline/runtime/parameter_control.hpp"
#include "weftline/runtime/run_counters_text.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/bounded_wait.hpp"

using namespace weftline;
using stress::entries_of;
using stress::kWatchdog;
using stress::number_of_environment;
using stress::RandomChanges;
using State = LifecycleTransactionState;

namespace {

/// What the threads that change a run have seen of it.
struct Seen {
  std::mutex mutex{};
  std::vector<LifecycleReceipt> restarts{};
  std::vector<ParamUpdateReceipt> updates{};
  std::string strange{};

  void wonder(std::string what) {
    const std::lock_guard lock(mutex);
    if (strange.empty()) strange = std::move(what);
  }
};

/// Threads that change a run until they are told to end.
class Changers {
 public:
  Changers(const RandomChanges& run, const RunSession& session, std::uint32_t seed)
      : run_(run),
        restarts_(session.lifecycle_control()),
        params_(session.parameter_control()),
        session_(session) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      threads_.emplace_back([this, seed, thread] { restart_all(seed + thread); });
    }
    threads_.emplace_back([this, seed] { update_all(seed + 2); });
    if (!run.called().empty()) threads_.emplace_back([this] { notify_all(); });
  }
  ~Changers() { end(); }
  Changers(const Changers&) = delete;
  Changers& operator=(const Changers&) = delete;
  void end() {
    ended_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] Seen& seen() noexcept { return seen_; }

 private:
  const std::string& any_path(std::mt19937& random) const {
    return run_.paths()[random() % run_.paths().size()];
  }
  static void rest(std::mt19937& random, std::uint32_t most_us) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % most_us));
  }

  void restart_all(std::uint32_t seed) {
    std::mt19937 random(seed);
    while (!ended_) {
      LifecycleRestartOptions options{.reason = "changers"};
      if (random() % 2 == 0) options.from_stage = LifecycleStage::kStart;
      const auto receipt = restarts_.request_restart(any_path(random), options);
      if (random() % 2 == 0) {
        static_cast<void>(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
        check(receipt.view());
      }
      {
        const std::lock_guard lock(seen_.mutex);
        seen_.restarts.push_back(receipt);
      }
      rest(random, 1'000);
    }
  }
  void check(const ReceiptView& view) {
    const std::string_view token = view.error.token;
    const bool as_expected =
        view.state == State::kCommitted ||
        (view.state == State::kRolledBack && token == "LIFECYCLE_STAGE_FAILED") ||
        (view.state == State::kRejected &&
         (token == "RESTART_SESSION_ENDING" || token == "RESTART_TARGET_FINISHED" ||
          token == "RESTART_PENDING_FULL" || token == "RESTART_STAGE_NOT_ADMITTED")) ||
        // Where a stop comes in the middle.
        (view.state == State::kFailedStopped && stopping_);
    if (as_expected) return;
    seen_.wonder("a restart is " + std::string(lifecycle_transaction_state_name(view.state)) +
                 ": " + std::string(token) + " " + view.error.message);
  }

  void update_all(std::uint32_t seed) {
    std::mt19937 random(seed);
    while (!ended_) {
      const std::uint64_t value = 1 + random() % 1'000;
      std::vector<ParamAssignment> batch;
      if (random() % 2 == 0) {
        batch = {{"gain", value}, {"gain_times_3", 3 * value}};
      } else {
        batch = {{"buffers", value}, {"buffers_times_5", 5 * value}};
      }
      const auto result = params_.update(any_path(random), batch);
      const bool refused = !result && result.status != ParamUpdateStatus::kUpdatesDisabled &&
                           result.status != ParamUpdateStatus::kClosed;
      if (refused) seen_.wonder("an update is refused: " + std::string(result.error->token));
      if (result) {
        const std::lock_guard lock(seen_.mutex);
        seen_.updates.push_back(result.receipt);
      }
      if (random() % 8 == 0) static_cast<void>(session_.counters());
      if (random() % 32 == 0) static_cast<void>(session_.trace());
      if (random() % 8 == 0) static_cast<void>(params_.snapshot());
      rest(random, 300);
    }
  }

  void notify_all() {
    while (!ended_) {
      for (const auto& part : run_.called()) {
        const std::lock_guard lock(part->mutex);
        if (part->sender) static_cast<void>(part->sender->notify());
      }
      std::this_thread::yield();
    }
  }

 public:
  /// From now on a transaction may end in the middle.
  void expect_stop() noexcept { stopping_ = true; }

 private:
  const RandomChanges& run_;
  const LifecycleControlHandle restarts_;
  const ParameterControlHandle params_;
  const RunSession& session_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> stopping_{false};
  Seen seen_{};
  std::vector<std::thread> threads_{};
};

std::string texts_of(const std::vector<RunDiagnostic>& diagnostics) {
  std::string text;
  for (const RunDiagnostic& diagnostic : diagnostics) text += diagnostic.to_string() + "\n";
  return text;
}

struct Totals {
  std::uint64_t committed{0};
  std::uint64_t rolled_back{0};
  std::uint64_t updates{0};
};

void survive(std::uint32_t seed, Totals& totals) {
  std::mt19937 random(seed);
  const RandomChanges run(static_cast<std::uint32_t>(random()));
  const ExecutionPlan plan = run.compile();
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  RunOptions options;
  if (random() % 3 == 0) options.observe = {.latencies = true, .trace_events = 256};
  RunSession session = run_async(plan, options);
  const bool stops = random() % 3 == 0;
  bool completed = false;
  {
    Changers changers(run, session, static_cast<std::uint32_t>(random()));
    if (stops) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      changers.expect_stop();
      session.request_stop();
    }
    if (!session.wait_until(std::chrono::steady_clock::now() + kWatchdog)) {
      std::fprintf(stderr, "change_survival: the run of seed %u does not end\n%s\n", seed,
                   render_run_counters(plan.records(), session.counters()).c_str());
      std::abort();
    }
    changers.end();
    CHECK(changers.seen().strange == "");
    for (const auto& receipt : changers.seen().restarts) CHECK(is_final(receipt.view().state));
    for (const auto& receipt : changers.seen().updates) {
      const ParamUpdateState state = receipt.state();
      CHECK((state == ParamUpdateState::kRejected || state == ParamUpdateState::kObserved ||
             state == ParamUpdateState::kSuperseded || state == ParamUpdateState::kClosed ||
             state == ParamUpdateState::kAcceptedNoChange));
    }
    totals.updates += changers.seen().updates.size();
  }
  INFO(texts_of(session.diagnostics()));
  CHECK(session.diagnostics().empty());
  completed = session.termination() == RunTermination::kCompleted;
  CHECK((completed || (stops && session.termination() == RunTermination::kStopped)));
  const RunCounters counters = session.counters();
  if (completed) {
    for (const auto& flow : run.flows()) {
      CHECK(flow.source->emitted == flow.source->count);
      CHECK(flow.target->next[flow.input] == flow.source->count);
    }
  }
  for (const PoolCounters& pool : counters.pools) {
    CHECK(pool.usage.quarantined == 0);
    CHECK(pool.usage.in_use == pool.usage.retiring);
  }
  for (const EdgeCounters& edge : counters.edges) CHECK(edge.depth == 0);
  totals.committed += counters.restarts.committed;
  totals.rolled_back += counters.restarts.rolled_back;
}

}  // namespace

TEST_CASE("operators that are restarted and updated at random lose nothing and see whole updates") {
  const std::chrono::seconds length(number_of_environment("WEFTLINE_STRESS_SECONDS", 90));
  const auto first = static_cast<std::uint32_t>(number_of_environment("WEFTLINE_STRESS_SEED", 1));
  const auto deadline = std::chrono::steady_clock::now() + length;
  // One thread may stay for the whole process: the retirement worker.
  const std::size_t threads = entries_of("/proc/self/task") + 1;
  const std::size_t descriptors = entries_of("/proc/self/fd");
  Totals totals;
  std::uint32_t seed = first;
  do {
    INFO("WEFTLINE_STRESS_SEED=" << seed);
    survive(seed++, totals);
    CHECK(testing::eventually([&] { return entries_of("/proc/self/task") <= threads; }));
    CHECK(entries_of("/proc/self/fd") == descriptors);
  } while (std::chrono::steady_clock::now() < deadline);
  std::printf(
      "change_survival: %u runs, seeds %u to %u; %llu restarts, %llu taken back, %llu "
      "updates\n",
      seed - first, first, seed - 1, static_cast<unsigned long long>(totals.committed),
      static_cast<unsigned long long>(totals.rolled_back),
      static_cast<unsigned long long>(totals.updates));
}
