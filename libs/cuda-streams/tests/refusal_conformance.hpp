// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "device_under_test.hpp"
#include "weftline/cuda/launch.hpp"

// The part of the conformance suite about bad input: each mistake is refused by name, and leaves
// the device as it was.

namespace weftline::testing {

TEST_CASE("streams and events of another device are refused") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Workbench another(open_or_skip(subject.open_other));
  Workbench alien(must(subject.open_alien()));
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  const auto memory = bench.pinned(1);
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  constexpr auto kToken = "DEVICE_FOREIGN_OBJECT";

  for (Workbench* foreign : {&another, &alien}) {
    CAPTURE(foreign->device().id().to_string());
    const StreamRef foreign_stream = foreign->stream();
    const EventRef foreign_event = foreign->event();
    require_refused(device.record(event, foreign_stream), kCode, kToken);
    require_refused(device.record(foreign_event, stream), kCode, kToken);
    require_refused(device.wait(foreign_stream, event), kCode, kToken);
    require_refused(device.is_complete(foreign_event), kCode, kToken);
    require_refused(device.synchronize(foreign_event), kCode, kToken);
    require_refused(device.synchronize(foreign_stream), kCode, kToken);
    require_refused(device.copy(foreign_stream, memory.data(), memory.data(), 1), kCode, kToken);
    require_refused(device.fill(foreign_stream, memory.data(), std::byte{1}, 1), kCode, kToken);
    require_refused(device.launch_host(foreign_stream, [] {}), kCode, kToken);
  }
  require_refused(device.wait(stream, alien.event()), kCode, kToken);
  CHECK(memory[0] == std::byte{0});
  bench.finish(stream);
}

TEST_CASE("null objects, null pointers and empty tasks are refused") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  const auto memory = bench.pinned(1);
  const StreamRef without_handle(device, nullptr);  // CUDA would take it for the default stream
  constexpr auto kCode = ErrorCode::kInvalidArgument;

  for (const StreamRef null : {StreamRef{}, without_handle}) {
    require_refused(device.record(event, null), kCode, "DEVICE_NULL_OBJECT");
    require_refused(device.wait(null, event), kCode, "DEVICE_NULL_OBJECT");
    require_refused(device.synchronize(null), kCode, "DEVICE_NULL_OBJECT");
    require_refused(device.fill(null, memory.data(), std::byte{1}, 1), kCode, "DEVICE_NULL_OBJECT");
    require_refused(device.launch_host(null, [] {}), kCode, "DEVICE_NULL_OBJECT");
  }
  bool launched = false;
  require_refused(launch(
                      without_handle, {}, {}, [to = &launched] { *to = true; },
                      [&](CUstream_st*) -> expected<void, Error> {
                        launched = true;
                        return {};
                      }),
                  kCode, "DEVICE_NULL_OBJECT");
  CHECK_FALSE(launched);
  require_refused(device.record(EventRef{}, stream), kCode, "DEVICE_NULL_OBJECT");
  require_refused(device.wait(stream, EventRef{}), kCode, "DEVICE_NULL_OBJECT");
  require_refused(device.is_complete(EventRef{}), kCode, "DEVICE_NULL_OBJECT");
  require_refused(device.synchronize(EventRef{}), kCode, "DEVICE_NULL_OBJECT");

  require_refused(device.copy(stream, nullptr, memory.data(), 1), kCode, "DEVICE_NULL_POINTER");
  require_refused(device.copy(stream, memory.data(), nullptr, 1), kCode, "DEVICE_NULL_POINTER");
  require_refused(device.fill(stream, nullptr, std::byte{1}, 1), kCode, "DEVICE_NULL_POINTER");
  must(device.copy(stream, nullptr, nullptr, 0));
  must(device.fill(stream, nullptr, std::byte{1}, 0));

  must(device.preload({}));
  const std::array<const void*, 1> no_kernel{nullptr};
  require_refused(device.preload(no_kernel), kCode, "DEVICE_NULL_POINTER");

  require_refused(device.launch_host(stream, HostTask{}), kCode, "DEVICE_EMPTY_TASK");
  bench.finish(stream);
}

