// SPDX-License-Identifier: Apache-2.0
// Tensors that selectors, policies and windows hold: ordered when they are given out, checked
// before they are kept, and back in their pool at the end.
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"
#include "weftline/cuda/stream_order_checker.hpp"

using namespace test;
using weftline::MemoryAccess;
using weftline::MemoryKind;
using weftline::RunTermination;
using namespace std::chrono_literals;

namespace {

constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr std::array<std::int64_t, 1> kOne{1};
constexpr auto kNoCuda = [](CUstream_st*) -> expected<void, Error> { return {}; };

/// Writes its count into device tensors, in the order of its stream; waits for free slots.
class Counter final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor(
            {.representation = {.memory_kind = MemoryKind::kCudaDevice, .rank = 1},  // any dtype
             .bounds = weftline::tensor_bounds(4),
             .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override { return Contract().trigger(OnClock{10us}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    auto loan = out.allocate_tensor({.shape = kOne, .dtype = kU32});
    if (!loan) return {};
    WEFTLINE_TRY(loan->write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      const MemoryAccess write{data, 4};
      return weftline::launch(
          context.cuda_stream(), {}, {&write, 1},
          [data, value = next_] { *static_cast<std::uint32_t*>(data) = value; }, kNoCuda);
    }));
    const auto emitted =
        out.emit(std::move(*loan), {.capture_time = context.activation_time(), .frame_id = next_});
    if (emitted) ++next_;
    return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                   : emitted;
  }

 private:
  std::uint32_t next_{0};
};

using Promise = std::function<Contract(const Input<Tensor>& main, const Input<Tensor>& side)>;

struct Tally {
  std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> reused{0};
};

/// Reads all that it is given in the order of its stream, and compares.
class Comparer final : public Operator<> {
 public:
  Comparer(Promise promise, std::shared_ptr<Tally> tally, weftline::TensorRepresentation wanted)
      : promise_(std::move(promise)), tally_(std::move(tally)), wanted_(wanted) {}
  Input<Tensor> main;
  Input<Tensor> side;
  void setup(OperatorSpec& spec) override {
    spec.input(main, "main").expects_tensor({MemoryKind::kCudaDevice});
    spec.input(side, "side").expects_tensor({wanted_});
  }
  Contract contract() const override { return promise_(main, side); }
  expected<void, Error> compute(ExecutionContext& context) override {
    for (Input<Tensor>* input : {&main, &side}) {
      if (input->is_stale()) ++tally_->reused;
      if (const auto batch = input->receive_batch()) {
        for (const auto& sample : *batch) {
          WEFTLINE_TRY(compare(context, sample.data, sample.metadata));
        }
      } else if (const auto sample = input->receive()) {
        WEFTLINE_TRY(compare(context, sample->data, sample->metadata));
      }
    }
    return {};
  }

 private:
  expected<void, Error> compare(ExecutionContext& context, const Tensor& tensor,
                                const weftline::SampleMetadata& metadata) {
    const MemoryAccess read{tensor.data(), 4};
    return weftline::launch(
        context.cuda_stream(), {&read, 1}, {},
        [tally = tally_.get(), wanted = static_cast<std::uint32_t>(metadata.frame_id.value_or(0)),
         from = tensor.data_as<std::uint32_t>()] {
          if (*from != wanted) ++tally->wrong;
          ++tally->read;
        },
        kNoCuda);
  }

  const Promise promise_;
  const std::shared_ptr<Tally> tally_;
  const weftline::TensorRepresentation wanted_;
};

struct Bench {
  explicit Bench(const Promise& promise,
                 weftline::TensorRepresentation wanted = {.memory_kind = MemoryKind::kCudaDevice}) {
    use_realtime_clock(graph);
    const auto first = graph.op<Counter>("first");
    const auto second = graph.op<Counter>("second");
    const auto comparer = graph.op<Comparer>("comparer", promise, tally, wanted);
    const weftline::ConnectionOptions lossy{.queue_depth = 4,
                                            .queue_policy = weftline::QueuePolicy::kDropOldest};
    graph.add_flow(first->out, comparer->main, lossy);
    graph.add_flow(second->out, comparer->side, lossy);
    options.devices = weftline::capture_device_catalog();
    for (const char* path : {"first", "second"}) {
      options.deployment.bind_tensor_output_device(
          {.operator_path = path,
           .output_port = "out",
           .device = {weftline::DeviceKind::kEmulated, 0}});
    }
  }
  [[nodiscard]] weftline::RunSession start() {
    const auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return weftline::run_async(plan, {.devices = {.order_checker = checker}});
  }

  weftline::Graph graph{"held"};
  weftline::CompileOptions options{};
  std::shared_ptr<Tally> tally{std::make_shared<Tally>()};
  std::shared_ptr<weftline::StreamOrderChecker> checker{
      std::make_shared<weftline::StreamOrderChecker>()};
};

const std::array<Promise, 4> kPromises{
    [](const Input<Tensor>& main, const Input<Tensor>& side) {
      return Contract()
          .trigger(OnEach{main})
          .select(side, weftline::LatestWithin{20us}, weftline::ReuseLast{5});
    },
    [](const Input<Tensor>& main, const Input<Tensor>& side) {
      return Contract()
          .trigger(OnClock{30us})
          .select(main, weftline::DrainAll{3}, weftline::ReuseLast{2})
          .select(side, weftline::BracketedWindow{50us, 0us, 6}, weftline::SafeDefault{});
    },
    [](const Input<Tensor>& main, const Input<Tensor>& side) {
      return Contract()
          .trigger(weftline::OnWindow{.anchor = main, .max_wait = 1ms, .max_pending_windows = 3})
          .select(side, weftline::BracketedWindow{40us, 10us, 8}, weftline::Absent{});
    },
    [](const Input<Tensor>& main, const Input<Tensor>& side) {
      static_cast<void>(main);
      return Contract()
          .trigger(weftline::OnAnyInput{})
          .select(side, weftline::Exact{}, weftline::ReuseLast{4});
    }};

}  // namespace

TEST_CASE("tensors that are held for later are ordered, whole, and given back at the end") {
  Bench bench(kPromises.at(GENERATE(0U, 1U, 2U, 3U)));
  auto session = bench.start();
  REQUIRE(eventually(session, [&] { return bench.tally->read.load() >= 300; }));
  session.request_stop();
  const RunTermination termination = run_to_end(session);
  for (const auto& each : session.diagnostics()) UNSCOPED_INFO(each.to_string());
  CHECK(termination == RunTermination::kStopped);
  CHECK(bench.tally->wrong == 0);
  CHECK(bench.checker->report_count() == 0);
  // No handle is left; nobody asks any more whether the device has passed the last uses.
  for (const auto& pool : session.counters().pools) {
    CHECK(pool.usage.in_use == pool.usage.retiring);
  }
}

TEST_CASE("a tensor that breaks its side input's contract is refused before a cache keeps it") {
  Bench bench(kPromises.at(GENERATE(0U, 1U, 2U)),
              {.memory_kind = MemoryKind::kCudaDevice, .dtype = DLDataType{kDLFloat, 32, 1}});
  const auto session = bench.start();
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).error.token == "RUN_TENSOR_CONTRACT_BROKEN");
  CHECK(session.diagnostics().at(0).error.code == ErrorCode::kProtocolError);
  // No handle is left; nobody asks any more whether the device has passed the last uses.
  for (const auto& pool : session.counters().pools) {
    CHECK(pool.usage.in_use == pool.usage.retiring);
  }
}
