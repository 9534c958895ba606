// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <vector>

#include "device_under_test.hpp"
#include "weftline/cuda/event_pool.hpp"

// The part of the conformance suite about what streams and events are made with: priorities, time,
// pools.

namespace weftline::testing {

TEST_CASE("a stream has the priority that was asked for, within the device's range") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamPriorities range = device.stream_priorities();
  CHECK(range.least >= range.greatest);  // lower is more urgent
  for (int priority = range.greatest; priority <= range.least; ++priority) {
    CHECK(must(device.create_stream({.priority = priority})).priority() == priority);
  }
  CHECK(must(device.create_stream({.priority = range.least + 1})).priority() == range.least);
  Stream most_urgent = must(device.create_stream({.priority = -1'000'000}));
  CHECK(most_urgent.priority() == range.greatest);

  const auto target = bench.pinned(1);
  must(device.fill(most_urgent.ref(), target.data(), std::byte{1}, 1));
  must(device.synchronize(most_urgent.ref()));
  CHECK(target[0] == std::byte{1});
  const Stream moved = std::move(most_urgent);
  CHECK(moved.priority() == range.greatest);
}

TEST_CASE("events with either way of waiting order streams and hosts alike") {
  const auto subject = any_device_under_test();
  const bool blocking_wait = GENERATE(false, true);
  CAPTURE(subject.name, blocking_wait);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const Event event = must(device.create_event({.blocking_wait = blocking_wait}));
  const TimedEvent timed = must(device.create_timed_event({.blocking_wait = blocking_wait}));
  int value = 0;  // plain: synchronize is what makes the task's write visible
  for (const EventRef ref : {event.ref(), timed.ref()}) {
    StreamGate gate(stream);
    must(device.launch_host(stream, [to = &value] { ++*to; }));
    must(device.record(ref, stream));
    CHECK_FALSE(must(device.is_complete(ref)));
    gate.open();
    must(device.synchronize(ref));
  }
  CHECK(value == 2);
}

TEST_CASE("the time between two timed events is at least that of the work between them") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const TimedEvent before = must(device.create_timed_event());
  const TimedEvent after = must(device.create_timed_event());
  using Clock = std::chrono::steady_clock;
  for (int round = 0; round < 2; ++round) {  // recording again moves the time
    Clock::duration worked{};
    must(device.record(before.ref(), stream));
    must(device.launch_host(stream, [to = &worked] {
      const auto start = Clock::now();
      do {
        *to = Clock::now() - start;
      } while (*to < std::chrono::milliseconds(2));
    }));
    must(device.record(after.ref(), stream));
    REQUIRE(completes(after.ref()));
    // CUDA's clock ticks in half microseconds.
    CHECK(must(device.elapsed(before, after)) >= worked - std::chrono::microseconds(1));
    CHECK(must(device.elapsed(before, before)) == std::chrono::nanoseconds(0));
  }
}

TEST_CASE("the time of an event that has none yet is refused by name") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Workbench another(open_or_skip(subject.open_other));
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const TimedEvent done = must(device.create_timed_event());
  const TimedEvent never = must(device.create_timed_event());
  const TimedEvent later = must(device.create_timed_event());
  const TimedEvent foreign = must(another.device().create_timed_event());
  must(device.record(done.ref(), stream));
  REQUIRE(completes(done.ref()));
  require_refused(device.elapsed(done, never), ErrorCode::kInvalidArgument,
                  "DEVICE_EVENT_NOT_RECORDED");
  require_refused(device.elapsed(never, done), ErrorCode::kInvalidArgument,
                  "DEVICE_EVENT_NOT_RECORDED");
  require_refused(device.elapsed(done, TimedEvent{}), ErrorCode::kInvalidArgument,
                  "DEVICE_NULL_OBJECT");
  require_refused(device.elapsed(TimedEvent{}, done), ErrorCode::kInvalidArgument,
                  "DEVICE_NULL_OBJECT");
  require_refused(device.elapsed(foreign, done), ErrorCode::kInvalidArgument,
                  "DEVICE_FOREIGN_OBJECT");
  require_refused(device.elapsed(done, foreign), ErrorCode::kInvalidArgument,
                  "DEVICE_FOREIGN_OBJECT");

  StreamGate gate(stream);
  must(device.record(later.ref(), stream));
  require_refused(device.elapsed(done, later), ErrorCode::kNotReady, "DEVICE_EVENT_INCOMPLETE");
  require_refused(device.elapsed(later, done), ErrorCode::kNotReady, "DEVICE_EVENT_INCOMPLETE");
  must(device.check_launch());
  gate.open();
  REQUIRE(completes(later.ref()));
  CHECK(must(device.elapsed(done, later)) >= std::chrono::nanoseconds(0));
}

TEST_CASE("a timed event may be destroyed before its stream reaches it") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  StreamGate gate(stream);
  must(bench.device().record(must(bench.device().create_timed_event()).ref(), stream));
  gate.open();
  bench.finish(stream);
}

TEST_CASE(
    "a pool lends each of its events to one borrower at a time, and refuses when it is empty") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  require_refused(EventPool::create(device, 0), ErrorCode::kInvalidArgument,
                  "DEVICE_EVENT_POOL_EMPTY");
  EventPool pool = must(EventPool::create(device, 3));
  CHECK(pool.size() == 3);
  std::vector<PooledEvent> taken;
  std::set<CUevent_st*> handles;
  for (int i = 0; i < 3; ++i) {
    taken.push_back(pool.take());
    REQUIRE(taken.back());
    handles.insert(taken.back().ref().get());
    must(device.record(taken.back().ref(), stream));
  }
  CHECK(handles.size() == 3);
  const PooledEvent refused = pool.take();
  CHECK_FALSE(refused);
  CHECK_FALSE(refused.ref());

  PooledEvent moved = std::move(taken[0]);
  CHECK_FALSE(taken[0]);  // NOLINT(bugprone-use-after-move): that is what is tested
  CHECK_FALSE(pool.take());
  moved = std::move(taken[1]);  // gives its first event back
  const PooledEvent again = pool.take();
  REQUIRE(again);
  CHECK(handles.count(again.ref().get()) == 1);
  CHECK(again.ref() != moved.ref());
  CHECK_FALSE(pool.take());
}

TEST_CASE("a borrowed event outlives its pool and every other owner of its device") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  std::shared_ptr<Device> device = open_or_skip(subject.open);
  std::optional<EventPool> pool = must(EventPool::create(*device, 1));
  PooledEvent event = pool->take();
  const std::weak_ptr<Device> watch = device;
  pool.reset();
  device.reset();
  REQUIRE_FALSE(watch.expired());
  CHECK(must(event.ref().device()->is_complete(event.ref())));
  event = PooledEvent{};
  CHECK(watch.expired());
}

}  // namespace weftline::testing
