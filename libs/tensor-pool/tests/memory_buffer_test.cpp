// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/memory_buffer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

static_assert(!std::is_copy_constructible_v<MemoryBuffer>);
static_assert(std::is_nothrow_copy_constructible_v<ConstBuffer>);
static_assert(std::is_same_v<decltype(std::declval<ConstBuffer&>().data()), const void*>);
static_assert(MemoryBuffer::kMaximumFanoutReleaseStreams == 8);

/// A worker that looks when the test says so.
struct BufferBench {
  std::shared_ptr<ScriptedDevice> device{ScriptedDevice::make()};
  RetirementWorker worker{must(RetirementWorker::start())};
  std::vector<Stream> streams{};
  BufferBench() {
    worker.stop();
    for (int i = 0; i < 9; ++i) streams.push_back(must(device->create_stream({})));
  }
  ~BufferBench() {
    for (const Stream& each : streams) device->pass(each.ref());
    worker.retire_passed();
  }
  MemoryBuffer buffer(MemoryBuffer::Options options = {}) {
    return must(MemoryBuffer::allocate(device, MemoryKind::kPinnedHost, 64, worker, options));
  }
  [[nodiscard]] StreamRef stream(std::size_t index) const { return streams[index].ref(); }
  /// Whether the memory is back after a look.
  bool given_back() {
    worker.retire_passed();
    return device->live_bytes() == 0;
  }
};

TEST_CASE("a host buffer is written, shared and read, and gone with its last share") {
  MemoryBuffer buffer = must(MemoryBuffer::allocate_host(64));
  CHECK(buffer.byte_size() == 64);
  CHECK(buffer.memory_kind() == MemoryKind::kHost);
  CHECK(buffer.device() == nullptr);
  std::memset(buffer.data(), 7, 64);
  ConstBuffer first = must(std::move(buffer).share({}));
  CHECK_FALSE(buffer.valid());
  CHECK(buffer.data() == nullptr);
  CHECK(buffer.byte_size() == 0);
  const ConstBuffer second = first;
  first = {};
  must(second.enqueue_ready_wait({}));
  must(second.synchronize_for_host());
  CHECK(static_cast<const std::uint8_t*>(second.data())[63] == 7);
  CHECK(second.tensor().byte_size() == 64);
  CHECK(second.tensor().shape().size() == 1);
  CHECK(same_dtype(second.tensor().dtype(), kByte));
}

TEST_CASE("a buffer of no bytes can be shared") {
  MemoryBuffer buffer = must(MemoryBuffer::allocate_host(0));
  const ConstBuffer shared = must(std::move(buffer).share({}));
  CHECK(shared);
  CHECK(shared.byte_size() == 0);
}

TEST_CASE("an empty buffer answers by name") {
  MemoryBuffer buffer = must(MemoryBuffer::allocate_host(8));
  MemoryBuffer moved(std::move(buffer));
  const Refusal empty{ErrorCode::kInvalidArgument, "BUFFER_EMPTY"};
  CHECK(refusal(buffer.set_deallocation_stream({})) == empty);
  CHECK(refusal(std::move(buffer).share({})) == empty);
  CHECK(buffer.memory_kind() == MemoryKind::kUnknown);
  buffer = std::move(moved);
  CHECK(buffer.valid());
  const ConstBuffer nothing;
  CHECK_FALSE(nothing);
  CHECK(refusal(nothing.enqueue_ready_wait({})).token == "TENSOR_EMPTY");
  CHECK(nothing.data() == nullptr);
}

TEST_CASE("a buffer's readers wait for its writer, and eight of their streams hold it") {
  BufferBench bench;
  MemoryBuffer buffer = bench.buffer();
  std::optional<ConstBuffer> shared(must(std::move(buffer).share(bench.stream(0))));
  CHECK(bench.device->count(Op::kRecord, bench.stream(0)) == 1);
  for (int again = 0; again < 2; ++again) {
    for (std::size_t i = 0; i < 8; ++i) must(shared->enqueue_ready_wait(bench.stream(i)));
  }
  for (std::size_t i = 0; i < 8; ++i) CHECK(bench.device->count(Op::kWait, bench.stream(i)) == 2);
  CHECK(refusal(shared->enqueue_ready_wait(bench.stream(8))) ==
        Refusal{ErrorCode::kResourceExhausted, "TENSOR_RELEASE_STREAMS_EXHAUSTED"});
  CHECK(bench.device->count(Op::kWait, bench.stream(8)) == 0);
  CHECK(refusal(shared->enqueue_ready_wait({})).token == "TENSOR_STREAM_REQUIRED");

  shared.reset();
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK_FALSE(bench.given_back());
    CHECK(bench.worker.usage().waiting == 1);
    bench.device->pass(bench.stream(i));
  }
  CHECK(bench.given_back());
  CHECK(bench.worker.usage().retired == 1);
  CHECK(bench.worker.usage().waiting == 0);
  CHECK(bench.device->live_events() == 0);
  CHECK_FALSE(bench.device->freed_while_pending());
}

