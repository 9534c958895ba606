// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>
#include <vector>

#include "weftline/cuda/launch.hpp"
#include "weftline/graph/param_schema.hpp"
#include "weftline/testing/operator_test_harness.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;
using namespace weftline;
using testing::FeedOptions;
using testing::HostTensor;
using testing::OperatorTestHarness;

namespace {

constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr DeviceId kDevice{DeviceKind::kEmulated, 0};

template <class T>
std::vector<T> values_of(const std::vector<Sample<T>>& samples) {
  std::vector<T> values;
  for (const Sample<T>& sample : samples) values.push_back(sample.data);
  return values;
}

/// The token of what a call throws; empty when it does not.
template <class Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return std::string(error.token());
  }
  return {};
}

/// Emits the sum of all that has come in, as often as something does.
class Sum final : public Operator<> {
 public:
  explicit Sum(std::int64_t start = 0) : sum_(start) {}
  Input<std::int64_t> in;
  Output<std::int64_t> out;
  Output<std::int64_t> undeclared;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    if (sample.data < 0) return fail(ErrorCode::kInvalidArgument, "SUM_NEGATIVE");
    sum_ += sample.data;
    return out.emit(sum_, {.capture_time = sample.metadata.capture,
                           .frame_id = sample.metadata.frame_id,
                           .flags = sample.metadata.flags});
  }

 private:
  std::int64_t sum_;
};

/// Emits its clock's time at each tick.
class Beacon final : public Operator<> {
 public:
  Output<std::int64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnClock{10ms}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    return out.emit(context.activation_time().timestamp_ns);
  }
};

/// Sums up, and asks to begin anew when the sum is beyond a limit.
class Resetting final : public Operator<> {
 public:
  Input<std::int64_t> in;
  Output<std::int64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    sum_ += sample.data;
    WEFTLINE_TRY(out.emit(sum_));
    if (sum_ < 5) return {};
    const auto asked = context.request_restart({.reason = "beyond 5"});
    return asked ? expected<void, Error>{} : make_unexpected(asked.error());
  }

 private:
  std::int64_t sum_{0};
};

/// Asks for its restart at its first tick.
class Rephased final : public Operator<> {
 public:
  explicit Rephased(std::shared_ptr<int> instances) : instances_(std::move(instances)) {}
  Output<std::int64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{10ms, 4ms});
  }
  void start(LifecycleContext&) override { ++*instances_; }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(out.emit(context.activation_time().timestamp_ns / 1'000'000));
    if (*instances_ > 1) return {};
    const auto asked = context.request_restart();
    return asked ? expected<void, Error>{} : make_unexpected(asked.error());
  }

 private:
  const std::shared_ptr<int> instances_;
};

/// Pairs what was captured within 5 ms.
class Pair final : public Operator<> {
 public:
  Input<std::int64_t> left;
  Input<std::int64_t> right;
  Output<std::int64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(left, "left");
    spec.input(right, "right");
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnAligned{{left, right}, 5ms});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto a, left.receive());
    WEFTLINE_ASSIGN(const auto b, right.receive());
    return out.emit(a.data * 100 + b.data);
  }
};

/// Adds one to each word on a device.
class Brighten final : public Operator<> {
 public:
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    const TensorRepresentation words{
        .memory_kind = MemoryKind::kCudaDevice, .dtype = kU32, .rank = 1};
    spec.input(in, "in").expects_tensor({words});
    spec.output(out, "out")
        .produces_tensor({.representation = words,
                          .bounds = tensor_bounds(64),
                          .storage = TensorOutputStorage::kRuntimePool});
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = sample.data.shape(), .dtype = kU32}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t bytes) {
      const MemoryAccess read{sample.data.data(), bytes};
      const MemoryAccess write{data, bytes};
      return launch(
          context.cuda_stream(), {&read, 1}, {&write, 1},
          [data, bytes, from = sample.data.data_as<std::uint32_t>()] {
            for (std::uint64_t i = 0; i < bytes / 4; ++i) {
              static_cast<std::uint32_t*>(data)[i] = from[i] + 1;
            }
          },
          [](CUstream_st*) -> expected<void, Error> { return {}; });
    }));
    return out.emit(std::move(loan), {.frame_id = sample.metadata.frame_id});
  }
};

}  // namespace

