// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "device_under_test.hpp"
#include "weftline/cuda/launch.hpp"

// The part of the conformance suite about order: streams, events, host tasks. Every expectation is
// proved by a gate or by the data, so that a slow machine never fails a correct device.

namespace weftline::testing {

TEST_CASE("host tasks of one stream run in the order in which they were queued") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  constexpr std::size_t kTasks = 500;
  struct Log {
    std::array<std::size_t, kTasks> entries{};
    std::size_t count{0};  // plain: the stream's order makes it safe
  };
  Log log;
  const StreamRef stream = bench.stream();
  for (std::size_t i = 0; i < kTasks; ++i) {
    must(bench.device().launch_host(stream, [to = &log, i] { to->entries.at(to->count++) = i; }));
  }
  bench.finish(stream);
  REQUIRE(log.count == kTasks);
  CHECK(std::is_sorted(log.entries.begin(), log.entries.end()));
}

TEST_CASE("threads that queue on one stream at the same time lose nothing and overlap nothing") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  constexpr int kThreads = 4;
  constexpr int kTasks = 200;
  struct Log {
    std::array<int, kThreads> last{};  // plain: the stream's order makes it safe
    int in_order{0};
  };
  Log log;
  std::atomic<int> refused{0};
  std::vector<EventRef> done;
  for (int thread = 0; thread < kThreads; ++thread) {
    done.push_back(bench.event());
  }
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 1; i <= kTasks; ++i) {
          const auto task = device.launch_host(stream, [to = &log, thread, i] {
            to->in_order += to->last.at(thread)++ == i - 1 ? 1 : 0;
          });
          refused += task && device.record(done[thread], stream) ? 0 : 1;
        }
      });
    }
  }
  for (const EventRef event : done) {
    REQUIRE(completes(event));
  }
  CHECK(refused == 0);
  CHECK(log.in_order == kThreads * kTasks);
}

TEST_CASE("fills, copies and host tasks of one stream see what came before and nothing later") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  constexpr std::size_t kBytes = 1 << 16;
  const StreamRef stream = bench.stream();
  const auto source = bench.memory(MemoryKind::kCudaDevice, kBytes);
  const auto first = bench.pinned(kBytes);
  const auto second = bench.pinned(kBytes);
  std::byte seen_by_task{0};

  StreamGate gate(stream);
  must(device.fill(stream, source.data(), std::byte{1}, kBytes));
  must(device.copy(stream, first.data(), source.data(), kBytes));
  must(device.launch_host(stream, [seen = &seen_by_task, first = first.data()] {
    *seen = first[kBytes - 1];
    first[0] = std::byte{7};
  }));
  must(device.copy(stream, source.data(), first.data(), 1));
  must(device.fill(stream, source.data() + 1, std::byte{2}, kBytes - 1));
  must(device.copy(stream, second.data(), source.data(), kBytes));
  gate.open();
  bench.finish(stream);

  CHECK(seen_by_task == std::byte{1});
  CHECK(all_equal(first.subspan(1), std::byte{1}));
  CHECK(second[0] == std::byte{7});
  CHECK(all_equal(second.subspan(1), std::byte{2}));
}

TEST_CASE("a stream waits for an event of another stream, and only then goes on") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef producer = bench.stream();
  const StreamRef consumer = bench.stream();
  const EventRef ready = bench.event();
  const EventRef consumed = bench.event();
  const auto value = bench.memory(MemoryKind::kCudaDevice, 1);
  const auto result = bench.pinned(1);
  must(device.fill(producer, value.data(), std::byte{0}, 1));

  StreamGate gate(producer);
  must(device.fill(producer, value.data(), std::byte{5}, 1));
  must(device.record(ready, producer));
  must(device.wait(consumer, ready));
  must(device.copy(consumer, result.data(), value.data(), 1));
  must(device.record(consumed, consumer));
  gate.wait_until_reached();
  CHECK_FALSE(device.is_complete(ready).value());
  CHECK_FALSE(device.is_complete(consumed).value());

  gate.open();
  REQUIRE(completes(consumed));
  CHECK(device.is_complete(ready).value());
  CHECK(result[0] == std::byte{5});
}

TEST_CASE("a stream without a wait passes a stream that is held up") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef held = bench.stream();
  const StreamRef free_stream = bench.stream();
  const auto target = bench.pinned(1);
  StreamGate gate(held);
  must(bench.device().fill(free_stream, target.data(), std::byte{1}, 1));
  bench.finish(free_stream);
  CHECK(target[0] == std::byte{1});
}

TEST_CASE("a wait does not follow an event that is recorded again later") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef recorder = bench.stream();
  const StreamRef waiter = bench.stream();
  const EventRef event = bench.event();
  const auto target = bench.pinned(1);
  must(device.record(event, recorder));
  must(device.wait(waiter, event));

  StreamGate gate(recorder);
  must(device.record(event, recorder));
  must(device.fill(waiter, target.data(), std::byte{1}, 1));
  bench.finish(waiter);  // would not end if the wait had moved behind the gate
  CHECK(target[0] == std::byte{1});
  CHECK_FALSE(device.is_complete(event).value());
}

TEST_CASE("a wait keeps its record when the event completes elsewhere meanwhile") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef slow = bench.stream();
  const StreamRef quick = bench.stream();
  const StreamRef waiter = bench.stream();
  const EventRef event = bench.event();
  const EventRef done = bench.event();
  const auto value = bench.memory(MemoryKind::kCudaDevice, 1);
  const auto result = bench.pinned(1);
  must(device.fill(slow, value.data(), std::byte{0}, 1));

  StreamGate gate(slow);
  must(device.fill(slow, value.data(), std::byte{9}, 1));
  must(device.record(event, slow));
  must(device.wait(waiter, event));
  must(device.copy(waiter, result.data(), value.data(), 1));
  must(device.record(done, waiter));
  must(device.record(event, quick));
  REQUIRE(completes(event));
  CHECK_FALSE(device.is_complete(done).value());

  gate.open();
  REQUIRE(completes(done));
  CHECK(result[0] == std::byte{9});
}

