// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "fused_bench.hpp"

namespace weftline {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

TEST_CASE("a fused round makes no device call and its slot is free at once") {
  FusedBench bench(1);
  for (int round = 0; round < 3; ++round) {
    bench.queue_work();
    Tensor tensor = bench.fused_tensor();
    must(tensor.prepare_for_consumer(bench.fused.ref()));
    must(tensor.enqueue_ready_wait(bench.fused.ref()));
    must(tensor.set_deallocation_stream(bench.fused.ref()));
    CHECK_FALSE(bench.pool->has_free_slot());
    tensor = {};
    CHECK(bench.pool->has_free_slot());
    CHECK_FALSE(bench.pool->waits_for_device());
  }
  {
    TensorOutputLoan given_up = must(bench.pool->allocate(kSmall, bench.fused.ref()));
    [[maybe_unused]] const TensorWriteGuard guard = must(given_up.write(bench.fused.ref()));
    bench.queue_work();
  }
  CHECK(bench.pool->has_free_slot());
  CHECK(bench.device->take_calls().empty());
  CHECK(bench.pool->usage().in_use == 0);
}

TEST_CASE("a fused pool with an unfenced slot awaits the fused stream once when it ends") {
  FusedBench bench(3);
  bench.unfence(3);
  bench.pool.reset();
  CHECK(bench.device->count(Op::kSynchronizeStream, bench.fused.ref()) == 1);
  CHECK(bench.device->take_calls().size() == 1);
  CHECK_FALSE(bench.device->freed_while_pending());
}

TEST_CASE("a fused pool that was never used on its stream awaits nothing") {
  FusedBench bench(2, MemoryKind::kPinnedHost);
  { const Tensor host_written = publish_one(*bench.pool, bench.fused.ref(), {}); }
  bench.pool.reset();
  CHECK(bench.device->take_calls().empty());
}

TEST_CASE("another stream gets the left out event, and both streams hold the slot from then on") {
  FusedBench bench(1);
  Tensor tensor = bench.fused_tensor();
  bench.queue_work();
  must(tensor.prepare_for_consumer(bench.fused.ref()));
  CHECK(bench.device->take_calls().empty());
  SECTION("prepared for a consumer there") { must(tensor.prepare_for_consumer(bench.other.ref())); }
  SECTION("a wait and a registration there") {
    must(tensor.enqueue_ready_wait(bench.other.ref()));
    must(tensor.set_deallocation_stream(bench.other.ref()));
  }
  const auto calls = bench.device->take_calls();
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].op == Op::kRecord);
  CHECK(calls[0].stream == bench.fused.ref());
  CHECK(calls[1].op == Op::kWait);
  CHECK(calls[1].stream == bench.other.ref());
  CHECK(calls[1].event == calls[0].event);

  bench.queue_work();  // the proven consumer goes on reading
  tensor = {};
  CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == 1);
  CHECK(bench.device->count(Op::kRecord, bench.other.ref()) == 1);
  bench.device->pass(bench.other.ref());
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.fused.ref());
  CHECK(bench.pool->has_free_slot());
  static_cast<void>(bench.device->take_calls());
  bench.pool.reset();
  CHECK(bench.device->take_calls().empty());  // its fences had passed
}

TEST_CASE("a registration of another stream alone makes the fences explicit, too") {
  FusedBench bench(1);
  Tensor tensor = bench.fused_tensor();
  must(tensor.set_deallocation_stream(bench.other.ref()));
  bench.queue_work();
  tensor = {};
  bench.device->pass(bench.other.ref());
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.fused.ref());
  CHECK(bench.pool->has_free_slot());
}