TEST_CASE("an operator runs over what it is fed, and what it emits is collected with metadata") {
  OperatorTestHarness<Sum> harness(std::int64_t{100});
  harness
      .feed(&Sum::in,
            {{1, {.captured = 7ms, .frame_id = 41}}, {2, {.flags = SampleFlags::kDegraded}}, 3})
      .collect(&Sum::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kCompleted);
  CHECK(run->diagnostics.empty());
  CHECK(run->counters.activations == 3);
  const auto& samples = harness.collected(&Sum::out);
  REQUIRE(values_of(samples) == std::vector<std::int64_t>{101, 103, 106});
  REQUIRE(samples[0].metadata.capture);
  CHECK(samples[0].metadata.capture->timestamp_ns == 7'000'000);
  CHECK(samples[0].metadata.frame_id == 41);
  CHECK_FALSE(samples[1].metadata.capture);
  CHECK(samples[1].metadata.degraded());
  CHECK(samples[2].metadata.sequence == 2);
}

TEST_CASE("no samples at all end an input at once") {
  OperatorTestHarness<Sum> harness;
  harness.feed(&Sum::in, {}).collect(&Sum::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kCompleted);
  CHECK(run->counters.activations == 0);
  CHECK(harness.collected(&Sum::out).empty());
}

TEST_CASE("the clock stands still but for the harness, which stops it at each step") {
  OperatorTestHarness<Beacon> harness;
  harness.collect(&Beacon::out);
  const auto run = harness.run({.until = 30ms, .step = 10ms});
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kStopped);  // a beacon never ends
  CHECK(values_of(harness.collected(&Beacon::out)) ==
        std::vector<std::int64_t>{0, 10'000'000, 20'000'000, 30'000'000});
  CHECK(run->counters.coalesced_ticks == 0);
}

TEST_CASE("ticks between two stops of the clock fold into one") {
  OperatorTestHarness<Beacon> harness;
  harness.collect(&Beacon::out);
  const auto run = harness.run({.until = 30ms});
  REQUIRE(run);
  CHECK(values_of(harness.collected(&Beacon::out)) == std::vector<std::int64_t>{0, 30'000'000});
  CHECK(run->counters.coalesced_ticks == 2);
}

TEST_CASE("a run ends after a number of activations") {
  OperatorTestHarness<Beacon> harness;
  harness.collect(&Beacon::out);
  const auto run = harness.run({.until = 1s, .step = 10ms, .activations = 3});
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kStopped);
  CHECK(harness.collected(&Beacon::out).size() == 3);
}

TEST_CASE("samples are fed as their time comes, to several inputs") {
  OperatorTestHarness<Pair> harness;
  harness
      .feed(&Pair::left, {{1, {.at = 10ms, .captured = 10ms}}, {2, {.at = 20ms, .captured = 20ms}}})
      .feed(&Pair::right,
            {{7, {.at = 12ms, .captured = 12ms}}, {8, {.at = 40ms, .captured = 40ms}}})
      .collect(&Pair::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kCompleted);
  CHECK(values_of(harness.collected(&Pair::out)) == std::vector<std::int64_t>{107});
  CHECK(run->counters.unaligned_drops == 1);
}

TEST_CASE("tensors go to a device and come back as bytes") {
  OperatorTestHarness<Brighten> harness;
  const auto words = [](std::vector<std::uint32_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return HostTensor::of(kU32, {count}, values);
  };
  harness.use_device(kDevice)
      .feed(&Brighten::in, {{words({1, 2, 3}), {.frame_id = 5}}, words({9})},
            MemoryKind::kCudaDevice)
      .collect(&Brighten::out);
  const auto run = harness.run();
  REQUIRE(run);
  REQUIRE(run->termination == RunTermination::kCompleted);
  const auto& samples = harness.collected(&Brighten::out);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].data.values<std::uint32_t>() == std::vector<std::uint32_t>{2, 3, 4});
  CHECK(samples[0].data.shape == std::vector<std::int64_t>{3});
  CHECK(samples[0].metadata.frame_id == 5);
  CHECK(samples[1].data.values<std::uint32_t>() == std::vector<std::uint32_t>{10});
}

TEST_CASE("an operator that fails is reported by what it said") {
  OperatorTestHarness<Sum> harness;
  harness.feed(&Sum::in, {1, -1, 1}).collect(&Sum::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kFailed);
  REQUIRE(run->diagnostics.size() == 1);
  CHECK(run->diagnostics[0].place == "operator");
  CHECK(run->diagnostics[0].error.token == "SUM_NEGATIVE");
  CHECK(values_of(harness.collected(&Sum::out)) == std::vector<std::int64_t>{1});
}

