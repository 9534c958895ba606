// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

std::vector<Stream> make_streams(ScriptedDevice& device, std::size_t count) {
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < count; ++i) streams.push_back(must(device.create_stream({})));
  return streams;
}

TEST_CASE("a slot is not reused while one of three consumers still reads") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 4);
  const StreamRef producer = streams[3].ref();
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, producer);
  const void* const place = tensor.data();
  for (std::size_t i = 0; i < 3; ++i) must(tensor.prepare_for_consumer(streams[i].ref()));
  tensor = {};
  device->pass(producer);

  const std::size_t slowest = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2});
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != slowest) device->pass(streams[i].ref());
    CHECK(refusal(pool.allocate(kSmall, producer)).token == "TENSOR_POOL_EXHAUSTED");
  }
  CHECK(pool.usage().retiring == 1);
  device->pass(streams[slowest].ref());
  CHECK(publish_one(pool, producer).data() == place);
}

TEST_CASE("a slot is not reused while its consumers are done but a handle is left") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 2);
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, streams[0].ref());
  must(tensor.prepare_for_consumer(streams[1].ref()));
  device->pass(streams[0].ref());
  device->pass(streams[1].ref());
  CHECK_FALSE(pool.has_free_slot());
  tensor = {};
  CHECK_FALSE(pool.has_free_slot());  // the release was recorded only now
  device->pass(streams[1].ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("work that a consumer queues after it was registered still holds the slot") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 2);
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, streams[0].ref());
  must(tensor.prepare_for_consumer(streams[1].ref()));
  device->pass(streams[0].ref());
  device->pass(streams[1].ref());
  std::array<std::byte, 16> bytes{};
  must(device->copy(streams[1].ref(), bytes.data(), tensor.data(), 16));
  tensor = {};
  CHECK_FALSE(pool.has_free_slot());
  device->pass(streams[1].ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("a tensor that nobody consumed is free when its producer's writes have passed") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPool pool = must_build(device_options(device, 1));
  { const Tensor tensor = publish_one(pool, streams[0].ref()); }
  CHECK_FALSE(pool.has_free_slot());
  device->pass(streams[0].ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("registering a stream again is free, and the bound refuses only a further stream") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 9);
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, streams[0].ref());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 8; ++i) must(tensor.set_deallocation_stream(streams[i].ref()));
  }
  CHECK(refusal(tensor.set_deallocation_stream(streams[8].ref())) ==
        Refusal{ErrorCode::kResourceExhausted, "TENSOR_RELEASE_STREAMS_EXHAUSTED"});
  static_cast<void>(device->take_calls());
  CHECK(refusal(tensor.prepare_for_consumer(streams[8].ref())).token ==
        "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  CHECK(device->take_calls().empty());  // no wait for a consumer that may not read

  tensor = {};
  for (std::size_t i = 0; i < 8; ++i) CHECK(device->count(Op::kRecord, streams[i].ref()) == 1);
  CHECK(device->count(Op::kRecord, streams[8].ref()) == 0);
}

TEST_CASE("the next loan of a slot starts with no release streams") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 3);
  TensorPoolOptions options = device_options(device, 1);
  options.max_release_streams = 1;
  TensorPool pool = must_build(options);
  for (std::size_t round = 0; round < 3; ++round) {
    Tensor tensor = publish_one(pool, streams[0].ref());
    must(tensor.set_deallocation_stream(streams[round].ref()));
    CHECK(refusal(tensor.set_deallocation_stream(streams[(round + 1) % 3].ref())).token ==
          "TENSOR_RELEASE_STREAMS_EXHAUSTED");
    tensor = {};
    for (const Stream& stream : streams) device->pass(stream.ref());
  }
  CHECK(pool.has_free_slot());
}

TEST_CASE("a pool without release streams serves readers on the host and refuses others") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPoolOptions options = device_options(device, 1, MemoryKind::kPinnedHost);
  options.max_release_streams = 0;
  TensorPool pool = must_build(options);
  Tensor tensor = publish_one(pool, streams[0].ref());
  CHECK(refusal(tensor.set_deallocation_stream(streams[0].ref())).token ==
        "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  must(tensor.prepare_for_consumer({}));
  tensor = {};
  CHECK(pool.has_free_slot());
}

TEST_CASE("an event that has passed is not asked about again, one that a reader awaited never") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 3);
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, streams[0].ref());
  must(tensor.prepare_for_consumer(streams[1].ref()));
  must(tensor.prepare_for_consumer(streams[2].ref()));
  tensor = {};
  device->pass(streams[0].ref());
  device->pass(streams[1].ref());
  static_cast<void>(device->take_calls());

  CHECK(refusal(pool.allocate(kSmall, {})).token == "TENSOR_POOL_EXHAUSTED");
  CHECK(device->count(Op::kQuery) == 2);
  CHECK(refusal(pool.allocate(kSmall, {})).token == "TENSOR_POOL_EXHAUSTED");
  CHECK(device->count(Op::kQuery) == 3);
}