/// Every call of a device, for a host task to make.
struct DeviceCalls {
  Device& device;
  StreamRef stream;
  EventRef event;
  const TimedEvent* timed;
  std::byte* memory;
  bool in_task{false};
  int refused{0};

  template <class T>
  void count(const expected<T, Error>& outcome) {
    refused += !outcome && outcome.error().code == ErrorCode::kInvalidArgument &&
                       outcome.error().token == "DEVICE_CALL_IN_HOST_TASK"
                   ? 1
                   : 0;
  }
  void make() {
    in_task = in_host_task();
    count(device.record(event, stream));
    count(device.wait(stream, event));
    count(device.is_complete(event));
    count(device.copy(stream, memory, memory + 1, 1));
    count(device.fill(stream, memory, std::byte{1}, 1));
    count(device.launch_host(stream, [] {}));
    count(device.check_launch());
    count(device.synchronize(event));
    count(device.synchronize(stream));
    count(device.make_current());
    count(device.preload({}));
    count(device.create_stream({}));
    count(device.create_event());
    count(device.create_timed_event());
    count(device.elapsed(*timed, *timed));
    count(device.pointer_info(memory));
    count(device.allocate(MemoryKind::kPinnedHost, 1));
  }
};

TEST_CASE("a host task's calls of a device are refused by name, and do nothing") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const TimedEvent timed = must(bench.device().create_timed_event());
  DeviceCalls calls{bench.device(), bench.stream(), bench.event(), &timed, bench.pinned(2).data()};
  CHECK_FALSE(in_host_task());
  must(bench.device().launch_host(calls.stream, [to = &calls] { to->make(); }));
  bench.finish(calls.stream);
  CHECK_FALSE(in_host_task());
  CHECK(calls.in_task);
  CHECK(calls.refused == 17);
  CHECK(calls.memory[0] == std::byte{0});
}

TEST_CASE("only memory that belongs to a device is allocated from it") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  for (const MemoryKind kind : {MemoryKind::kHost, MemoryKind::kUnknown}) {
    const auto refused = bench.device().allocate(kind, 16);
    require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_MEMORY_KIND");
    CHECK(refused.error().message.find(memory_kind_name(kind)) != std::string::npos);
  }
}

TEST_CASE("two devices opened under one id do not share streams and events") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench first(subject);
  Workbench second(subject);
  CHECK(first.device().id() == second.device().id());
  require_refused(first.device().synchronize(second.stream()), ErrorCode::kInvalidArgument,
                  "DEVICE_FOREIGN_OBJECT");
}

TEST_CASE("a moved-from stream, event or memory block is empty, and the moved-to one works") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  Stream stream = must(device.create_stream({.priority = -100}));
  Event event = must(device.create_event());
  MemoryBlock block = must(device.allocate(MemoryKind::kPinnedHost, 4));
  std::byte* const data = block.data();

  Stream moved_stream = std::move(stream);
  Event moved_event = std::move(event);
  MemoryBlock moved_block = std::move(block);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  CHECK_FALSE(stream);
  CHECK_FALSE(stream.ref());
  CHECK_FALSE(event);
  CHECK_FALSE(event.ref());
  CHECK(block.data() == nullptr);
  CHECK(block.byte_size() == 0);
  CHECK(block.device() == nullptr);
  // NOLINTEND(bugprone-use-after-move)

  stream = std::move(moved_stream);
  event = std::move(moved_event);
  block = std::move(moved_block);
  CHECK(block.data() == data);
  CHECK(block.kind() == MemoryKind::kPinnedHost);
  must(device.fill(stream.ref(), block.data(), std::byte{1}, 4));
  must(device.record(event.ref(), stream.ref()));
  REQUIRE(completes(event.ref()));
  CHECK(data[3] == std::byte{1});
}

}  // namespace weftline::testing
