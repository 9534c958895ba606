// SPDX-License-Identifier: Apache-2.0
//
// Rates that the owner of an output selects while the operators start.

#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/graph/param_json.hpp"

using namespace test;
using weftline::EdgeId;
using weftline::MemoryKind;
using weftline::Rate;
using weftline::RateQueueInspectionFormat;
using weftline::RunTermination;

namespace {

constexpr std::uint64_t kMiB = 1'048'576;
constexpr DLDataType kByte{kDLUInt, 8, 1};

using Select =
    std::function<expected<void, Error>(weftline::LifecycleContext&, const weftline::OutputPort&)>;

/// 6 MiB frames, at 60 Hz or what start() selects, at most 120.
class Camera final : public Operator<> {
 public:
  Camera(Select select, std::shared_ptr<Collected<std::string>> rates)
      : select_(std::move(select)), rates_(std::move(rates)) {}
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.output(frames, "frames")
        .produces_tensor(
            {.representation = {.memory_kind = MemoryKind::kHost, .dtype = kByte, .rank = 1},
             .bounds = weftline::tensor_bounds(6 * kMiB),
             .storage = weftline::TensorOutputStorage::kRuntimePool})
        .lifecycle_nominal_rate(Rate::hz(60))
        .max_nominal_rate(Rate::hz(120));
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  void start(weftline::LifecycleContext& context) override {
    rates_->add(context.rate(frames).nominal->to_string());
    if (auto selected = select_(context, frames); !selected) {
      throw weftline::RuntimeError(selected.error());
    }
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (next_ == 0) rates_->add(context.rate(frames).nominal->to_string());
    constexpr std::array<std::int64_t, 1> kShape{64};
    auto loan = frames.allocate_tensor({.shape = kShape, .dtype = kByte});
    if (!loan) return {};
    WEFTLINE_TRY(
        loan->write_host_and_commit([](void*, std::uint64_t) { return expected<void, Error>{}; }));
    auto emitted = frames.emit(std::move(*loan));
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const Select select_;
  const std::shared_ptr<Collected<std::string>> rates_;
  std::uint64_t next_{0};
};

/// Keeps four frames, and lets them pile up for a fifteenth of a second.
class History final : public Operator<> {
 public:
  History(std::shared_ptr<Gate> gate, std::shared_ptr<Collected<std::string>> rates)
      : gate_(std::move(gate)), rates_(std::move(rates)) {}
  Input<Tensor> frames;
  void setup(OperatorSpec& spec) override { spec.input(frames, "frames").retains(4); }
  Contract contract() const override {
    return Contract()
        .trigger(OnEach{frames})
        .accumulates(frames, weftline::Horizon::seconds(1, 15));
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    rates_->add(context.rate(frames).nominal->to_string());
    if (!gate_->pass()) return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG");
    WEFTLINE_ASSIGN(const auto sample, frames.receive());
    static_cast<void>(sample);
    return {};
  }

