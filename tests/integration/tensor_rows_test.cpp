// SPDX-License-Identifier: Apache-2.0
//
// What a run promises of tensors: ordered and read-only when they arrive (T3), fences that are left
// out only with proof and come back on a surprise (T5), host waits counted (T7), checked before
// they are kept (T13), forwarded with their slot and its releases (T14).
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "test_operators.hpp"
#include "weftline/cuda/stream_order_checker.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace test;
using weftline::MemoryAccess;
using weftline::MemoryKind;
using weftline::QueuePolicy;
using weftline::RunTermination;

namespace {

constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr std::array<std::int64_t, 1> kOne{1};
constexpr weftline::DeviceId kDevice{weftline::DeviceKind::kEmulated, 0};
constexpr auto kNoCuda = [](CUstream_st*) -> expected<void, Error> { return {}; };

weftline::TensorOutputSpec pool_in(MemoryKind kind) {
  return {.representation = {.memory_kind = kind, .dtype = kU32, .rank = 1},
          .bounds = weftline::tensor_bounds(4),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Of any dtype and rank.
weftline::TensorOutputSpec loose_pool() {
  return {.representation = {.memory_kind = MemoryKind::kHost},
          .bounds = {.max_rank = 4, .max_byte_span = 64},
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// What operators of a test do: functions that the test gives, called at each activation.
using Send = std::function<expected<void, Error>(ExecutionContext&, Output<Tensor>&)>;
using Take = std::function<expected<void, Error>(ExecutionContext&, weftline::Sample<Tensor>)>;
using Pass = std::function<expected<void, Error>(ExecutionContext&, weftline::Sample<Tensor>,
                                                 Output<Tensor>&)>;

class Sender final : public Operator<> {
 public:
  Sender(const weftline::TensorOutputSpec& spec, Send send) : spec_(spec), send_(std::move(send)) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(spec_); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override { return send_(context, out); }

 private:
  const weftline::TensorOutputSpec spec_;
  const Send send_;
};

class Taker final : public Operator<> {
 public:
  explicit Taker(Take take, weftline::TensorInputSpec spec = {}, std::uint32_t retained = 0)
      : take_(std::move(take)), spec_(spec), retained_(retained) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in").expects_tensor(spec_).retains(retained_);
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    return take_(context, std::move(sample));
  }

 private:
  const Take take_;
  const weftline::TensorInputSpec spec_;
  const std::uint32_t retained_;
};

/// Hands tensors on by an output without a pool.
class Passer final : public Operator<> {
 public:
  Passer(Pass pass, const weftline::TensorOutputSpec& spec) : pass_(std::move(pass)), spec_(spec) {}
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").produces_tensor(spec_);
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    return pass_(context, std::move(sample), out);
  }

 private:
  const Pass pass_;
  const weftline::TensorOutputSpec spec_;
};

/// Writes `value` in the order of the operator's stream, after `before()` has returned there.
expected<weftline::TensorOutputLoan, Error> written(ExecutionContext& context, Output<Tensor>& out,
                                                    std::uint32_t value, Gate* before = nullptr) {
  WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kOne, .dtype = kU32}));
  WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
    const MemoryAccess write{data, 4};
    return weftline::launch(
        context.cuda_stream(), {}, {&write, 1},
        [data, value, before] {
          if (before != nullptr) before->pass();
          *static_cast<std::uint32_t*>(data) = value;
        },
        kNoCuda);
  }));
  return loan;
}

/// Reads in the order of the operator's stream, into what outlives the run.
expected<void, Error> read_into(ExecutionContext& context, const Tensor& tensor,
                                std::atomic<std::uint32_t>* to, Gate* before = nullptr) {
  const MemoryAccess read{tensor.data(), 4};
  return weftline::launch(
      context.cuda_stream(), {&read, 1}, {},
      [to, before, from = tensor.data_as<std::uint32_t>()] {
        if (before != nullptr) before->pass();
        to->store(*from);
      },
      kNoCuda);
}

struct Run {
  explicit Run(const char* name) : graph(name) {
    use_realtime_clock(graph);
    options.devices = weftline::capture_device_catalog();
  }
  void on_device(const char* path) {
    options.deployment.bind_tensor_output_device(
        {.operator_path = path, .output_port = "out", .device = kDevice});
  }
  [[nodiscard]] weftline::ExecutionPlan compile() const {
    auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return plan;
  }
  /// With a checker of its own, which keeps what it reports.
  [[nodiscard]] weftline::RunSession start() {
    return weftline::run_async(compile(), {.devices = {.order_checker = checker}});
  }