TEST_CASE("the cap of release streams is the buffer's own") {
  BufferBench bench;
  const ConstBuffer one = must(bench.buffer({.max_fanout_release_streams = 1}).share({}));
  must(one.enqueue_ready_wait(bench.stream(0)));
  CHECK(refusal(one.enqueue_ready_wait(bench.stream(1))).token ==
        "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  const ConstBuffer nine = must(bench.buffer({.max_fanout_release_streams = 9}).share({}));
  for (std::size_t i = 0; i < 9; ++i) must(nine.enqueue_ready_wait(bench.stream(i)));
}

TEST_CASE("a buffer that nobody shared is kept for the stream that still works on it") {
  BufferBench bench;
  {
    MemoryBuffer buffer = bench.buffer();
    must(buffer.set_deallocation_stream(bench.stream(1)));
    must(bench.device->fill(bench.stream(1), buffer.data(), std::byte{1}, 64));
  }
  CHECK_FALSE(bench.given_back());
  bench.device->pass(bench.stream(1));
  CHECK(bench.given_back());
}

TEST_CASE("a shared buffer that nobody read is kept until its writer's stream has passed") {
  BufferBench bench;
  { const ConstBuffer shared = must(bench.buffer().share(bench.stream(0))); }
  CHECK_FALSE(bench.given_back());
  bench.device->pass(bench.stream(0));
  CHECK(bench.given_back());
}

TEST_CASE("a writer's stream that can't be one is refused and the buffer stays") {
  BufferBench bench;
  const auto stranger = ScriptedDevice::make();
  const Stream foreign = must(stranger->create_stream({}));
  MemoryBuffer buffer = bench.buffer();
  CHECK(refusal(std::move(buffer).share(foreign.ref())).token == "TENSOR_STREAM_FOREIGN");
  CHECK(
      refusal(std::move(buffer).share(StreamRef(*bench.device, static_cast<CUstream_st*>(nullptr))))
          .token == "TENSOR_STREAM_REQUIRED");
  bench.device->break_operation(Op::kRecord);
  CHECK(refusal(std::move(buffer).share(bench.stream(0))).token == "SCRIPTED_FAILURE");
  bench.device->mend();
  CHECK(buffer.valid());
  CHECK(std::move(buffer).share(bench.stream(0)).has_value());

  MemoryBuffer plain = must(MemoryBuffer::allocate_host(8));
  CHECK(refusal(std::move(plain).share(foreign.ref())).token == "TENSOR_STREAM_FOREIGN");
}

TEST_CASE("a host that reads a buffer waits for its writer, counted by the worker") {
  BufferBench bench;
  const ConstBuffer shared = must(bench.buffer().share(bench.stream(0)));
  must(shared.synchronize_for_host());
  CHECK(bench.worker.usage().host_waits.synchronize_for_host == 1);
}

TEST_CASE("a buffer is not made from arguments that make no sense") {
  BufferBench bench;
  const auto message_of = [](expected<MemoryBuffer, Error> made) {
    CHECK(refusal(made) == Refusal{ErrorCode::kInvalidArgument, "BUFFER_OPTIONS"});
    return made.error().message;
  };
  CHECK_THAT(message_of(MemoryBuffer::allocate(nullptr, MemoryKind::kPinnedHost, 8, bench.worker)),
             ContainsSubstring("allocate_host()"));
  CHECK_THAT(message_of(MemoryBuffer::allocate(bench.device, MemoryKind::kPinnedHost, 8,
                                               bench.worker, {.max_fanout_release_streams = 4097})),
             ContainsSubstring("4097; it must be at most 4096"));
  RetirementWorker gone = must(RetirementWorker::start());
  const RetirementWorker kept = std::move(gone);
  CHECK_THAT(message_of(MemoryBuffer::allocate(bench.device, MemoryKind::kPinnedHost, 8, gone)),
             ContainsSubstring("moved from"));
  bench.device->refuse_memory();
  CHECK(refusal(MemoryBuffer::allocate(bench.device, MemoryKind::kPinnedHost, 8, bench.worker))
            .token == "SCRIPTED_NO_MEMORY");
}

TEST_CASE("a buffer whose events can't be had gives its memory back") {
  BufferBench bench;
  bench.device->refuse_events_after(4);
  CHECK(refusal(MemoryBuffer::allocate(bench.device, MemoryKind::kPinnedHost, 8, bench.worker))
            .token == "SCRIPTED_NO_EVENT");
  CHECK(bench.device->live_bytes() == 0);
  CHECK(bench.device->live_events() == 0);
}

}  // namespace
}  // namespace weftline
