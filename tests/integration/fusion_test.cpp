// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"
#include "weftline/cuda/launch.hpp"

using namespace test;
using weftline::CudaComputeStreamPolicy;
using weftline::MemoryAccess;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr std::array<std::int64_t, 1> kOne{1};
constexpr std::uint32_t kFrames = 200;
constexpr weftline::DeviceId kDevice{weftline::DeviceKind::kEmulated, 0};
constexpr auto kNoCuda = [](CUstream_st*) -> expected<void, Error> { return {}; };

weftline::TensorOutputSpec device_pool() {
  return {.representation = {.memory_kind = MemoryKind::kCudaDevice, .dtype = kU32, .rank = 1},
          .bounds = weftline::tensor_bounds(4),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// `*to = *from + 1` in the stream's order; from 0 without a source.
expected<void, Error> add_one(weftline::StreamRef stream, const void* from, void* to) {
  const MemoryAccess read{from, from != nullptr ? 4U : 0U};
  const MemoryAccess write{to, 4};
  return weftline::launch(
      stream, {&read, 1}, {&write, 1},
      [from, to] {
        const auto* const source = static_cast<const std::uint32_t*>(from);
        *static_cast<std::uint32_t*>(to) = (source != nullptr ? *source : 0) + 1;
      },
      kNoCuda);
}

class Source final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out").produces_tensor(device_pool());
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(20)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (made_ == kFrames) return out.close();
    auto loan = out.allocate_tensor({.shape = kOne, .dtype = kU32});
    if (!loan) return {};  // all slots are on their way
    WEFTLINE_TRY(loan->write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      return add_one(context.cuda_stream(), nullptr, data);
    }));
    auto emitted = out.emit(std::move(*loan));
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    ++made_;
    return emitted;
  }

 private:
  std::uint32_t made_{0};
};

class AddOne final : public Operator<> {
 public:
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").produces_tensor(device_pool());
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kOne, .dtype = kU32}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      return add_one(context.cuda_stream(), sample.data.data(), data);
    }));
    return out.emit(std::move(loan));
  }
};

class Sink final : public Operator<> {
 public:
  explicit Sink(std::shared_ptr<std::atomic<std::uint32_t>> sum) : sum_(std::move(sum)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    const MemoryAccess read{sample.data.data(), 4};
    return weftline::launch(
        context.cuda_stream(), {&read, 1}, {},
        [from = sample.data.data_as<std::uint32_t>(), sum = sum_.get()] { *sum += *from; },
        kNoCuda);
  }

 private:
  const std::shared_ptr<std::atomic<std::uint32_t>> sum_;
};

struct Chain {
  explicit Chain(bool one_lane,
                 CudaComputeStreamPolicy policy = CudaComputeStreamPolicy::kPartitionDevice) {
    use_realtime_clock(graph);
    const auto source = graph.op<Source>("source");
    const auto middle = graph.op<AddOne>("middle");
    const auto sink = graph.op<Sink>("sink", sum);
    graph.add_flow(source->out, middle->in);
    graph.add_flow(middle->out, sink->in);
    if (!one_lane) {
      graph.partition("first").add(source);
      graph.partition("second").add(middle);
      graph.partition("third").add(sink);
    }
    options.devices = weftline::capture_device_catalog();
    options.cuda_execution.compute_stream_policy = policy;
    for (const char* const op : {"source", "middle"}) {
      options.deployment.bind_tensor_output_device(
          {.operator_path = op, .output_port = "out", .device = kDevice});
    }
  }
  [[nodiscard]] weftline::ExecutionPlan compile() const {
    auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return plan;
  }

  weftline::Graph graph{"chain"};
  weftline::CompileOptions options;
  std::shared_ptr<std::atomic<std::uint32_t>> sum = std::make_shared<std::atomic<std::uint32_t>>(0);
};

/// The plan with other records, as one that comes from elsewhere may have.
weftline::ExecutionPlan altered(const weftline::ExecutionPlan& plan,
                                const std::function<void(weftline::PlanRecords&)>& change) {
  weftline::PlanRecords records = plan.records();
  change(records);
  std::vector<weftline::OperatorFactory> operators;
  for (const auto& op : records.operators) operators.push_back(plan.operator_factory(op.id));
  std::vector<weftline::ParamSet> params;
  for (const auto& op : records.operators) params.push_back(plan.param_set(op.id));
  std::vector<weftline::ClockFactory> clocks;
  for (const auto& clock : records.clocks) clocks.push_back(plan.clock_factory(clock.id));
  return {std::move(records), std::move(operators), std::move(clocks), std::move(params)};
}

}  // namespace

TEST_CASE("a chain on a device gives the same with all its fences and without") {
  struct Case {
    const char* name;
    bool one_lane;
    CudaComputeStreamPolicy policy;
    bool fused;
  };
  const auto each =
      GENERATE(Case{"one lane", true, CudaComputeStreamPolicy::kPartitionDevice, true},
               Case{"three lanes", false, CudaComputeStreamPolicy::kPartitionDevice, false},
               Case{"three lanes on one stream", false,
                    CudaComputeStreamPolicy::kSharedProcessDevice, true});
  INFO(each.name);
  const Chain chain(each.one_lane, each.policy);
  const auto plan = chain.compile();
  for (const auto& decision : plan.records().fusion_decisions) {
    INFO(decision.reason);
    CHECK(decision.fused == each.fused);
  }
  const auto session = weftline::run_async(plan);
  const auto termination = run_to_end(session);
  for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
  REQUIRE(termination == RunTermination::kCompleted);
  CHECK(*chain.sum == 2 * kFrames);
  for (const auto& pool : session.counters().pools) {
    CHECK(pool.usage.quarantined == 0);
    CHECK(pool.usage.host_waits.total() == 0);
  }
}

TEST_CASE("a plan whose proof does not hold does not arm, and says why") {
  const Chain chain(true);
  const auto plan = chain.compile();
  REQUIRE(plan.tensor_allocations().size() == 2);
  const auto refusal_of = [&](const std::function<void(weftline::PlanRecords&)>& change) {
    const auto session = weftline::run_async(altered(plan, change));
    REQUIRE(run_to_end(session) == RunTermination::kFailed);
    REQUIRE(session.diagnostics().size() == 1);
    const Error error = session.diagnostics()[0].error;
    CHECK(error.token == "RUN_FUSION_UNPROVEN");
    CHECK(*chain.sum == 0);
    return error.message;
  };
  using Records = weftline::PlanRecords;
  CHECK(refusal_of([](Records& records) {
          records.tensor_allocations[0].fused_stream = weftline::StreamPlanId{7};
        }).find("there is no such stream") != std::string::npos);
  CHECK(refusal_of([](Records& records) {
          records.cuda_compute_streams.push_back(
              {weftline::StreamPlanId{1}, weftline::PartitionId{0}, kDevice});
          records.operators[2].stream = weftline::StreamPlanId{1};
        }).find("is not on it") != std::string::npos);
  CHECK(refusal_of([](Records& records) {
          records.payload_edges[0].source = records.payload_edges[1].source;
        }).find("successors") != std::string::npos);
  CHECK(refusal_of([](Records& records) {
          records.operators[0].outputs[0].tensor->storage =
              weftline::TensorOutputStorage::kPassThrough;
        }).find("hand the tensor on") != std::string::npos);
}