  weftline::Graph graph;
  weftline::CompileOptions options;
  std::shared_ptr<weftline::StreamOrderChecker> checker =
      std::make_shared<weftline::StreamOrderChecker>();
};

/// The one diagnostic of a run that fails.
weftline::RunDiagnostic failure_of(const weftline::RunSession& session) {
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  return session.diagnostics()[0];
}

void require_completed(const weftline::RunSession& session) {
  const auto termination = run_to_end(session);
  for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
  REQUIRE(termination == RunTermination::kCompleted);
}

}  // namespace

TEST_CASE("a received tensor is ordered on the consumer's stream before compute, and read-only") {
  Run run("ordered");
  const auto gate = std::make_shared<Gate>();
  const auto read = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto denied = std::make_shared<std::atomic<bool>>(false);
  const auto submitted = std::make_shared<std::atomic<bool>>(false);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaDevice),
      [gate](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        WEFTLINE_ASSIGN(auto loan, written(context, out, 42, gate.get()));
        WEFTLINE_TRY(out.emit(std::move(loan)));
        return out.close();
      });
  const auto taker = run.graph.op<Taker>(
      "taker", [=](ExecutionContext& context, const weftline::Sample<Tensor>& sample) {
        const auto writable = sample.data.mutable_data();
        *denied = !writable && writable.error().code == ErrorCode::kPermissionDenied;
        auto outcome = read_into(context, sample.data, read.get());
        *submitted = true;
        return outcome;
      });
  run.graph.add_flow(sender->out, taker->in);
  run.graph.partition("sending").add(sender);
  run.graph.partition("taking").add(taker);
  run.on_device("sender");
  const auto session = run.start();
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  REQUIRE(eventually(session, [&] { return submitted->load(); }));  // compute() has not waited
  CHECK(*read == 0);
  gate->open();
  require_completed(session);
  CHECK(*read == 42);
  CHECK(*denied);
  CHECK(run.checker->report_count() == 0);
  for (const auto& pool : session.counters().pools) CHECK(pool.usage.host_waits.total() == 0);
}

TEST_CASE("the host waits for the device, counted, before a consumer that has no stream") {
  Run run("streamless");
  const auto gate = std::make_shared<Gate>();
  const auto seen = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto had_stream = std::make_shared<std::atomic<bool>>(true);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaManaged),
      [gate](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        WEFTLINE_ASSIGN(auto loan, written(context, out, 7, gate.get()));
        WEFTLINE_TRY(out.emit(std::move(loan)));
        return out.close();
      });
  // What is handed on without a word is of any kind: nothing puts its taker on a device.
  const auto passer = run.graph.op<Passer>(
      "passer",
      [](ExecutionContext&, weftline::Sample<Tensor> sample, Output<Tensor>& out) {
        return out.emit(std::move(sample.data));
      },
      weftline::TensorOutputSpec{});
  const auto taker =
      run.graph.op<Taker>("taker",
                          [=](ExecutionContext& context,
                              const weftline::Sample<Tensor>& sample) -> expected<void, Error> {
                            *had_stream = static_cast<bool>(context.cuda_stream());
                            *seen = *sample.data.data_as<std::uint32_t>();
                            return {};
                          });
  run.graph.add_flow(sender->out, passer->in);
  run.graph.add_flow(passer->out, taker->in);
  run.graph.partition("sending").add(sender);
  run.graph.partition("taking").add(taker);
  run.on_device("sender");
  const auto session = run.start();
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  for_a_while([&] { REQUIRE(*had_stream); });  // compute() has not begun
  gate->open();
  require_completed(session);
  REQUIRE_FALSE(*had_stream);
  CHECK(*seen == 7);
  REQUIRE(session.counters().pools.size() == 1);
  CHECK(session.counters().pools[0].usage.host_waits.streamless_consumer == 1);
}