TEST_CASE("what is missing or given twice is refused by name") {
  SECTION("an input that gets nothing") {
    OperatorTestHarness<Pair> harness;
    harness.feed(&Pair::left, {});
    const auto run = harness.run();
    REQUIRE_FALSE(run);
    CHECK(run.error().token == "HARNESS_INPUT_NOT_FED");
    CHECK_THAT(run.error().message, ContainsSubstring("input right"));
  }
  SECTION("a port that setup() does not declare") {
    OperatorTestHarness<Sum> harness;
    CHECK(thrown_by([&] { harness.collect(&Sum::undeclared); }) == "HARNESS_PORT_NOT_DECLARED");
  }
  SECTION("a port twice") {
    OperatorTestHarness<Sum> harness;
    harness.feed(&Sum::in, {1}).collect(&Sum::out);
    CHECK(thrown_by([&] { harness.feed(&Sum::in, {2}); }) == "HARNESS_PORT_TWICE");
    CHECK(thrown_by([&] { harness.collect(&Sum::out); }) == "HARNESS_PORT_TWICE");
  }
  SECTION("samples out of order") {
    OperatorTestHarness<Sum> harness;
    CHECK(thrown_by([&] {
            harness.feed(&Sum::in, {{1, {.at = 2ms}}, {2, {.at = 1ms}}});
          }) == "HARNESS_FEED_ORDER");
  }
  SECTION("an output that was not collected") {
    OperatorTestHarness<Sum> harness;
    harness.feed(&Sum::in, {1});
    REQUIRE(harness.run());
    CHECK(thrown_by([&] { (void)harness.collected(&Sum::out); }) == "HARNESS_NOT_COLLECTED");
  }
  SECTION("a second run") {
    OperatorTestHarness<Sum> harness;
    harness.feed(&Sum::in, {1});
    REQUIRE(harness.run());
    const auto again = harness.run();
    REQUIRE_FALSE(again);
    CHECK(again.error().token == "HARNESS_RAN");
  }
  SECTION("device memory without a device") {
    OperatorTestHarness<Brighten> harness;
    harness.feed(&Brighten::in, {}, MemoryKind::kCudaDevice);
    const auto run = harness.run();
    REQUIRE_FALSE(run);
    CHECK(run.error().token == "HARNESS_PLAN_REJECTED");
  }
  SECTION("a tensor whose bytes are not what its shape says") {
    OperatorTestHarness<Brighten> harness;
    HostTensor tensor = HostTensor::of<std::uint32_t>(kU32, {2}, {1, 2});
    tensor.bytes.pop_back();
    harness.use_device(kDevice).feed(&Brighten::in, {tensor}, MemoryKind::kCudaDevice);
    const auto run = harness.run();
    REQUIRE(run);
    REQUIRE(run->diagnostics.size() == 1);
    CHECK(run->diagnostics[0].place == "feed-in");
    CHECK(run->diagnostics[0].error.token == "HARNESS_TENSOR_SIZE");
  }
}

TEST_CASE("an operator that may restart itself begins anew, and gets what is still to come") {
  OperatorTestHarness<Resetting> harness;
  harness.permit_restart({.from_stage = LifecycleStage::kConfigure})
      .feed(&Resetting::in, {1, 2, 3, 4, 5, 1, 1})
      .collect(&Resetting::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kCompleted);
  CHECK(run->diagnostics.empty());
  CHECK(values_of(harness.collected(&Resetting::out)) ==
        std::vector<std::int64_t>{1, 3, 6, 4, 9, 1, 2});
}

TEST_CASE("an operator without that permission is refused") {
  OperatorTestHarness<Resetting> harness;
  harness.feed(&Resetting::in, {7}).collect(&Resetting::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == RunTermination::kFailed);
  REQUIRE(run->diagnostics.size() == 1);
  CHECK(run->diagnostics[0].error.token == "RESTART_DISABLED");
}

TEST_CASE("the clock waits for a restart, so ticks after it are the same each time") {
  for (int round = 0; round < 30; ++round) {
    OperatorTestHarness<Rephased> harness(std::make_shared<int>(0));
    harness.permit_restart().collect(&Rephased::out);
    const auto run = harness.run({.until = 40ms, .step = 1ms});
    REQUIRE(run);
    CHECK(run->termination == RunTermination::kStopped);
    CHECK(values_of(harness.collected(&Rephased::out)) ==
          std::vector<std::int64_t>{4, 8, 18, 28, 38});
  }
}
