// SPDX-License-Identifier: Apache-2.0
//
// One producer of an import after another: when a restart may hand the import on, when it may not,
// and what the operators see. Against producers that are no processes.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <random>

#include "test_operators.hpp"
#include "weftline/testing/fake_channels.hpp"

using namespace test;
using weftline::CompileOptions;
using weftline::ImportState;
using weftline::LifecycleReceipt;
using weftline::RunTermination;
using weftline::testing::FakeChannels;
using State = weftline::LifecycleTransactionState;

namespace {

/// numbers -> sink, which may be restarted from outside.
struct Importing {
  weftline::Graph graph{"importing"};
  Collector::Values values = std::make_shared<Collected<std::uint64_t>>();
  FakeChannels channels{};
  weftline::testing::FakeProducer& producer = channels.producer("numbers");
  CompileOptions options{};
  std::optional<weftline::OperatorHandle<Collector>> sink{};

  explicit Importing(bool restarts = true, bool granted = true,
                     std::shared_ptr<Gate> gate = nullptr) {
    weftline::TopicOptions topic;
    topic.endpoint_name = "numbers";
    topic.queue_depth = 4;
    topic.restart.allow_external_restart = restarts;
    sink = graph.op<Collector>("sink", values, std::move(gate));
    graph.add_flow(graph.import_topic<std::uint64_t>("weftline://numbers", topic).output(),
                   (*sink)->in);
    if (granted) graph.allow_external_restart(*sink);
    options.lifecycle_transactions.emplace();
  }
  weftline::ExecutionPlan compile() {
    use_realtime_clock(graph);
    auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return plan;
  }
};

/// Final view of a restart of the sink.
weftline::ReceiptView restart(const weftline::RunSession& session) {
  const LifecycleReceipt receipt = session.lifecycle_control().request_restart("sink");
  REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
  return receipt.view();
}

void check_refused(const weftline::RunSession& session, ErrorCode code, std::string_view token) {
  const auto view = restart(session);
  CHECK(view.state == State::kRejected);
  CHECK(view.error.code == code);
  CHECK(view.error.token == token);
  CHECK(session.termination() == RunTermination::kRunning);
}

bool reaches(const weftline::RunSession& session, ImportState state) {
  return eventually(session, [&] { return session.counters().imports.at(0).state == state; });
}

}  // namespace

TEST_CASE("the first end of a stream leaves the outputs open, and the last one ends the run") {
  Importing all;
  const auto plan = all.compile();
  const auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  for (std::uint64_t value = 0; value < 10; ++value) all.producer.send(value);
  all.producer.end();
  all.producer.leave();
  REQUIRE(reaches(session, ImportState::kFenced));
  REQUIRE(all.values->wait_for_count(10));
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  const auto view = restart(session);
  CHECK(view.state == State::kCommitted);
  CHECK(all.producer.rebinds() == 1);
  CHECK(session.counters().imports.at(0).generation == 2);
  all.producer.attach(8);
  for (std::uint64_t value = 10; value < 20; ++value) all.producer.send(value);
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(all.values->values() == counting(20));
  CHECK(session.counters().imports.at(0).state == ImportState::kEnded);
}

TEST_CASE("a replacement that attached early is not heard before the restart") {
  Importing all;
  const auto plan = all.compile();
  const auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  all.producer.send(std::uint64_t{0});
  all.producer.end();
  all.producer.leave();
  all.producer.attach(8);
  all.producer.send(std::uint64_t{1});
  REQUIRE(all.values->wait_for_count(1));
  REQUIRE(reaches(session, ImportState::kFenced));
  for_a_while([&] { REQUIRE(all.values->values().size() == 1); });
  CHECK(restart(session).state == State::kCommitted);
  REQUIRE(all.values->wait_for_count(2));
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(all.values->values() == counting(2));
}

TEST_CASE("an import is handed on only by token and end of stream, and when nothing is held") {
  const auto gate = std::make_shared<Gate>();
  Importing all(true, true, gate);
  const auto plan = all.compile();
  auto session = all.channels.run_async(plan);
  const OpensAtEnd open{gate};
  check_refused(session, ErrorCode::kNotSupported, "IMPORT_TOKEN_MISSING");
  all.producer.attach(7);
  check_refused(session, ErrorCode::kBackpressured, "IMPORT_PEER_LIVE");
  all.producer.leave();
  check_refused(session, ErrorCode::kNotSupported, "IMPORT_END_MISSING");
  CHECK(all.producer.rebinds() == 0);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a producer that ended but is there, or samples that are held, hold the restart back") {
  Importing all;
  const auto plan = all.compile();
  auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  all.producer.end();
  REQUIRE(reaches(session, ImportState::kFenced));
  check_refused(session, ErrorCode::kBackpressured, "IMPORT_PEER_LIVE");
  all.producer.leave();
  all.producer.retain(1);
  check_refused(session, ErrorCode::kBackpressured, "IMPORT_CLAIM_RETAINED");
  all.producer.retain(0);
  CHECK(restart(session).state == State::kCommitted);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a topic that allows no restart keeps its inputs' operators from being restarted") {
  Importing all(false);
  const auto plan = all.compile();
  auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  check_refused(session, ErrorCode::kNotSupported, "IMPORT_REBIND_NOT_ADMITTED");
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
}