TEST_CASE("a fence that was left out comes back on a surprise") {
  // Managed memory: both sides reach it, so a host may write where only the device was proven to.
  enum class Surprise { kNone, kHostWrites, kHostReads, kExport };
  const auto surprise =
      GENERATE(Surprise::kNone, Surprise::kHostWrites, Surprise::kHostReads, Surprise::kExport);
  constexpr std::uint32_t kFrames = 200;
  Run run("surprised");
  const auto next = std::make_shared<std::uint32_t>(0);
  const auto wrong = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto put_off = std::make_shared<std::uint32_t>(0);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaManaged),
      [=](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        if (*next == kFrames) return out.close();
        const bool by_host = surprise == Surprise::kHostWrites && *next % 3 == 1;
        auto loan = by_host ? out.allocate_tensor({.shape = kOne, .dtype = kU32})
                            : written(context, out, *next);
        if (!loan) {
          const bool none_free = loan.error().code == ErrorCode::kResourceExhausted;
          return none_free ? expected<void, Error>{} : weftline::forward_error(std::move(loan));
        }
        if (by_host) {
          auto filled = loan->write_host_and_commit(
              [&](void* data, std::uint64_t) { *static_cast<std::uint32_t*>(data) = *next; });
          if (!filled && filled.error().code == ErrorCode::kResourceExhausted) {
            ++*put_off;  // the device may still read each free slot
            return {};
          }
          WEFTLINE_TRY(std::move(filled));
        }
        auto emitted = out.emit(std::move(*loan), {.frame_id = *next});
        if (emitted) ++*next;
        return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                       : emitted;
      });
  const auto taker = run.graph.op<Taker>(
      "taker",
      [=](ExecutionContext& context,
          const weftline::Sample<Tensor>& sample) -> expected<void, Error> {
        const auto wanted = static_cast<std::uint32_t>(sample.metadata.frame_id.value_or(0));
        if (surprise == Surprise::kHostReads) {
          WEFTLINE_TRY(sample.data.synchronize_for_host());
          if (*sample.data.data_as<std::uint32_t>() != wanted) ++*wrong;
        }
        if (surprise == Surprise::kExport) {
          WEFTLINE_TRY(sample.data.prepare_for_export(context.cuda_stream()));
        }
        const MemoryAccess read{sample.data.data(), 4};
        return weftline::launch(
            context.cuda_stream(), {&read, 1}, {},
            [wrong = wrong.get(), wanted, from = sample.data.data_as<std::uint32_t>()] {
              if (*from != wanted) ++*wrong;
            },
            kNoCuda);
      },
      weftline::TensorInputSpec{{.memory_kind = MemoryKind::kCudaManaged}});
  run.graph.add_flow(sender->out, taker->in);
  run.on_device("sender");
  const auto plan = run.compile();
  REQUIRE(plan.records().fusion_decisions.size() == 1);
  REQUIRE(plan.records().fusion_decisions[0].fused);
  const auto session = weftline::run_async(plan, {.devices = {.order_checker = run.checker}});
  require_completed(session);
  CHECK(*wrong == 0);
  CHECK(*next == kFrames);
  for (const auto& report : run.checker->take_reports()) UNSCOPED_INFO(report.to_string());
  CHECK(run.checker->report_count() == 0);
}

TEST_CASE("a tensor that breaks its input's contract is refused before anything keeps it") {
  const auto policy = GENERATE(QueuePolicy::kBlocking, QueuePolicy::kDropOldest);
  const auto wanted =
      GENERATE(weftline::TensorRepresentation{.rank = 1},
               weftline::TensorRepresentation{.dtype = DLDataType{kDLFloat, 32, 1}});
  Run run("broken");
  const auto computed = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto sender = run.graph.op<Sender>(
      "sender", loose_pool(), [](ExecutionContext&, Output<Tensor>& out) -> expected<void, Error> {
        constexpr std::array<std::int64_t, 2> kSquare{2, 2};
        WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kSquare, .dtype = kU32}));
        WEFTLINE_TRY(loan.write_host_and_commit([](void*, std::uint64_t) {}));
        WEFTLINE_TRY(out.emit(std::move(loan)));
        return out.close();
      });
  const auto taker = run.graph.op<Taker>(
      "taker",
      [computed](ExecutionContext&, const weftline::Sample<Tensor>&) -> expected<void, Error> {
        ++*computed;
        return {};
      },
      weftline::TensorInputSpec{wanted});
  run.graph.add_flow(sender->out, taker->in, {.queue_depth = 2, .queue_policy = policy});
  const auto session = run.start();
  const auto failure = failure_of(session);
  CHECK(failure.place == "taker");
  CHECK(failure.error.code == ErrorCode::kProtocolError);
  CHECK(failure.error.token == "RUN_TENSOR_CONTRACT_BROKEN");
  CHECK_THAT(failure.error.message, ContainsSubstring("input in"));
  CHECK(*computed == 0);
  CHECK(session.counters().pools[0].usage.in_use == 0);
}

