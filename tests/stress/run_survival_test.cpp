// SPDX-License-Identifier: Apache-2.0
//
// Random runs, ended at random: what must hold whatever happens. WEFTLINE_STRESS_SECONDS says how
// long (90), WEFTLINE_STRESS_SEED with which one to begin (1); each run takes the next one.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "random_run.hpp"
#include "survival_limits.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/bounded_wait.hpp"

using namespace weftline;
using stress::entries_of;
using stress::Fault;
using stress::kWatchdog;
using stress::number_of_environment;
using stress::RandomRun;

namespace {

/// A run that hangs can't be given up: its session would wait for it for ever.
void end_within_patience(const RunSession& session, std::uint32_t seed) {
  if (session.wait_until(std::chrono::steady_clock::now() + kWatchdog)) return;
  std::fprintf(stderr, "run_survival: the run of seed %u does not end\n", seed);
  for (const OperatorCounters& op : session.counters().operators) {
    std::fprintf(stderr, "  operator %u: %llu activations, %llu emits%s\n", op.vertex.value,
                 static_cast<unsigned long long>(op.activations),
                 static_cast<unsigned long long>(op.emits), op.finished ? ", finished" : "");
  }
  std::abort();
}

std::string texts_of(const std::vector<RunDiagnostic>& diagnostics) {
  std::string text;
  for (const RunDiagnostic& diagnostic : diagnostics) text += diagnostic.to_string() + "\n";
  return text;
}

/// How a run came to its end.
struct Outcome {
  bool stopped{false};  ///< Somebody asked for it.
  RunTermination termination{RunTermination::kRunning};
};

/// Ends the run in one of several ways, at a random time.
Outcome end_somehow(RunSession& session, const RandomRun& run, std::mt19937& random,
                    std::uint32_t seed) {
  Outcome outcome;
  const auto some_time = [&] { return std::chrono::microseconds(random() % 5'000); };
  const auto way = random() % 6;
  if (way == 0) {
    outcome.stopped = true;
    session.request_stop();
  } else if (way == 1) {
    outcome.stopped = true;
    std::this_thread::sleep_for(some_time());
    std::thread([&] { session.request_stop(); }).join();
  } else if (!run.finite()) {
    outcome.stopped = !session.wait_until(std::chrono::steady_clock::now() + 4 * some_time());
    if (outcome.stopped) session.request_stop();
  }
  end_within_patience(session, seed);
  outcome.termination = session.termination();
  return outcome;
}

/// One that was planned, or a missing sample where a policy fails the run for it.
bool is_planned(const RunDiagnostic& diagnostic, const RandomRun& run) {
  const std::string_view token = diagnostic.error.token;
  const RandomRun::Member& member = run.member(diagnostic.place);
  if (token == "RUN_SAMPLE_MISSING") return member.may_miss;
  if (token == "STRESS_PLANNED") return member.fault == Fault::kError;
  return token == "OPERATOR_THREW" && member.fault == Fault::kThrow;
}

void check_outcome(const Outcome& outcome, const RandomRun& run, const RunSession& session) {
  const bool failed = run.reached(Fault::kError) || run.reached(Fault::kThrow);
  const auto diagnostics = session.diagnostics();
  INFO(texts_of(diagnostics));
  switch (outcome.termination) {
    case RunTermination::kFailed:
      REQUIRE_FALSE(diagnostics.empty());
      for (const RunDiagnostic& diagnostic : diagnostics) CHECK(is_planned(diagnostic, run));
      break;
    case RunTermination::kStopped:
      CHECK(outcome.stopped);
      CHECK_FALSE(failed);
      CHECK(diagnostics.empty());
      break;
    case RunTermination::kCompleted:
      CHECK_FALSE(failed);
      CHECK(diagnostics.empty());
      break;
    default:
      FAIL("the run has not ended");
  }
  if (outcome.termination != RunTermination::kCompleted || run.reached(Fault::kSuccess)) return;
  // Everything was drained: nothing is lost where nothing may drop it.
  for (const auto& edge : run.edges()) {
    const auto& source = *run.members()[edge.source].ledger;
    const auto& target = *run.members()[edge.target].ledger;
    INFO("operator " << edge.source << " to input " << edge.input << " of " << edge.target);
    if (edge.lossless && !target.closed_early) {
      CHECK(target.received[edge.input] == source.emitted);
    }
    CHECK(target.received[edge.input] <= source.emitted);
  }
}

/// Where the samples went that came to one operator: each was received, or dropped with a count,
/// and none is counted twice.
void check_fates(const OperatorCounters& counters, std::uint64_t arrived,
                 const stress::Ledger& seen, bool drained) {
  const std::uint64_t received =
      std::accumulate(seen.received.begin(), seen.received.end(), std::uint64_t{0});
  const std::uint64_t accounted =
      received + counters.passed_over + counters.discarded + counters.unaligned_drops;
  INFO("operator " << counters.vertex.value << " got " << arrived << " samples: " << received
                   << " received, " << counters.passed_over << " passed over, "
                   << counters.discarded << " discarded, " << counters.unaligned_drops
                   << " unaligned");
  if (!seen.fault_reached) CHECK(counters.unread == 0);
  if (drained) {
    CHECK(accounted == arrived);
  } else {
    CHECK(accounted <= arrived);
  }
}

void check_counters(const Outcome& outcome, const RandomRun& run, const ExecutionPlan& plan,
                    const RunSession& session) {
  const RunCounters counters = session.counters();
  for (const PoolCounters& pool : counters.pools) {
    CHECK(pool.usage.quarantined == 0);
    CHECK(pool.usage.in_use_high_water <= pool.usage.slot_count);
    if (!run.shelves()) CHECK(pool.usage.in_use == pool.usage.retiring);
  }
  for (const auto& member : run.members()) CHECK(member.ledger->wrong_on_device.load() == 0);

  std::vector<std::uint64_t> arrived(counters.operators.size());
  for (const EdgeCounters& edge : counters.edges) {
    const auto& record = plan.payload_edges()[edge.edge.value];
    const auto& source = run.member(plan.operators()[record.source.vertex.value].path);
    INFO("edge " << edge.edge.value << " from " << source.name);
    CHECK(edge.depth == 0);
    CHECK(edge.pushed == source.ledger->emitted);
    CHECK(edge.dropped <= edge.pushed);
    if (record.queue_policy == QueuePolicy::kBlocking) CHECK(edge.dropped == 0);
    arrived[record.target.vertex.value] += edge.pushed - edge.dropped;
  }
  const bool drained =
      outcome.termination == RunTermination::kCompleted && !run.reached(Fault::kSuccess);
  for (const OperatorCounters& each : counters.operators) {
    const auto& member = run.member(plan.operators()[each.vertex.value].path);
    CHECK(each.activations == member.ledger->activations);
    CHECK(each.emits == member.ledger->emitted);
    if (drained) CHECK(each.finished);
    check_fates(each, arrived[each.vertex.value], *member.ledger, drained);
  }
}

void survive(std::uint32_t seed) {
  std::mt19937 random(seed);
  const RandomRun run(static_cast<std::uint32_t>(random()));
  const ExecutionPlan plan = run.compile();
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const stress::Ringer ringer(run.bells(), static_cast<std::uint32_t>(random()));
  if (random() % 8 == 0) {
    auto dropped = run_async(plan);  // dropped while it runs
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000));
  } else {
    RunSession session = run_async(plan);
    const Outcome outcome = end_somehow(session, run, random, seed);
    check_outcome(outcome, run, session);
    check_counters(outcome, run, plan, session);
    CHECK(run.bells().all_closed());
  }
  CHECK_FALSE(run.bells().refused_wrongly());
  for (const Tensor& tensor : run.shelf().take()) {
    if (tensor.memory_kind() == MemoryKind::kCudaDevice) continue;
    std::array<std::uint64_t, stress::kCount> words{};
    CHECK(tensor.copy_to_host(words.data(), sizeof words, {}));
  }
}

}  // namespace

TEST_CASE(
    "random runs end as they are told, lose nothing they must not, and leave nothing behind") {
  const std::chrono::seconds length(number_of_environment("WEFTLINE_STRESS_SECONDS", 90));
  const auto first = static_cast<std::uint32_t>(number_of_environment("WEFTLINE_STRESS_SEED", 1));
  const auto deadline = std::chrono::steady_clock::now() + length;
  // One thread may stay for the whole process: the retirement worker.
  const std::size_t threads = entries_of("/proc/self/task") + 1;
  const std::size_t descriptors = entries_of("/proc/self/fd");
  std::uint32_t seed = first;
  do {
    INFO("WEFTLINE_STRESS_SEED=" << seed);
    survive(seed++);
    CHECK(testing::eventually([&] { return entries_of("/proc/self/task") <= threads; }));
    CHECK(entries_of("/proc/self/fd") == descriptors);
  } while (std::chrono::steady_clock::now() < deadline);
  std::printf("run_survival: %u runs, seeds %u to %u\n", seed - first, first, seed - 1);
}
