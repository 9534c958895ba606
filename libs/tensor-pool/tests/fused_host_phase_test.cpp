// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "fused_bench.hpp"

// Rule 5: a host that writes into a slot which a fused stream may still use neither waits nor gets
// those bytes.

namespace weftline {
namespace {

using Op = testing::ScriptedDevice::Op;

TEST_CASE("a host phase in an unfenced slot whose work has passed stays in that slot") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  const void* place = bench.fused_tensor().data();
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  auto refused = loan.write({});
  CHECK(refusal(refused) == Refusal{ErrorCode::kResourceExhausted, "TENSOR_FUSED_SLOTS_IN_USE"});
  bench.device->pass(bench.fused.ref());
  TensorWriteGuard guard = must(loan.write({}));
  CHECK(guard.data() == place);
  CHECK(bench.device->count(Op::kRecord) == 1);
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 0);
  CHECK(bench.device->count(Op::kSynchronizeStream) == 0);
  must(std::move(guard).commit());
  const Tensor tensor = must(publish(std::move(loan)));
  static_cast<void>(bench.device->take_calls());
  must(tensor.prepare_for_consumer({}));
  CHECK(bench.device->take_calls().empty());
}

TEST_CASE(
    "a host phase in an unfenced slot moves the loan to a slot that the device is done with") {
  FusedBench bench(2, MemoryKind::kPinnedHost);
  const void* const busy = bench.fused_tensor().data();
  bench.queue_work();
  static_cast<void>(bench.device->take_calls());

  // The unfenced slot is lent first: it came back last.
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  TensorWriteGuard guard = must(loan.write({}));
  CHECK(guard.data() != nullptr);
  CHECK(guard.data() != busy);
  CHECK(guard.byte_size() == 16);
  CHECK(std::ranges::equal(loan.shape(), kSixteen));
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 0);
  CHECK(bench.pool->usage().in_use == 2);
  CHECK(bench.pool->usage().retiring == 1);
  CHECK(bench.pool->usage().in_use_high_water == 2);
  CHECK(bench.pool->usage().loans == 2);
  must(std::move(guard).commit());
  Tensor tensor = must(publish(std::move(loan)));
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.fused.ref());
  CHECK(bench.pool->has_free_slot());  // the slot that gave way
  tensor = {};
  std::vector<TensorOutputLoan> all;
  for (int i = 0; i < 2; ++i) all.push_back(must(bench.pool->allocate(kSmall, {})));
  for (TensorOutputLoan& each : all) CHECK(each.write({}).has_value());
  all.clear();
  bench.pool.reset();
  CHECK(bench.device->live_bytes() == 0);
}

TEST_CASE("a host phase finds a slot that has just come back from another stream") {
  FusedBench bench(2, MemoryKind::kPinnedHost);
  Tensor read_elsewhere = publish_one(*bench.pool, bench.fused.ref(), {});
  const void* const place = read_elsewhere.data();
  must(read_elsewhere.prepare_for_consumer(bench.other.ref()));
  { const Tensor unfenced = bench.fused_tensor(); }
  bench.queue_work();
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  CHECK(refusal(loan.write({})).token == "TENSOR_FUSED_SLOTS_IN_USE");
  read_elsewhere = {};
  CHECK(refusal(loan.write({})).token == "TENSOR_FUSED_SLOTS_IN_USE");
  bench.device->pass(bench.other.ref());
  CHECK(must(loan.write({})).data() == place);
}

TEST_CASE("a host phase takes its slot out from behind unfenced ones, and leaves those") {
  FusedBench bench(3, MemoryKind::kPinnedHost);
  {
    const Tensor first = bench.fused_tensor();
    const Tensor second = bench.fused_tensor();
  }
  bench.queue_work();
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  const void* const place = must(loan.write({})).data();
  TensorOutputLoan unfenced = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  CHECK(must(unfenced.write(bench.fused.ref())).data() != place);
  CHECK(refusal(bench.pool->allocate(kSmall, bench.fused.ref())).token == "TENSOR_POOL_EXHAUSTED");
}

TEST_CASE("each loan of an unfenced slot asks anew whether a host may write") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  bench.unfence(1);
  for (std::size_t loan_number = 1; loan_number <= 2; ++loan_number) {
    TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
    CHECK(refusal(loan.write({})).token == "TENSOR_FUSED_SLOTS_IN_USE");
    CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == loan_number);
  }
  static_cast<void>(bench.device->take_calls());
  bench.pool.reset();
  CHECK(bench.device->count(Op::kSynchronizeStream, bench.fused.ref()) == 1);
}

TEST_CASE("a host-written tensor in a slot that was unfenced is released like any other") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  bench.unfence(1);
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  CHECK(refusal(loan.write({})).token == "TENSOR_FUSED_SLOTS_IN_USE");
  bench.device->pass(bench.fused.ref());
  must(loan.write_host_and_commit([](void*, std::uint64_t) {}));
  Tensor tensor = must(publish(std::move(loan)));
  must(tensor.prepare_for_consumer(bench.other.ref()));
  tensor = {};
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.other.ref());
  CHECK(bench.pool->has_free_slot());
}

TEST_CASE("a host phase that no slot can take is refused and the loan stays as it was") {
  FusedBench bench(2, MemoryKind::kPinnedHost);
  bench.unfence(2);
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  for (int attempt = 0; attempt < 3; ++attempt) {
    CHECK(refusal(loan.write({})) ==
          Refusal{ErrorCode::kResourceExhausted, "TENSOR_FUSED_SLOTS_IN_USE"});
  }
  CHECK(bench.device->count(Op::kRecord) == 1);
  CHECK(bench.pool->usage().refusals == 3);
  SECTION("a device phase is still possible") {
    static_cast<void>(bench.device->take_calls());
    must(std::move(must(loan.write(bench.fused.ref()))).commit());
    CHECK(bench.device->take_calls().empty());
    { const Tensor tensor = must(publish(std::move(loan))); }
    CHECK(bench.pool->usage().in_use == 0);
  }
  SECTION("a dropped loan leaves its slot unfenced") {
    { const TensorOutputLoan dropped = std::move(loan); }
    CHECK(bench.pool->usage().in_use == 0);
    bench.pool.reset();
    CHECK_FALSE(bench.device->freed_while_pending());
  }
  SECTION("the device goes on") {
    bench.device->pass(bench.fused.ref());
    CHECK(loan.write({}).has_value());
  }
}

TEST_CASE("a host phase passes on why the device can't tell, and the loan stays") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  bench.unfence(1);
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.fused.ref()));
  bench.device->break_operation(GENERATE(Op::kRecord, Op::kQuery));
  CHECK(refusal(loan.write({})).token == "SCRIPTED_FAILURE");
  bench.device->mend();
  CHECK(loan.valid());
  CHECK(refusal(loan.write({})).token == "TENSOR_FUSED_SLOTS_IN_USE");
  bench.device->pass(bench.fused.ref());
  CHECK(loan.write({}).has_value());
}

TEST_CASE("a host-written tensor of a fused pool is released like any other") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  Tensor tensor = publish_one(*bench.pool, bench.fused.ref(), {});
  must(tensor.prepare_for_consumer(bench.fused.ref()));
  bench.queue_work();
  tensor = {};
  CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == 1);
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.fused.ref());
  CHECK(bench.pool->has_free_slot());
}

}  // namespace
}  // namespace weftline
