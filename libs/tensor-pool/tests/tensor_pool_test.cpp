// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_pool.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;

using Catch::Matchers::ContainsSubstring;

struct Wakes {
  int count{0};
  [[nodiscard]] SlotReturnCallback callback() {
    return {[](void* context) noexcept { ++static_cast<Wakes*>(context)->count; }, this};
  }
};

TEST_CASE("a pool is not built from options that make no sense, and the message names the option") {
  const auto device = ScriptedDevice::make();
  const auto message_of = [](const TensorPoolOptions& options) {
    auto pool = TensorPool::build(options);
    CHECK(refusal(pool) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_POOL_OPTIONS"});
    CHECK_THAT(pool.error().message, ContainsSubstring("'camera.frame'"));
    return pool.error().message;
  };
  TensorPoolOptions options = host_options(2);

  options.slot_bytes = 0;
  CHECK_THAT(message_of(options), ContainsSubstring("slot_bytes is 0"));
  options = host_options(0);
  CHECK_THAT(message_of(options), ContainsSubstring("slot_count is 0"));
  options = host_options(2);
  options.max_rank = 0;
  CHECK_THAT(message_of(options), ContainsSubstring("max_rank is 0"));
  options.max_rank = kMaximumTensorRank + 1;
  CHECK_THAT(message_of(options), ContainsSubstring("max_rank is 9"));
  options = host_options(2);
  options.max_release_streams = kMaximumReleaseStreams + 1;
  CHECK_THAT(message_of(options),
             ContainsSubstring("max_release_streams is 4097; it must be at most 4096"));
  options = host_options(2);
  options.memory_kind = MemoryKind::kUnknown;
  CHECK_THAT(message_of(options), ContainsSubstring("memory_kind"));
  options.memory_kind = MemoryKind::kPinnedHost;
  CHECK_THAT(message_of(options), ContainsSubstring("needs a device"));
  options = host_options(2);
  options.device = device;
  CHECK_THAT(message_of(options), ContainsSubstring("emulated:7"));
}

TEST_CASE("a pool that memory does not suffice for is refused with the bytes in words") {
  const auto device = ScriptedDevice::make();
  SECTION("the device is full") {
    device->refuse_memory();
    auto pool = TensorPool::build(device_options(device, 3));
    CHECK(refusal(pool) == Refusal{ErrorCode::kResourceExhausted, "TENSOR_POOL_MEMORY"});
    CHECK_THAT(pool.error().message,
               ContainsSubstring("3 slots of 16 bytes in cuda_device memory"));
    CHECK_THAT(pool.error().message, ContainsSubstring("768 bytes in all"));
    CHECK_THAT(pool.error().message, ContainsSubstring("the device is full"));
  }
  SECTION("the total does not fit into 64 bits") {
    TensorPoolOptions options = host_options(std::numeric_limits<std::uint32_t>::max());
    options.slot_bytes = GENERATE(std::uint64_t{1} << 40, ~std::uint64_t{0});
    auto pool = TensorPool::build(options);
    CHECK(refusal(pool) == Refusal{ErrorCode::kResourceExhausted, "TENSOR_POOL_MEMORY"});
    CHECK_THAT(pool.error().message, ContainsSubstring("past 2^64"));
  }
  CHECK(device->live_bytes() == 0);
}

TEST_CASE("a build that fails half-way gives back all memory and events") {
  const auto device = ScriptedDevice::make();
  device->refuse_events_after(5);
  auto pool = TensorPool::build(device_options(device, 2));
  CHECK(refusal(pool) == Refusal{ErrorCode::kFailure, "SCRIPTED_NO_EVENT"});
  CHECK_THAT(pool.error().message, ContainsSubstring("camera.frame"));
  CHECK(device->live_events() == 0);
  CHECK(device->live_bytes() == 0);
}

TEST_CASE("build makes all events and destruction frees them and the memory") {
  const auto device = ScriptedDevice::make();
  {
    TensorPoolOptions options = device_options(device, 3);
    options.max_release_streams = 5;
    const TensorPool pool = must_build(options);
    CHECK(device->live_events() == std::int64_t{3} * (1 + 5));
    CHECK(device->live_bytes() == 3 * kMemoryBlockAlignment);
    CHECK(pool.options().max_release_streams == 5);
  }
  CHECK(device->live_events() == 0);
  CHECK(device->live_bytes() == 0);
}

TEST_CASE("slots are distinct and aligned, and none is left when all are out") {
  TensorPool pool = must_build(host_options(3));
  std::vector<TensorOutputLoan> loans;
  std::vector<void*> places;
  for (int i = 0; i < 3; ++i) {
    loans.push_back(must(pool.allocate(kSmall, {})));
    places.push_back(must(loans.back().write({})).data());
    CHECK(reinterpret_cast<std::uintptr_t>(places.back()) % kMemoryBlockAlignment == 0);
  }
  CHECK(places[0] != places[1]);
  CHECK(places[1] != places[2]);
  CHECK(places[0] != places[2]);

  const auto refused = pool.allocate(kSmall, {});
  CHECK(refusal(refused) == Refusal{ErrorCode::kResourceExhausted, "TENSOR_POOL_EXHAUSTED"});
  CHECK(refused.error().message.empty());
  loans.pop_back();
  CHECK(pool.allocate(kSmall, {}).has_value());
}

TEST_CASE("room for several slots is asked for at once, and a return wakes who was told no") {
  TensorPool pool = must_build(host_options(3));
  int wakes = 0;
  pool.set_return_callback({[](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes});
  CHECK(pool.has_free_slot(3));
  CHECK_FALSE(pool.has_free_slot(4));
  auto held = std::make_optional(must(pool.allocate(kSmall, {})));
  CHECK(pool.has_free_slot(2));
  CHECK_FALSE(pool.has_free_slot(3));
  held.reset();
  CHECK(wakes == 1);
  CHECK(pool.has_free_slot(3));
}

TEST_CASE("a loan knows its pool") {
  TensorPool pool = must_build(host_options(1));
  TensorPool other = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  CHECK(loan.is_of(pool));
  CHECK_FALSE(loan.is_of(other));
  const TensorOutputLoan moved(std::move(loan));
  CHECK(moved.is_of(pool));
  CHECK_FALSE(loan.is_of(pool));
}

TEST_CASE("a request that does not fit the slot is refused and costs no slot") {
  const auto device = ScriptedDevice::make();
  const auto other = ScriptedDevice::make();
  const Stream foreign = must(other->create_stream({}));
  TensorPoolOptions options = device_options(device, 1);
  options.max_rank = 2;
  TensorPool pool = must_build(options);
  const auto ask = [&](std::vector<std::int64_t> shape, DLDataType dtype = kByte,
                       std::vector<std::int64_t> strides = {}, StreamRef stream = {}) {
    return refusal(pool.allocate({shape, dtype, strides}, stream));
  };

  CHECK(ask({17}) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_LARGER_THAN_SLOT"});
  CHECK(ask({2, 2}, kByte, {15, 1}) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_LARGER_THAN_SLOT"});
  CHECK(ask({1, 1, 1}) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_RANK_TOO_HIGH"});
  CHECK(ask({-1}) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_EXTENT_NEGATIVE"});
  CHECK(ask({4}, DLDataType{kDLUInt, 0, 1}) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_DTYPE_INVALID"});
  CHECK(ask({4}, kByte, {1, 1}) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_STRIDES_MISMATCH"});
  CHECK(ask({4}, kByte, {-1}) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_STRIDE_NEGATIVE"});
  CHECK(ask({std::int64_t{1} << 62, 8}) ==
        Refusal{ErrorCode::kArithmeticOverflow, "TENSOR_SPAN_OVERFLOW"});
  CHECK(ask({4}, kByte, {}, foreign.ref()) ==
        Refusal{ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN"});
  CHECK(ask({4}, kByte, {}, StreamRef(*device, static_cast<CUstream_st*>(nullptr))) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED"});

  CHECK(pool.usage().loans == 0);
  CHECK(pool.usage().refusals == 0);
  CHECK(pool.has_free_slot());
}

TEST_CASE("empty, scalar and strided tensors are lent with the size that they span") {
  TensorPool pool = must_build(host_options(1));
  const auto size_of = [&](std::vector<std::int64_t> shape,
                           std::vector<std::int64_t> strides = {}) {
    const TensorOutputLoan loan = must(pool.allocate({shape, kByte, strides}, {}));
    CHECK(std::vector(loan.shape().begin(), loan.shape().end()) == shape);
    if (!strides.empty()) {
      CHECK(std::vector(loan.byte_strides().begin(), loan.byte_strides().end()) == strides);
    }
    return loan.byte_size();
  };
  CHECK(size_of({0}) == 0);
  CHECK(size_of({}) == 1);
  CHECK(size_of({16}) == 16);
  CHECK(size_of({2, 4}, {12, 1}) == 16);
}

TEST_CASE("every loan has the layout that it asked for, whatever was asked for before") {
  TensorPool pool = must_build(host_options(1));
  struct Request {
    std::vector<std::int64_t> shape;
    DLDataType dtype;
    std::vector<std::int64_t> strides;
  };
  const DLDataType word{kDLUInt, 16, 1};
  const std::vector<Request> requests{
      {{2, 2}, kByte, {}}, {{2, 2}, kByte, {8, 1}}, {{2, 2}, kByte, {}}, {{2, 2}, word, {}},
      {{2}, word, {}},     {{2, 1}, word, {}},      {{}, word, {}},      {{}, kByte, {}},
  };
  for (const Request& first : requests) {
    for (const Request& then : requests) {
      const auto ask = [&](const Request& request) {
        return must(pool.allocate({request.shape, request.dtype, request.strides}, {}));
      };
      static_cast<void>(ask(first));
      static_cast<void>(pool.allocate({std::array<std::int64_t, 1>{17}, kByte}, {}));
      const TensorOutputLoan loan = ask(then);
      const TensorLayout expected_layout =
          then.strides.empty() ? must(contiguous_layout(then.shape, then.dtype))
                               : must(strided_layout(then.shape, then.strides, then.dtype));
      CHECK(std::ranges::equal(loan.shape(), expected_layout.shape()));
      CHECK(std::ranges::equal(loan.byte_strides(), expected_layout.byte_strides()));
      CHECK(loan.byte_size() == expected_layout.byte_span());
    }
  }
}

TEST_CASE("usage counts slots by where they are") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 4));
  CHECK(pool.usage().slot_count == 4);
  CHECK(pool.usage().in_use == 0);

  Tensor published = publish_one(pool, stream.ref());
  { const Tensor retiring = publish_one(pool, stream.ref()); }
  TensorOutputLoan loan = must(pool.allocate(kSmall, stream.ref()));
  CHECK(pool.usage().in_use == 3);
  CHECK(pool.usage().retiring == 1);
  CHECK(pool.usage().in_use_high_water == 3);
  CHECK(pool.usage().loans == 3);

  device->pass(stream.ref());
  { const TensorOutputLoan last = must(pool.allocate(kSmall, stream.ref())); }
  CHECK(pool.usage().retiring == 1);  // a slot was free, so nobody has polled
  {
    const TensorOutputLoan first = must(pool.allocate(kSmall, stream.ref()));
    const TensorOutputLoan second = must(pool.allocate(kSmall, stream.ref()));
    CHECK(refusal(pool.allocate(kSmall, stream.ref())).token == "TENSOR_POOL_EXHAUSTED");
    CHECK(pool.usage().in_use == 4);
  }
  CHECK(pool.usage().retiring == 0);
  CHECK(pool.usage().in_use == 2);
  CHECK(pool.usage().in_use_high_water == 4);
  CHECK(pool.usage().refusals == 1);
}

TEST_CASE("handles keep the memory of a destroyed pool until the last one drops") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  Tensor kept;
  Tensor another;
  {
    TensorPool pool = must_build(device_options(device, 2, MemoryKind::kPinnedHost));
    kept = publish_one(pool, stream.ref());
    another = publish_one(pool, stream.ref());
    another = kept;  // the other one retires while the pool is there
    CHECK(pool.usage().retiring == 1);
  }
  CHECK(device->live_bytes() > 0);
  CHECK(kept.layout().byte_span() == 16);
  kept = {};
  CHECK(device->live_bytes() > 0);
  another = {};
  CHECK(device->live_bytes() == 0);
  CHECK(device->live_events() == 0);
  CHECK_FALSE(device->freed_while_pending());
}

TEST_CASE("a pool destroyed with device work pending waits for it before the memory goes") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  {
    TensorPool pool = must_build(device_options(device, 1));
    const Tensor tensor = publish_one(pool, producer.ref());
    must(tensor.prepare_for_consumer(consumer.ref()));
  }
  CHECK(device->live_bytes() == 0);
  CHECK_FALSE(device->freed_while_pending());
}

TEST_CASE("a moved-from pool lends nothing and the moved one carries on") {
  TensorPool first = must_build(host_options(1));
  Tensor tensor = publish_one(first);
  TensorPool second(std::move(first));
  CHECK(refusal(first.allocate(kSmall, {})) ==
        Refusal{ErrorCode::kClosed, "TENSOR_POOL_MOVED_FROM"});
  CHECK_FALSE(first.has_free_slot());
  CHECK_FALSE(first.waits_for_device());
  CHECK(first.usage().slot_count == 0);
  CHECK(first.options().slot_count == 0);
  first.set_return_callback({});

  CHECK(second.usage().in_use == 1);
  tensor = {};
  CHECK(second.has_free_slot());
  second = must_build(host_options(5));
  CHECK(second.usage().slot_count == 5);
}

TEST_CASE("the return callback is called once after a no, and not unless asked") {
  Wakes wakes;
  TensorPool pool = must_build(host_options(2));
  pool.set_return_callback(wakes.callback());
  Tensor first = publish_one(pool);
  Tensor second = publish_one(pool);
  first = {};
  CHECK(wakes.count == 0);  // nobody had asked
  CHECK(pool.has_free_slot());
  first = publish_one(pool);

  CHECK_FALSE(pool.has_free_slot());
  CHECK_FALSE(pool.waits_for_device());
  first = {};
  CHECK(wakes.count == 1);
  second = {};
  CHECK(wakes.count == 1);
  CHECK(pool.has_free_slot());
}

TEST_CASE("a slot that comes back while the others are asked about is not overlooked") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  Wakes wakes;
  TensorPool pool = must_build(device_options(device, 2, MemoryKind::kPinnedHost));
  pool.set_return_callback(wakes.callback());
  { const Tensor retiring = publish_one(pool, stream.ref()); }
  Tensor host_written = publish_one(pool, stream.ref(), {});
  // It drops after the lane has looked for returned slots, and before the callback is armed.
  device->on_next_query([&] { host_written = {}; });
  CHECK(pool.has_free_slot());
  CHECK(wakes.count == 0);
}

TEST_CASE("a slot that waits for its device wakes the lane once, which then has to poll") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  Wakes wakes;
  TensorPool pool = must_build(device_options(device, 1));
  pool.set_return_callback(wakes.callback());
  Tensor tensor = publish_one(pool, stream.ref());
  CHECK_FALSE(pool.has_free_slot());
  CHECK_FALSE(pool.waits_for_device());

  tensor = {};
  CHECK(wakes.count == 1);
  CHECK_FALSE(pool.has_free_slot());
  CHECK(pool.waits_for_device());
  device->pass(stream.ref());
  CHECK(wakes.count == 1);
  CHECK(pool.has_free_slot());
  CHECK_FALSE(pool.waits_for_device());
}

TEST_CASE("no callback comes after it was replaced or the pool is gone") {
  Wakes before;
  Wakes after;
  Tensor tensor;
  {
    TensorPool pool = must_build(host_options(1));
    pool.set_return_callback(before.callback());
    tensor = publish_one(pool);
    CHECK_FALSE(pool.has_free_slot());
    pool.set_return_callback(after.callback());
    tensor = {};
    CHECK(before.count == 0);
    CHECK(after.count == 0);  // the new one was not asked for yet

    tensor = publish_one(pool);
    CHECK_FALSE(pool.has_free_slot());
  }
  tensor = {};
  CHECK(after.count == 0);
}

}  // namespace
}  // namespace weftline