 private:
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<Collected<std::string>> rates_;
};

struct Run {
  explicit Run(Select select, std::optional<std::uint32_t> depth = {}) {
    weftline::Graph graph{"rates"};
    const auto camera = graph.op<Camera>("camera", std::move(select), camera_rates);
    const auto history = graph.op<History>("history", gate, history_rates);
    graph.add_flow(camera->frames, history->frames, {.queue_depth = depth});
    graph.partition("a").add(camera);
    graph.partition("b").add(history);
    plan.emplace(compiled(graph));
    session.emplace(weftline::run_async(*plan));
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { gate->open(); }

  /// The number of frames that queue up while the consumer stands at its gate: the one before it is
  /// in the queue as well.
  std::uint64_t queued_at_rest() {
    REQUIRE(gate->wait_for_visitor());
    REQUIRE(
        eventually(*session, [&] { return session->counters().operators[0].refused_emits > 0; }));
    return session->counters().edges[0].depth;
  }
  [[nodiscard]] weftline::RateGenerationSnapshot rates() const {
    return session->capture_rate_generations().value();
  }

  std::shared_ptr<Gate> gate{std::make_shared<Gate>()};
  std::shared_ptr<Collected<std::string>> camera_rates{std::make_shared<Collected<std::string>>()};
  std::shared_ptr<Collected<std::string>> history_rates{std::make_shared<Collected<std::string>>()};
  std::optional<weftline::ExecutionPlan> plan{};
  std::optional<weftline::RunSession> session{};
};

expected<void, Error> select_nothing(weftline::LifecycleContext&, const weftline::OutputPort&) {
  return {};
}

Select select_hz(std::uint64_t hertz) {
  return [hertz](weftline::LifecycleContext& context, const weftline::OutputPort& output) {
    return context.select_rate(output, Rate::hz(hertz));
  };
}

}  // namespace

TEST_CASE("a session that selects nothing runs at the rate that the plan starts with") {
  Run run(select_nothing);
  CHECK(run.queued_at_rest() == 8);
  const auto rates = run.rates();
  REQUIRE(rates.published() != nullptr);
  CHECK(rates.last_rejected() == nullptr);
  CHECK(rates.published()->rate_generation == 1);
  CHECK(rates.published()->edges.at(0).active_depth == 8);
  CHECK(run.camera_rates->values() == std::vector<std::string>{"60", "60"});
  CHECK(run.history_rates->values() == std::vector<std::string>{"60"});
}

TEST_CASE("a selected rate sets the depth of the queues, and every context shows it") {
  struct Case {
    std::uint64_t hertz;
    std::uint32_t depth;
    std::uint32_t entries;
  };
  for (const Case each : {Case{120, 16, 22}, Case{30, 4, 10}}) {
    Run run(select_hz(each.hertz));
    CHECK(run.queued_at_rest() == each.depth);
    const auto rates = run.rates();
    REQUIRE(rates.published() != nullptr);
    CHECK(rates.published()->edges.at(0).active_depth == each.depth);
    CHECK(rates.published()->pools.at(0).active_entries == each.entries);
    const std::string rate = std::to_string(each.hertz);
    CHECK(run.camera_rates->values() == std::vector<std::string>{"60", rate});
    CHECK(run.history_rates->values() == std::vector<std::string>{rate});
  }
}

TEST_CASE("an explicit depth stays, whatever rate is selected") {
  Run run(select_hz(120), 3);
  CHECK(run.queued_at_rest() == 3);
  CHECK(run.rates().published()->edges.at(0).active_depth == 3);
}

TEST_CASE("84 MiB active and 132 MiB admitted, and what the pool has really set aside") {
  Run run(select_nothing);
  const auto rates = run.rates();
  REQUIRE(eventually(*run.session, [&] {
    return run.session->capture_rate_generations().value().published() != nullptr;
  }));
  const auto snapshot = run.rates();
  const auto& generation = *snapshot.published();
  CHECK(generation.pools.at(0).reserved_bytes == 132 * kMiB);
  const auto text =
      weftline::render_rate_queue_inspection(*run.plan, snapshot, generation.rate_generation,
                                             EdgeId{0}, RateQueueInspectionFormat::kHumanText);
  REQUIRE(text);
  CHECK(text->find("6291456 bytes x 14 = 88080384 active, x 22 = 138412032 admitted; reserved "
                   "138412032") != std::string::npos);
  CHECK(text->find("paste       ConnectionOptions{.queue_depth = 8}") != std::string::npos);
  const auto json =
      weftline::render_rate_queue_inspection(*run.plan, snapshot, generation.rate_generation,
                                             EdgeId{0}, RateQueueInspectionFormat::kCanonicalJson);
  REQUIRE(json);
  CHECK(json->find("\"schema\": \"weftline.rate-queue-inspection\"") != std::string::npos);
  CHECK(json->find("\"status\": \"published\"") != std::string::npos);
}

TEST_CASE("a rate above the maximum is refused to its owner, who may go on") {
  std::string refused;
  Run run([&refused](weftline::LifecycleContext& context, const weftline::OutputPort& output) {
    auto selected = context.select_rate(output, Rate::hz(240));
    if (!selected) refused = selected.error().to_string();
    return context.select_rate(output, Rate::hz(90));
  });
  CHECK(run.queued_at_rest() == 12);
  CHECK(refused ==
        "kInvalidArgument [RATE_ABOVE_MAXIMUM]: camera.frames: 240 samples a second, the plan "
        "admits at most 120");
  const auto rates = run.rates();
  REQUIRE(rates.published() != nullptr);
  REQUIRE(rates.last_rejected() != nullptr);
  CHECK(rates.last_rejected()->rate_generation == 1);
  CHECK(rates.last_rejected()->rejection->token == "RATE_ABOVE_MAXIMUM");
  CHECK(rates.published()->rate_generation == 2);
  const auto json = weftline::render_rate_queue_inspection(
      *run.plan, rates, 1, EdgeId{0}, RateQueueInspectionFormat::kCanonicalJson);
  REQUIRE(json);
  CHECK(json->find("\"status\": \"rejected\"") != std::string::npos);
}

TEST_CASE("an owner that gives up over a refused rate fails the start, and nothing is published") {
  Run run(select_hz(240));
  CHECK(run_to_end(*run.session) == RunTermination::kFailed);
  REQUIRE(run.session->diagnostics().size() == 1);
  CHECK(run.session->diagnostics()[0].error.token == "RATE_ABOVE_MAXIMUM");
  const auto rates = run.rates();
  CHECK(rates.published() == nullptr);
  REQUIRE(rates.last_rejected() != nullptr);
  CHECK(rates.last_rejected()->selections.at(0).rate == Rate::hz(240));
}

TEST_CASE("what is no rate, and what is not one's own output, is refused") {
  std::vector<std::string> tokens;
  Run run([&tokens](weftline::LifecycleContext& context, const weftline::OutputPort& output) {
    const auto add = [&](const expected<void, Error>& result) {
      tokens.emplace_back(result ? "-" : result.error().token);
    };
    const Output<std::uint64_t> elsewhere;
    add(context.select_rate(output, Rate::hz(0)));
    add(context.select_rate(elsewhere, Rate::hz(60)));
    add(context.select_rate(output, Rate::hz(30)));
    add(context.select_rate(output, Rate::hz(60)));
    return expected<void, Error>{};
  });
  CHECK(run.queued_at_rest() == 8);
  CHECK(tokens == std::vector<std::string>{"RATE_INVALID", "RATE_SELECTION_UNKNOWN", "-", "-"});
}

TEST_CASE("rates stay readable after the end of the run") {
  Run run(select_hz(30));
  static_cast<void>(run.queued_at_rest());
  run.gate->open();
  run.session->request_stop();
  CHECK(run_to_end(*run.session) == RunTermination::kStopped);
  CHECK(run.rates().published()->edges.at(0).active_depth == 4);
  weftline::Graph graph{"no-clock"};
  graph.op<Scripted>("bystander",
                     Scripted::Script([](ExecutionContext&) { return expected<void, Error>{}; }));
  const auto session = weftline::run_async(weftline::compile(graph));
  REQUIRE(session.termination() == RunTermination::kFailed);
  CHECK(session.capture_rate_generations().error().token == "RUN_NOT_BUILT");
}