TEST_CASE("a spent budget is refused before anything is touched, and a deployment may raise it") {
  const std::uint32_t capacity = GENERATE(2U, 3U, 5U);
  Importing all;
  all.options.deployment.raise_import_generations(
      {.endpoint_name = "numbers", .generation_capacity = capacity});
  const auto plan = all.compile();
  auto session = all.channels.run_async(plan);
  for (std::uint32_t generation = 1; generation < capacity; ++generation) {
    all.producer.attach(generation);
    all.producer.end();
    all.producer.leave();
    REQUIRE(reaches(session, ImportState::kFenced));
    REQUIRE(restart(session).state == State::kCommitted);
  }
  all.producer.attach(capacity);
  check_refused(session, ErrorCode::kResourceExhausted, "IMPORT_GENERATIONS_SPENT");
  all.producer.send(std::uint64_t{0});
  REQUIRE(all.values->wait_for_count(1));  // what was refused has stopped nothing
  CHECK(all.producer.rebinds() == capacity - 1);
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
}

TEST_CASE("a hand-over that fails half-way ends the session") {
  Importing all;
  const auto plan = all.compile();
  const auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  all.producer.end();
  all.producer.leave();
  REQUIRE(reaches(session, ImportState::kFenced));
  all.producer.fail_rebind({ErrorCode::kFailure, "TEST_DETACHED", {}, 0});
  const auto view = restart(session);
  CHECK(view.state == State::kFailedStopped);
  CHECK(view.error.token == "TEST_DETACHED");
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).place == "endpoint numbers");
}

TEST_CASE("without a restart that anybody may ask for, the first end is the last") {
  Importing all(true, false);
  const auto plan = all.compile();
  const auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
}

namespace {

/// What must become of an import, step by step.
struct Model {
  struct Incarnation {
    std::vector<std::uint64_t> sent{};
    bool ended{false};
    bool attached{true};
  };
  std::uint32_t capacity{2};
  std::uint32_t generation{1};
  std::uint32_t retained{0};
  std::vector<Incarnation> producers{};

  [[nodiscard]] const Incarnation* current() const {
    return generation <= producers.size() ? &producers[generation - 1] : nullptr;
  }
  [[nodiscard]] ErrorCode restart_refusal() const {
    if (generation >= capacity) return ErrorCode::kResourceExhausted;
    const Incarnation* const now = current();
    if (now == nullptr) return ErrorCode::kNotSupported;
    if (now->attached) return ErrorCode::kBackpressured;
    if (!now->ended) return ErrorCode::kNotSupported;
    return retained > 0 ? ErrorCode::kBackpressured : ErrorCode::kClosed;  // kClosed: none
  }
  [[nodiscard]] bool over() const {
    return generation >= capacity && current() != nullptr && current()->ended;
  }
  [[nodiscard]] std::vector<std::uint64_t> delivered() const {
    std::vector<std::uint64_t> values;
    for (std::uint32_t index = 0; index < generation && index < producers.size(); ++index) {
      values.insert(values.end(), producers[index].sent.begin(), producers[index].sent.end());
    }
    return values;
  }
};

}  // namespace

TEST_CASE("any sequence of producers and restarts goes as the model says") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 21)));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  Importing all;
  Model model{.capacity = 2 + below(3)};
  all.options.deployment.raise_import_generations(
      {.endpoint_name = "numbers", .generation_capacity = model.capacity});
  const auto plan = all.compile();
  auto session = all.channels.run_async(plan);
  std::uint64_t next = 0;
  for (int step = 0; step < 60 && !model.over(); ++step) {
    auto* const newest = model.producers.empty() ? nullptr : &model.producers.back();
    switch (below(6)) {
      case 0:
        if (newest != nullptr && newest->attached && below(4) != 0) break;
        model.producers.emplace_back();
        all.producer.attach(model.producers.size());
        break;
      case 1:
        if (newest == nullptr || newest->ended) break;
        newest->sent.push_back(next);
        all.producer.send(next++);
        break;
      case 2:
        if (newest == nullptr || newest->ended || !newest->attached) break;
        newest->ended = true;
        all.producer.end();
        break;
      case 3:
        if (newest == nullptr || !newest->attached) break;
        newest->attached = false;
        all.producer.leave();
        break;
      case 4:
        model.retained = below(2);
        all.producer.retain(model.retained);
        break;
      default: {
        const auto* const now = model.current();
        REQUIRE(all.values->wait_for_count(model.delivered().size()));
        if (now != nullptr && now->ended) REQUIRE(reaches(session, ImportState::kFenced));
        const ErrorCode refusal = model.restart_refusal();
        const auto view = restart(session);
        if (refusal == ErrorCode::kClosed) {
          REQUIRE(view.state == State::kCommitted);
          ++model.generation;
        } else {
          REQUIRE(view.state == State::kRejected);
          REQUIRE(view.error.code == refusal);
        }
      }
    }
  }
  REQUIRE(all.values->wait_for_count(model.delivered().size()));
  if (model.over()) {
    CHECK(run_to_end(session) == RunTermination::kCompleted);
  } else {
    session.request_stop();
    CHECK(run_to_end(session) == RunTermination::kStopped);
  }
  CHECK(all.values->values() == model.delivered());
}