TEST_CASE("slots come back in the order in which their work passes, not in that of their drops") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 3);
  TensorPool pool = must_build(device_options(device, 3));
  std::vector<Tensor> tensors;
  std::vector<const void*> places;
  for (const Stream& stream : streams) {
    tensors.push_back(publish_one(pool, stream.ref()));
    places.push_back(tensors.back().data());
  }
  tensors.clear();
  for (const std::size_t index : {1U, 2U, 0U}) {
    CHECK_FALSE(pool.has_free_slot());
    device->pass(streams[index].ref());
    tensors.push_back(publish_one(pool, streams[index].ref()));
    CHECK(tensors.back().data() == places[index]);
  }
}

TEST_CASE("a slot whose release can't be recorded is quarantined and the others go on") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 2);
  {
    TensorPool pool = must_build(device_options(device, 2));
    Tensor tensor = publish_one(pool, streams[0].ref());
    must(tensor.prepare_for_consumer(streams[1].ref()));
    device->break_operation(Op::kRecord);
    tensor = {};
    device->mend();
    for (const Stream& stream : streams) device->pass(stream.ref());

    CHECK(pool.usage().quarantined == 1);
    CHECK(pool.usage().in_use == 0);
    Tensor other = publish_one(pool, streams[0].ref());
    CHECK_FALSE(pool.waits_for_device());
    CHECK(pool.usage().in_use_high_water == 1);
    must(device->fill(streams[0].ref(), nullptr, std::byte{0}, 0));
    must(device->fill(streams[1].ref(), nullptr, std::byte{0}, 0));
  }
  // Nothing tells about a quarantined slot's work but the streams themselves, so those were
  // awaited.
  CHECK(device->count(Op::kSynchronizeStream, streams[0].ref()) == 1);
  CHECK(device->count(Op::kSynchronizeStream, streams[1].ref()) == 1);
  CHECK(device->live_bytes() == 0);
  CHECK_FALSE(device->freed_while_pending());
}

TEST_CASE("a pool whose device failed says so instead of asking to wait for slots") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPool pool = must_build(device_options(device, 2));
  const Op broken = GENERATE(Op::kQuery, Op::kRecord);
  Tensor first = publish_one(pool, streams[0].ref());
  Tensor second = publish_one(pool, streams[0].ref());
  must(first.set_deallocation_stream(streams[0].ref()));
  must(second.set_deallocation_stream(streams[0].ref()));
  device->break_operation(broken);
  first = {};
  second = {};

  // A lane asks first, and must not be told to wait: nobody would ever wake it.
  CHECK(pool.has_free_slot());
  CHECK(pool.usage().quarantined == 2);
  CHECK(pool.usage().retiring == 0);
  for (int ask = 0; ask < 2; ++ask) {
    const auto refused = pool.allocate(kSmall, streams[0].ref());
    CHECK(refusal(refused) == Refusal{ErrorCode::kFailure, "SCRIPTED_FAILURE"});
    CHECK(refused.error().message == "tensor pool 'camera.frame': the script broke this operation");
  }
  CHECK(pool.usage().refusals == 0);

  device->mend();
  device->pass(streams[0].ref());
  CHECK(refusal(pool.allocate(kSmall, streams[0].ref())).token == "SCRIPTED_FAILURE");
}

TEST_CASE("a failure that came without words is told with the device that it came from") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, streams[0].ref());
  device->break_operation(Op::kQuery);
  CHECK(refusal(tensor.synchronize_for_host()).token == "SCRIPTED_FAILURE");
  tensor = {};
  const auto refused = pool.allocate(kSmall, streams[0].ref());
  CHECK(refusal(refused).token == "SCRIPTED_LOST");
  CHECK_THAT(refused.error().message, ContainsSubstring("'camera.frame': emulated:7 refused"));
}

TEST_CASE("a failed slot is no reason to refuse while another one is free") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPool pool = must_build(device_options(device, 2));
  { const Tensor tensor = publish_one(pool, streams[0].ref()); }
  device->break_operation(Op::kQuery);
  {
    const TensorOutputLoan held = must(pool.allocate(kSmall, {}));
    CHECK(refusal(pool.allocate(kSmall, {})).token == "SCRIPTED_FAILURE");
    CHECK(pool.usage().quarantined == 1);
  }
  CHECK(pool.allocate(kSmall, {}).has_value());
}

TEST_CASE("a quarantined slot wakes a lane that waits, so that it can see the pool shrink") {
  const auto device = ScriptedDevice::make();
  const auto streams = make_streams(*device, 1);
  TensorPool pool = must_build(device_options(device, 1));
  int wakes = 0;
  pool.set_return_callback({[](void* context) noexcept { ++*static_cast<int*>(context); }, &wakes});
  Tensor tensor = publish_one(pool, streams[0].ref());
  must(tensor.set_deallocation_stream(streams[0].ref()));
  CHECK_FALSE(pool.has_free_slot());
  device->break_operation(Op::kRecord);
  tensor = {};
  CHECK(wakes == 1);
  CHECK(pool.has_free_slot());
}

}  // namespace
}  // namespace weftline