TEST_CASE("a tensor that is handed on keeps its slot, and every stream that it was on") {
  constexpr std::uint32_t kFrames = 40;
  Run run("handed-on");
  const auto gate = std::make_shared<Gate>();
  const auto sent = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto taken = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto wrong = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto passed_at = std::make_shared<Collected<const void*>>();
  const auto taken_at = std::make_shared<Collected<const void*>>();
  const auto sink_of_reads = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaDevice),
      [=](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        if (*sent == kFrames) return out.close();
        auto loan = written(context, out, *sent);
        if (!loan) return {};  // every slot is on its way
        auto emitted = out.emit(std::move(*loan), {.frame_id = *sent});
        if (emitted) ++*sent;
        return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                       : emitted;
      });
  // Its read stands at the gate; the handle itself is long gone down the flow.
  const auto passer = run.graph.op<Passer>(
      "passer",
      [=](ExecutionContext& context, weftline::Sample<Tensor> sample,
          Output<Tensor>& out) -> expected<void, Error> {
        passed_at->add(sample.data.data());
        WEFTLINE_TRY(read_into(context, sample.data, sink_of_reads.get(), gate.get()));
        return out.emit(std::move(sample.data), {.frame_id = sample.metadata.frame_id});
      },
      weftline::TensorOutputSpec{.representation = {.memory_kind = MemoryKind::kCudaDevice}});
  const auto taker = run.graph.op<Taker>(
      "taker",
      [=](ExecutionContext& context,
          const weftline::Sample<Tensor>& sample) -> expected<void, Error> {
        taken_at->add(sample.data.data());
        ++*taken;
        const auto wanted = static_cast<std::uint32_t>(sample.metadata.frame_id.value_or(0));
        const MemoryAccess read{sample.data.data(), 4};
        return weftline::launch(
            context.cuda_stream(), {&read, 1}, {},
            [wrong = wrong.get(), wanted, from = sample.data.data_as<std::uint32_t>()] {
              if (*from != wanted) ++*wrong;
            },
            kNoCuda);
      },
      weftline::TensorInputSpec{{.memory_kind = MemoryKind::kCudaDevice}});
  run.graph.add_flow(sender->out, passer->in, {.queue_depth = 8});
  run.graph.add_flow(passer->out, taker->in, {.queue_depth = 8});
  run.graph.partition("sending").add(sender);
  run.graph.partition("passing").add(passer);
  run.graph.partition("taking").add(taker);
  run.on_device("sender");
  run.on_device("passer");
  const auto plan = run.compile();
  REQUIRE(plan.tensor_allocations().size() == 1);  // none for what is only handed on
  const std::uint32_t slots = plan.tensor_allocations()[0].slot_count;
  REQUIRE(slots < kFrames);
  const auto session = weftline::run_async(plan, {.devices = {.order_checker = run.checker}});
  const OpensAtEnd opens{gate};
  REQUIRE(eventually(session, [&] { return *taken == slots; }));
  // All slots have left the taker, and none is lent again while the passer's stream reads them.
  for_a_while([&] { REQUIRE(*sent == slots); });
  gate->open();
  require_completed(session);
  CHECK(*taken == kFrames);
  CHECK(*wrong == 0);
  CHECK(passed_at->values() == taken_at->values());
  for (const auto& report : run.checker->take_reports()) UNSCOPED_INFO(report.to_string());
  CHECK(run.checker->report_count() == 0);
}

