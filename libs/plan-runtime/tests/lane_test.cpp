// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "weftline/core/time.hpp"
#include "weftline/graph/operator_spec.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/scripted_device.hpp"

using namespace weftline;
using runtime::Lane;
using runtime::OperatorRuntime;
using runtime::RunControl;
using testing::ScriptedDevice;

namespace {

constexpr std::array<std::int64_t, 1> kShape{16};
constexpr TensorLoanRequest kRequest{.shape = kShape, .dtype = {kDLUInt, 8, 1}};

/// Asks for a slot and takes exhaustion for what it usually is: a reason to try again later.
class PatientSource final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor({.representation = {.memory_kind = MemoryKind::kCudaDevice},
                          .bounds = tensor_bounds(16),
                          .storage = TensorOutputStorage::kRuntimePool});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    auto loan = out.allocate_tensor(kRequest);
    if (!loan && loan.error().code != ErrorCode::kResourceExhausted) {
      return forward_error(std::move(loan));
    }
    return {};
  }
};

OperatorPlanRecord source_record() {
  OperatorPlanRecord record;
  record.path = "source";
  record.outputs.push_back(
      {.name = "out", .payload = payload_identity<Tensor>(), .tensor = TensorOutputSpec{}});
  record.trigger = {.kind = TemporalRecordTriggerKind::kClock, .period_ns = 1000};
  return record;
}

Tensor publish_one(TensorPool& pool, StreamRef stream) {
  auto loan = pool.allocate(kRequest, stream);
  REQUIRE(loan.has_value());
  REQUIRE(loan->write_and_commit(stream, [](void*, std::uint64_t) {}).has_value());
  auto tensor = publish(std::move(*loan));
  REQUIRE(tensor.has_value());
  return std::move(*tensor);
}

}  // namespace

TEST_CASE("a lane that waits for a slot fails the run when the slot's device has failed") {
  const auto broken = GENERATE(ScriptedDevice::Op::kRecord, ScriptedDevice::Op::kQuery);
  const auto device = ScriptedDevice::make();
  const Stream stream = std::move(*device->create_stream({}));
  auto pool = TensorPool::build({.name = "source.out",
                                 .memory_kind = MemoryKind::kCudaDevice,
                                 .device = device,
                                 .slot_bytes = 16,
                                 .slot_count = 1});
  REQUIRE(pool.has_value());
  Tensor only_slot = publish_one(*pool, stream.ref());
  REQUIRE(only_slot.set_deallocation_stream(stream.ref()).has_value());

  RealtimeClock clock;
  RunControl control;
  const OperatorPlanRecord record = source_record();
  OperatorRuntime source({.record = &record,
                          .instance = std::make_unique<PatientSource>(),
                          .device = device,
                          .stream = stream.ref(),
                          .clock = ClockRef(clock, ClockId{0}),
                          .control = &control});
  Lane lane(PartitionId{0}, "source", control);
  control.gate().add_lane(lane.parker());
  REQUIRE(lane.add(source).has_value());
  source.use_pool(0, *pool);
  pool->set_return_callback(
      {[](void* parker) noexcept { static_cast<runtime::Parker*>(parker)->wake(); },
       &lane.parker()});

  REQUIRE_FALSE(source.run_stage(LifecycleStage::kStart).failed());
  source.start_trigger();
  lane.launch({}, false);
  lane.start();
  CHECK(testing::eventually([&] { return source.output(0).refused_loans() == 1; }));
  device->break_operation(broken);
  only_slot = {};
  const bool ended = testing::eventually([&] { return control.stopping(); });
  control.stop();
  lane.join();
  REQUIRE_FALSE(source.run_stage(LifecycleStage::kStop).failed());
  REQUIRE(ended);
  REQUIRE(control.diagnostics().size() == 1);
  CHECK(control.diagnostics()[0].place == "source");
  CHECK(control.diagnostics()[0].error.message ==
        "tensor pool 'source.out': the script broke this operation");
}
