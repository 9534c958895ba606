// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <thread>

#include "test_operators.hpp"

using namespace test;
using weftline::MemoryAccess;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr std::int64_t kCount = 4'096;
constexpr std::array<std::int64_t, 1> kShape{kCount};

weftline::TensorOutputSpec pooled(MemoryKind kind) {
  return {.representation = {.memory_kind = kind, .dtype = kU32, .rank = 1},
          .bounds = weftline::tensor_bounds(kCount * 4),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Fills tensor n with n, on the host.
class PatternSource final : public Operator<> {
 public:
  PatternSource(MemoryKind kind, std::uint32_t count) : kind_(kind), count_(count) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out").produces_tensor(pooled(kind_));
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    if (next_ == count_) return out.close();
    if (!kept_) {
      auto loan = out.allocate_tensor({.shape = kShape, .dtype = kU32});
      if (!loan) {
        if (loan.error().code == ErrorCode::kResourceExhausted) return {};
        return weftline::forward_error(std::move(loan));
      }
      WEFTLINE_TRY(loan->write_host_and_commit([&](void* data, std::uint64_t) {
        for (std::int64_t index = 0; index < kCount; ++index)
          static_cast<std::uint32_t*>(data)[index] = next_;
      }));
      kept_.emplace(std::move(*loan));
    }
    auto emitted = out.emit(std::move(*kept_), {.frame_id = next_});
    if (!emitted && weftline::is_retryable(emitted.error().code)) {
      return kept_->valid() ? expected<void, Error>{}
                            : weftline::fail(ErrorCode::kFailure, "TEST_LOAN_LOST",
                                             "a retryable refusal took the loan");
    }
    kept_.reset();
    ++next_;
    return emitted;
  }

 private:
  const MemoryKind kind_;
  const std::uint32_t count_;
  std::uint32_t next_{0};
  std::optional<weftline::TensorOutputLoan> kept_{};
};

/// out[i] = in[i] + 1, in stream order where there is a stream.
class Increment final : public Operator<> {
 public:
  Increment(MemoryKind in_kind, MemoryKind out_kind) : in_kind_(in_kind), out_kind_(out_kind) {}
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in").expects_tensor(
        {.representation = {.memory_kind = in_kind_, .dtype = kU32, .rank = 1}});
    spec.output(out, "out").produces_tensor(pooled(out_kind_));
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kU32}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t bytes) {
      const auto* from = sample.data.data_as<std::uint32_t>();
      auto* to = static_cast<std::uint32_t*>(data);
      const MemoryAccess reads[]{{from, bytes}};
      const MemoryAccess writes[]{{to, bytes}};
      return weftline::launch(
          context.cuda_stream(), reads, writes,
          [=] {
            for (std::int64_t index = 0; index < kCount; ++index) to[index] = from[index] + 1;
          },
          [](CUstream_st*) { return expected<void, Error>{}; });
    }));
    return out.emit(std::move(loan), {.frame_id = sample.metadata.frame_id});
  }

 private:
  const MemoryKind in_kind_;
  const MemoryKind out_kind_;
};

/// Checks on the host that every element of tensor n is n + offset.
class PatternCheck final : public Operator<> {
 public:
  PatternCheck(std::uint32_t offset, std::shared_ptr<std::atomic<std::uint64_t>> good)
      : offset_(offset), good_(std::move(good)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    std::vector<std::uint32_t> host(kCount);
    WEFTLINE_TRY(sample.data.copy_to_host(host.data(), kCount * 4, context.cuda_stream()));
    const std::uint64_t wanted = sample.metadata.frame_id.value_or(0) + offset_;
    for (const std::uint32_t value : host) {
      if (value != wanted) {
        return weftline::fail(
            ErrorCode::kFailure, "TEST_PATTERN",
            "found " + std::to_string(value) + ", wanted " + std::to_string(wanted));
      }
    }
    good_->fetch_add(1);
    return {};
  }

 private:
  const std::uint32_t offset_;
  const std::shared_ptr<std::atomic<std::uint64_t>> good_;
};

}  // namespace

TEST_CASE("tensors keep their bytes through pools, streams and forks, and every slot comes back") {
  const bool emulated = GENERATE(false, true);
  const MemoryKind host_side = emulated ? MemoryKind::kPinnedHost : MemoryKind::kHost;
  const MemoryKind device_side = emulated ? MemoryKind::kCudaDevice : MemoryKind::kHost;
  constexpr std::uint32_t kFrames = 500;

  weftline::Graph graph{"tensors"};
  use_realtime_clock(graph);
  const auto good = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto source = graph.op<PatternSource>("source", host_side, kFrames);
  const auto first = graph.op<Increment>("first", host_side, device_side);
  const auto second = graph.op<Increment>("second", device_side, device_side);
  const auto check_first = graph.op<PatternCheck>("check-first", 1U, good);
  const auto check_second = graph.op<PatternCheck>("check-second", 2U, good);
  graph.add_flow(source->out, first->in, {.queue_depth = 2});
  graph.add_flow(first->out, second->in, {.queue_depth = 2});
  graph.add_flow(first->out, check_first->in, {.queue_depth = 3});
  graph.add_flow(second->out, check_second->in, {.queue_depth = 1});

  weftline::CompileOptions options;
  if (emulated) {
    options.devices = weftline::capture_device_catalog();
    const weftline::DeviceId device{weftline::DeviceKind::kEmulated, 0};
    options.deployment
        .bind_tensor_output_device(
            {.operator_path = "first", .output_port = "out", .device = device})
        .bind_tensor_output_device(
            {.operator_path = "second", .output_port = "out", .device = device});
  }
  const auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
  CHECK(good->load() == std::uint64_t{2} * kFrames);
  for (const auto& pool : session.counters().pools) {
    CHECK(pool.usage.quarantined == 0);
    CHECK(pool.usage.in_use - pool.usage.retiring == 0);
    CHECK(pool.usage.in_use_high_water <= pool.usage.slot_count);
  }
}