TEST_CASE("a blocking copy has no more use for its stream, and one that goes on keeps the slot") {
  Run run("copied");
  struct Copies {
    std::uint32_t at_once{0};
    std::uint32_t later{0};
    std::optional<weftline::Stream> own{};
  };
  const auto gate = std::make_shared<Gate>();
  const auto copies = std::make_shared<Copies>();
  const auto sent = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto copied = std::make_shared<std::atomic<bool>>(false);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaDevice),
      [=](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        if (*sent == 1) return {};
        WEFTLINE_ASSIGN(auto loan, written(context, out, 5));
        WEFTLINE_TRY(out.emit(std::move(loan)));
        ++*sent;
        return {};
      });
  const auto taker = run.graph.op<Taker>(
      "taker",
      [=](ExecutionContext& context,
          const weftline::Sample<Tensor>& sample) -> expected<void, Error> {
        weftline::Device* const device = context.cuda_stream().device();
        {
          WEFTLINE_ASSIGN(const auto brief, device->create_stream({}));
          WEFTLINE_TRY(sample.data.copy_to_host(&copies->at_once, 4, brief.ref()));
        }  // gone before the slot is back
        WEFTLINE_ASSIGN(auto own, device->create_stream({}));
        copies->own.emplace(std::move(own));
        WEFTLINE_TRY(weftline::launch(
            copies->own->ref(), {}, {}, [gate = gate.get()] { gate->pass(); }, kNoCuda));
        WEFTLINE_TRY(sample.data.copy_to_host_async(&copies->later, 4, copies->own->ref()));
        *copied = true;
        return {};
      },
      weftline::TensorInputSpec{{.memory_kind = MemoryKind::kCudaDevice}});
  run.graph.add_flow(sender->out, taker->in);
  run.graph.partition("sending").add(sender);
  run.graph.partition("taking").add(taker);
  run.on_device("sender");
  {
    auto session = run.start();
    const OpensAtEnd opens{gate};
    REQUIRE(eventually(session, [&] { return copied->load(); }));
    CHECK(copies->at_once == 5);
    for_a_while([&] { REQUIRE(session.counters().pools[0].usage.in_use == 1); });
    session.request_stop();
    gate->open();
    CHECK(run_to_end(session) == RunTermination::kStopped);
    CHECK(session.diagnostics().empty());
  }
  REQUIRE(copies->own->ref().device()->synchronize(copies->own->ref()));
  CHECK(copies->later == 5);
  for (const auto& report : run.checker->take_reports()) UNSCOPED_INFO(report.to_string());
  CHECK(run.checker->report_count() == 0);
}

TEST_CASE("the last handle of a tensor may go inside a host task on a stream") {
  constexpr std::uint32_t kFrames = 100;
  Run run("dropped-late");
  const auto sent = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto wrong = std::make_shared<std::atomic<std::uint32_t>>(0);
  const auto held = std::make_shared<std::vector<Tensor>>(kFrames);
  const auto sender = run.graph.op<Sender>(
      "sender", pool_in(MemoryKind::kCudaDevice),
      [=](ExecutionContext& context, Output<Tensor>& out) -> expected<void, Error> {
        if (*sent == kFrames) return out.close();
        auto loan = written(context, out, *sent);
        if (!loan) return {};  // every slot is on its way
        auto emitted = out.emit(std::move(*loan), {.frame_id = *sent});
        if (emitted) ++*sent;
        return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                       : emitted;
      });
  const auto taker = run.graph.op<Taker>(
      "taker",
      [=](ExecutionContext& context, weftline::Sample<Tensor> sample) -> expected<void, Error> {
        const auto frame = static_cast<std::uint32_t>(sample.metadata.frame_id.value_or(0));
        Tensor* const last = &(*held)[frame];
        *last = std::move(sample.data);
        const MemoryAccess read{last->data(), 4};
        return weftline::launch(
            context.cuda_stream(), {&read, 1}, {},
            [last, frame, wrong = wrong.get()] {
              if (*last->data_as<std::uint32_t>() != frame) ++*wrong;
              *last = Tensor{};
            },
            kNoCuda);
      },
      weftline::TensorInputSpec{{.memory_kind = MemoryKind::kCudaDevice}}, 8U);
  run.graph.add_flow(sender->out, taker->in, {.queue_depth = 4});
  run.graph.partition("sending").add(sender);
  run.graph.partition("taking").add(taker);
  run.on_device("sender");
  const auto session = run.start();
  require_completed(session);
  CHECK(*wrong == 0);
  CHECK(session.counters().pools[0].usage.quarantined == 0);
  CHECK(session.counters().pools[0].usage.in_use == session.counters().pools[0].usage.retiring);
  for (const auto& report : run.checker->take_reports()) UNSCOPED_INFO(report.to_string());
  CHECK(run.checker->report_count() == 0);
}