TEST_CASE("an event that was never recorded is complete and holds up nothing") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  CHECK(bench.device().is_complete(event).value());
  must(bench.device().synchronize(event));
  must(bench.device().wait(stream, event));
  bench.finish(stream);
}

TEST_CASE("recording an event again makes it incomplete until that record is reached") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef held = bench.stream();
  const StreamRef other = bench.stream();
  const EventRef event = bench.event();
  must(device.record(event, held));
  REQUIRE(completes(event));

  StreamGate gate(held);
  must(device.record(event, other));
  REQUIRE(completes(event));
  must(device.record(event, held));
  CHECK_FALSE(device.is_complete(event).value());
  must(device.record(event, held));
  CHECK_FALSE(device.is_complete(event).value());

  gate.open();
  REQUIRE(completes(event));
}

TEST_CASE("synchronize returns when the work queued before it is done") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  int value = 0;  // plain: synchronize is what makes the task's write visible
  for (int round = 1; round <= 50; ++round) {
    must(device.launch_host(stream, [to = &value, round] { *to = round; }));
    if (round % 2 == 0) {
      must(device.synchronize(stream));
    } else {
      must(device.record(event, stream));
      must(device.synchronize(event));
    }
    REQUIRE(value == round);
  }
}

TEST_CASE("an event of another device of the same backend orders a stream") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench here(subject);
  Workbench there(open_or_skip(subject.open_other));
  const StreamRef producer = there.stream();
  const StreamRef consumer = here.stream();
  const EventRef ready = there.event();
  const EventRef done = here.event();
  const auto value = here.pinned(1);
  const auto result = here.pinned(1);

  StreamGate gate(producer);
  must(there.device().fill(producer, value.data(), std::byte{3}, 1));
  must(there.device().record(ready, producer));
  must(here.device().wait(consumer, ready));
  must(here.device().copy(consumer, result.data(), value.data(), 1));
  must(here.device().record(done, consumer));
  CHECK_FALSE(here.device().is_complete(done).value());
  gate.open();
  REQUIRE(completes(done));
  CHECK(result[0] == std::byte{3});
}

TEST_CASE("a destroyed stream still does the work that it was given, and nobody waits for it") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const auto target = bench.pinned(1);
  const EventRef done = bench.event();
  Stream stream = must(device.create_stream({}));

  StreamGate gate(stream.ref());
  must(device.fill(stream.ref(), target.data(), std::byte{4}, 1));
  must(device.record(done, stream.ref()));
  stream = Stream{};  // returns although the gate is closed
  CHECK_FALSE(device.is_complete(done).value());
  gate.open();
  REQUIRE(completes(done));
  CHECK(target[0] == std::byte{4});
}

TEST_CASE("an event may be destroyed while a stream still waits for it") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef producer = bench.stream();
  const StreamRef consumer = bench.stream();
  const auto value = bench.memory(MemoryKind::kCudaDevice, 1);
  const auto result = bench.pinned(1);
  Event ready = must(device.create_event());
  must(device.fill(producer, value.data(), std::byte{0}, 1));

  StreamGate gate(producer);
  must(device.fill(producer, value.data(), std::byte{6}, 1));
  must(device.record(ready.ref(), producer));
  must(device.wait(consumer, ready.ref()));
  ready = Event{};
  must(device.copy(consumer, result.data(), value.data(), 1));
  gate.open();
  bench.finish(consumer);
  CHECK(result[0] == std::byte{6});
}

TEST_CASE("launch on a stream takes its place in that stream's order") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  must(device.make_current());
  const StreamRef stream = bench.stream();
  const auto value = bench.pinned(1);
  const auto result = bench.pinned(1);
  const MemoryAccess access{value.data(), 1};

  StreamGate gate(stream);
  must(launch(
      stream, {}, {&access, 1}, [to = value.data()] { *to = std::byte{8}; },
      [&](CUstream_st* handle) -> expected<void, Error> {
        CHECK(handle == stream.get());
        return device.fill(stream, value.data(), std::byte{8}, 1);
      }));
  must(device.copy(stream, result.data(), value.data(), 1));
  gate.open();
  bench.finish(stream);
  CHECK(result[0] == std::byte{8});
}

TEST_CASE("a full queue holds up its caller, loses nothing and keeps the order") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  if (subject.queue_capacity == 0) {
    SKIP(subject.no_queue_capacity_reason);
  }
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const std::uint32_t places = subject.queue_capacity - 1;  // the gate has the first
  const std::uint32_t tasks = subject.queue_capacity * 3;
  std::uint32_t in_order = 0;
  std::atomic<std::uint32_t> queued{0};
  std::atomic<std::uint32_t> refused{0};

  StreamGate gate(stream);
  std::jthread caller([&] {
    for (std::uint32_t i = 0; i < tasks; ++i) {
      const auto outcome =
          device.launch_host(stream, [count = &in_order, i] { *count += *count == i ? 1U : 0U; });
      refused += outcome ? 0U : 1U;
      ++queued;
    }
  });
  CHECK(eventually([&] { return queued == places; }));
  CHECK(queued == places);  // and it stays so: the gate's place is not free yet
  gate.open();
  caller.join();
  bench.finish(stream);
  CHECK(refused == 0);
  CHECK(in_order == tasks);
}

}  // namespace weftline::testing