TEST_CASE("a host that reads a fused tensor waits for the left out event") {
  FusedBench bench(1, MemoryKind::kPinnedHost);
  Tensor tensor = bench.fused_tensor();
  bench.queue_work();
  std::array<std::byte, 16> bytes{};
  HostWaits waits;
  SECTION("synchronize_for_host") {
    must(tensor.synchronize_for_host());
    waits.synchronize_for_host = 1;
  }
  SECTION("copy_to_host without a stream") {
    must(tensor.copy_to_host(bytes.data(), 16, {}));
    waits.copy_to_host = 1;
  }
  SECTION("a consumer without a stream") {
    must(tensor.prepare_for_consumer({}));
    waits.streamless_consumer = 1;
  }
  CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == 1);
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 1);
  const HostWaits counted = bench.pool->usage().host_waits;
  CHECK(counted.synchronize_for_host == waits.synchronize_for_host);
  CHECK(counted.copy_to_host == waits.copy_to_host);
  CHECK(counted.streamless_consumer == waits.streamless_consumer);

  bench.queue_work();
  tensor = {};
  CHECK_FALSE(bench.pool->has_free_slot());
  bench.device->pass(bench.fused.ref());
  CHECK(bench.pool->has_free_slot());
}

TEST_CASE("a copy to the host on the fused stream needs no fence, on another stream it does") {
  FusedBench bench(1);
  Tensor tensor = bench.fused_tensor();
  std::array<std::byte, 16> bytes{};
  must(tensor.copy_to_host_async(bytes.data(), 16, bench.fused.ref()));
  must(tensor.copy_to_host(bytes.data(), 16, bench.fused.ref()));
  CHECK(bench.device->count(Op::kRecord) == 0);
  CHECK(bench.device->count(Op::kWait) == 0);
  must(tensor.copy_to_host_async(bytes.data(), 16, bench.other.ref()));
  CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == 1);
  CHECK(bench.device->count(Op::kWait, bench.other.ref()) == 1);
  tensor = {};
  CHECK_FALSE(bench.pool->has_free_slot());
}

TEST_CASE("an event that can't be recorded late is told to who asked, and the slot stays fused") {
  FusedBench bench(1);
  Tensor tensor = bench.fused_tensor();
  bench.device->break_operation(Op::kRecord);
  CHECK(refusal(tensor.prepare_for_consumer(bench.other.ref())).token == "SCRIPTED_FAILURE");
  CHECK(refusal(tensor.synchronize_for_host()).token == "SCRIPTED_LOST");
  CHECK(bench.device->count(Op::kWait) == 0);
  bench.device->mend();
  must(tensor.prepare_for_consumer(bench.fused.ref()));
  tensor = {};
  CHECK(bench.pool->has_free_slot());
}

TEST_CASE("a write on another stream waits there for what the fused stream still does") {
  FusedBench bench(1);
  bench.unfence(1);
  TensorOutputLoan loan = must(bench.pool->allocate(kSmall, bench.other.ref()));
  must(std::move(must(loan.write(bench.other.ref()))).commit());
  auto calls = bench.device->take_calls();
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].op == Op::kRecord);
  CHECK(calls[0].stream == bench.fused.ref());
  CHECK(calls[1].op == Op::kWait);
  CHECK(calls[1].stream == bench.other.ref());
  CHECK(calls[1].event == calls[0].event);
  CHECK(calls[2].op == Op::kRecord);
  CHECK(calls[2].stream == bench.other.ref());

  // Not written where the proof says, so the fused stream is a stream like any other.
  Tensor tensor = must(publish(std::move(loan)));
  must(tensor.prepare_for_consumer(bench.fused.ref()));
  CHECK(bench.device->count(Op::kWait, bench.fused.ref()) == 1);
  tensor = {};
  CHECK(bench.device->count(Op::kRecord, bench.fused.ref()) == 1);
}

TEST_CASE("a fused stream that is none of the pool's device is refused by name") {
  FusedBench bench(1);
  const auto stranger = ScriptedDevice::make();
  const Stream foreign = must(stranger->create_stream({}));
  TensorPoolOptions options = device_options(bench.device, 1);
  SECTION("of another device") { options.fused_stream = foreign.ref(); }
  SECTION("the default stream") {
    options.fused_stream = StreamRef(*bench.device, static_cast<CUstream_st*>(nullptr));
  }
  SECTION("for plain host memory") {
    options = host_options(1);
    options.fused_stream = bench.fused.ref();
  }
  const auto pool = TensorPool::build(options);
  CHECK(refusal(pool) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_POOL_OPTIONS"});
  CHECK_THAT(pool.error().message, ContainsSubstring("fused_stream"));
}

}  // namespace
}  // namespace weftline