namespace {

/// One device tensor whose write, on the producer's stream, waits for a gate.
class GatedWriter final : public Operator<> {
 public:
  explicit GatedWriter(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out").produces_tensor(pooled(MemoryKind::kCudaDevice));
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kU32}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      auto* first = static_cast<std::uint32_t*>(data);
      *first = 0;
      return weftline::launch(
          context.cuda_stream(), {}, {},
          [first, gate = gate_.get()] {
            if (gate->pass()) *first = 42;
          },
          [](CUstream_st*) { return expected<void, Error>{}; });
    }));
    WEFTLINE_TRY(out.emit(std::move(loan)));
    return out.close();
  }

 private:
  const std::shared_ptr<Gate> gate_;
};

/// What the reader's stream found, and when.
struct Reading {
  std::atomic<bool> submitted{false};
  std::atomic<bool> done{false};
  std::atomic<std::uint32_t> value{0};
};

class StreamReader final : public Operator<> {
 public:
  explicit StreamReader(std::shared_ptr<Reading> reading) : reading_(std::move(reading)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    const auto* first = sample.data.data_as<std::uint32_t>();
    WEFTLINE_TRY(weftline::launch(
        context.cuda_stream(), {}, {},
        [first, reading = reading_.get()] {
          reading->value = *first;
          reading->done = true;
        },
        [](CUstream_st*) { return expected<void, Error>{}; }));
    reading_->submitted = true;
    return {};
  }

 private:
  const std::shared_ptr<Reading> reading_;
};

}  // namespace

TEST_CASE("work on a consumer's stream waits for the producer's write, and compute does not") {
  weftline::Graph graph{"ordered"};
  use_realtime_clock(graph);
  const auto gate = std::make_shared<Gate>();
  const auto reading = std::make_shared<Reading>();
  const auto writer = graph.op<GatedWriter>("writer", gate);
  const auto reader = graph.op<StreamReader>("reader", reading);
  graph.add_flow(writer->out, reader->in);
  graph.partition("writing").add(writer);
  graph.partition("reading").add(reader);
  weftline::CompileOptions options;
  options.devices = weftline::capture_device_catalog();
  options.deployment.bind_tensor_output_device(
      {.operator_path = "writer",
       .output_port = "out",
       .device = weftline::DeviceId{weftline::DeviceKind::kEmulated, 0}});
  const auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  // The reader's callback has run although the write has not: no host thread waited.
  REQUIRE(eventually(session, [&] { return reading->submitted.load(); }));
  for_a_while([&] { REQUIRE_FALSE(reading->done); });
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(reading->value == 42);
}

TEST_CASE(
    "a received tensor that breaks the input's contract fails the run before compute sees it") {
  weftline::Graph graph{"contract"};
  use_realtime_clock(graph);

  class WrongRank final : public Operator<> {
   public:
    Output<Tensor> out;
    void setup(OperatorSpec& spec) override {
      spec.output(out, "out")
          .produces_tensor({.representation = {.memory_kind = MemoryKind::kHost},
                            .bounds = {.max_rank = 4, .max_byte_span = 64},
                            .storage = weftline::TensorOutputStorage::kRuntimePool});
    }
    Contract contract() const override {
      return Contract().trigger(OnClock{std::chrono::microseconds(1)});
    }
    expected<void, Error> compute(ExecutionContext&) override {
      constexpr std::array<std::int64_t, 2> kSquare{2, 2};
      WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kSquare, .dtype = kU32}));
      WEFTLINE_TRY(loan.write_host_and_commit([](void*, std::uint64_t) {}));
      WEFTLINE_TRY(out.emit(std::move(loan)));
      return out.close();
    }
  };
  class WantsRankOne final : public Operator<> {
   public:
    Input<Tensor> in;
    void setup(OperatorSpec& spec) override {
      spec.input(in, "in").expects_tensor({.representation = {.rank = 1}});
    }
    Contract contract() const override { return Contract().trigger(OnEach{in}); }
    expected<void, Error> compute(ExecutionContext&) override {
      return weftline::fail(ErrorCode::kFailure, "TEST_REACHED", "compute ran");
    }
  };
  const auto source = graph.op<WrongRank>("source");
  const auto sink = graph.op<WantsRankOne>("sink");
  graph.add_flow(source->out, sink->in);
  const auto session = weftline::run_async(weftline::compile(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].error.code == ErrorCode::kProtocolError);
  CHECK(session.diagnostics()[0].error.token == "RUN_TENSOR_CONTRACT_BROKEN");
}
