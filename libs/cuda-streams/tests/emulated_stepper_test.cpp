// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/emulated_stepper.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "device_under_test.hpp"

namespace weftline::testing {
namespace {

struct Stepped {
  explicit Stepped(const StepperOptions& options = {}, std::uint32_t queue_capacity = 256)
      : stepper(std::make_shared<EmulatedStepper>(options)),
        bench(must(open_device({DeviceKind::kEmulated, 0},
                               {{.stepper = stepper, .stream_queue_capacity = queue_capacity}}))) {}

  std::shared_ptr<EmulatedStepper> stepper;
  Workbench bench;
};

/// Which stream each step of a program of `streams` times `steps` records went to.
std::string order_of_steps(const StepperOptions& options, std::size_t streams, std::size_t steps) {
  Stepped device(options);
  Workbench& bench = device.bench;
  device.stepper->pause();
  std::vector<StreamRef> refs;
  for (std::size_t i = 0; i < streams; ++i) {
    refs.push_back(bench.stream());
  }
  std::vector<TimedEvent> events;
  for (std::size_t step = 0; step < steps; ++step) {
    for (const StreamRef stream : refs) {
      events.push_back(must(bench.device().create_timed_event()));
      must(bench.device().record(events.back().ref(), stream));
    }
  }
  device.stepper->resume();
  // By looking: work that is queued from here on would change what the seed chooses from.
  for (std::size_t last = events.size() - streams; last < events.size(); ++last) {
    REQUIRE(completes(events[last].ref()));
  }
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return must(bench.device().elapsed(events[a], events[b])) > std::chrono::nanoseconds(0);
  });
  std::string text;
  for (const std::size_t event : order) {
    text += static_cast<char>('a' + event % streams);
  }
  return text;
}

/// A device call that may be made on any thread; the outcome is looked at after the join.
using Outcome = expected<void, Error>;

}  // namespace

TEST_CASE("the seed alone chooses the order in which queued work of several streams is done") {
  const std::string order = order_of_steps({.seed = 5}, 3, 20);
  CAPTURE(order);
  CHECK(order_of_steps({.seed = 5}, 3, 20) == order);
  CHECK(order_of_steps({.seed = 6}, 3, 20) != order);
  CHECK(order_of_steps({.seed = 5, .longest_rest = 4}, 3, 20) != order);
  CHECK(order_of_steps({.seed = 5, .longest_rest = 4}, 3, 20) ==
        order_of_steps({.seed = 5, .longest_rest = 4}, 3, 20));
}

TEST_CASE("over some seeds every order of three streams comes up") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    orders.insert(order_of_steps({.seed = seed}, 3, 1));
  }
  CHECK(orders.size() == 6);
}

TEST_CASE("nothing advances while a stepper is paused, and everything when it is resumed") {
  Stepped held;
  Stepped other;
  const auto target = held.bench.pinned(1);
  const StreamRef stream = held.bench.stream();
  const EventRef done = held.bench.event();
  held.stepper->pause();
  must(held.bench.device().fill(stream, target.data(), std::byte{1}, 1));
  must(held.bench.device().record(done, stream));
  for (int i = 0; i < 20; ++i) {  // another device has the time to do something
    other.bench.finish(other.bench.stream());
  }
  CHECK_FALSE(must(held.bench.device().is_complete(done)));
  CHECK(target[0] == std::byte{0});
  held.stepper->resume();
  REQUIRE(completes(done));
  CHECK(target[0] == std::byte{1});
}

TEST_CASE("a stalled stream stands still while others pass it, until it is resumed") {
  Stepped device;
  Workbench& bench = device.bench;
  const StreamRef stalled = bench.stream();
  const StreamRef other = bench.stream();
  const auto target = bench.pinned(1);
  const EventRef done = bench.event();
  device.stepper->stall(stalled);
  device.stepper->stall(stalled);  // once is enough, and so is one resume
  must(bench.device().fill(stalled, target.data(), std::byte{1}, 1));
  must(bench.device().record(done, stalled));
  for (int i = 0; i < 20; ++i) {
    bench.finish(other);
  }
  CHECK_FALSE(must(bench.device().is_complete(done)));
  CHECK(target[0] == std::byte{0});
  device.stepper->resume(stalled);
  REQUIRE(completes(done));
  CHECK(target[0] == std::byte{1});
}

TEST_CASE("the n-th call is refused in words and not done, and the ones beside it are") {
  Stepped device;
  Workbench& bench = device.bench;
  const StreamRef stream = bench.stream();
  const auto targets = bench.pinned(3);
  const auto fill = [&](std::size_t which) {
    return bench.device().fill(stream, &targets[which], std::byte{1}, 1);
  };
  device.stepper->refuse_call(2);
  must(fill(0));
  const auto refused = fill(1);
  require_refused(refused, ErrorCode::kFailure, "DEVICE_CALL_FAILED");
  CHECK(refused.error().message.find("refuse_call") != std::string::npos);
  must(fill(2));
  device.stepper->refuse_call(1);
  device.stepper->refuse_call(0);
  bench.finish(stream);
  CHECK(targets[0] == std::byte{1});
  CHECK(targets[1] == std::byte{0});
  CHECK(targets[2] == std::byte{1});
}

TEST_CASE("a lost device drops its work, says why once, and then answers by code alone") {
  Stepped device;
  Workbench& bench = device.bench;
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  const auto target = bench.pinned(1);
  bool ran = false;
  device.stepper->stall(stream);
  must(bench.device().fill(stream, target.data(), std::byte{1}, 1));
  must(bench.device().launch_host(stream, [to = &ran] { *to = true; }));
  must(bench.device().record(event, stream));
  Outcome waited;
  std::jthread waiter([&] { waited = bench.device().synchronize(event); });
  device.stepper->lose_device();
  waiter.join();  // a wait that is under way ends, too

  const Outcome later = bench.device().record(event, stream);
  require_refused(waited, ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(later, ErrorCode::kFailure, "DEVICE_LOST");
  CHECK(waited.error().message.find("emulated:0") != std::string::npos);
  CHECK(later.error().message.empty());
  require_refused(bench.device().is_complete(event), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(bench.device().synchronize(stream), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(bench.device().create_stream({}), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(bench.device().allocate(MemoryKind::kPinnedHost, 1), ErrorCode::kFailure,
                  "DEVICE_LOST");
  require_refused(bench.device().check_launch(), ErrorCode::kFailure, "DEVICE_LOST");
  device.stepper->resume(stream);
  CHECK_FALSE(ran);
  CHECK(target[0] == std::byte{0});
}

TEST_CASE("a device is lost after exactly as many operations as were said, tasks included") {
  const bool tasks = GENERATE(false, true);
  CAPTURE(tasks);
  Stepped device;
  Workbench& bench = device.bench;
  const StreamRef stream = bench.stream();
  const auto targets = bench.pinned(5);
  device.stepper->pause();
  for (std::byte& target : targets) {
    must(tasks ? bench.device().launch_host(stream, [to = &target] { *to = std::byte{1}; })
               : bench.device().fill(stream, &target, std::byte{1}, 1));
  }
  device.stepper->lose_device_after(3);
  device.stepper->resume();
  require_refused(bench.device().synchronize(stream), ErrorCode::kFailure, "DEVICE_LOST");
  CHECK(all_equal(targets.first(3), std::byte{1}));
  CHECK(all_equal(targets.last(2), std::byte{0}));
}

TEST_CASE("the loss of a device frees who waits for a place in a full queue") {
  Stepped device({}, 4);
  Workbench& bench = device.bench;
  const StreamRef stream = bench.stream();
  const auto target = bench.pinned(1);
  device.stepper->stall(stream);
  std::atomic<int> queued{0};
  std::jthread caller([&] {
    while (bench.device().fill(stream, target.data(), std::byte{1}, 1)) {
      ++queued;
    }
  });
  CHECK(eventually([&] { return queued == 4; }));
  device.stepper->lose_device();
  caller.join();
  CHECK(target[0] == std::byte{0});
}

TEST_CASE("a host task that waits behind another one is dropped by the loss of the device") {
  Stepped device;
  Workbench& bench = device.bench;
  const StreamRef first = bench.stream();
  const StreamRef second = bench.stream();
  const StreamRef other = bench.stream();
  bool ran = false;
  {
    StreamGate gate(first);
    gate.wait_until_reached();
    must(bench.device().launch_host(second, [to = &ran] { *to = true; }));
    for (int i = 0; i < 20; ++i) {  // the device has the time to set it aside
      bench.finish(other);
    }
    device.stepper->lose_device();
  }
  require_refused(bench.device().synchronize(second), ErrorCode::kFailure, "DEVICE_LOST");
  CHECK_FALSE(ran);
}

TEST_CASE("dropped work is never reported as done, however the loss falls") {
  int reported = 0;
  for (int round = 0; round < 100; ++round) {
    Stepped device;
    const StreamRef stream = device.bench.stream();
    const EventRef event = device.bench.event();
    device.stepper->stall(stream);
    must(device.bench.device().record(event, stream));
    std::atomic<bool> polling{false};
    std::jthread poller([&] {
      expected<bool, Error> complete = false;
      while (complete && !*complete) {
        complete = device.bench.device().is_complete(event);
        polling = true;
      }
      reported += complete ? 1 : 0;
    });
    while (!polling) {
    }
    device.stepper->lose_device();
    poller.join();
  }
  CHECK(reported == 0);
}

TEST_CASE("another device's wait for an event of a lost device opens") {
  Stepped lost;
  Stepped alive;
  const StreamRef producer = lost.bench.stream();
  const StreamRef consumer = alive.bench.stream();
  const EventRef ready = lost.bench.event();
  lost.stepper->stall(producer);
  must(lost.bench.device().record(ready, producer));
  must(alive.bench.device().wait(consumer, ready));
  lost.stepper->lose_device();
  alive.bench.finish(consumer);
}

TEST_CASE("a host task may drop the last owner of a stepped device") {
  struct LastOwner {
    std::shared_ptr<Device> device;
    std::atomic<bool> dropped{false};
  };
  LastOwner last;
  last.device = must(
      open_device({DeviceKind::kEmulated, 0}, {{.stepper = std::make_shared<EmulatedStepper>()}}));
  const std::weak_ptr<Device> watch = last.device;
  Stream stream = must(last.device->create_stream({}));
  {
    StreamGate gate(stream.ref());
    must(last.device->launch_host(stream.ref(), [to = &last] {
      to->device.reset();
      to->dropped = true;
    }));
    stream = Stream{};
  }
  REQUIRE(eventually([&] { return last.dropped.load(); }));
  CHECK(watch.expired());
}

TEST_CASE("a stepped device without streams closes, and one with work waits for it") {
  static_cast<void>(must(
      open_device({DeviceKind::kEmulated, 0}, {{.stepper = std::make_shared<EmulatedStepper>()}})));
  bool ran = false;  // plain: closing is what makes it visible
  {
    auto device = must(open_device({DeviceKind::kEmulated, 0},
                                   {{.stepper = std::make_shared<EmulatedStepper>()}}));
    const Stream stream = must(device->create_stream({}));
    must(device->launch_host(stream.ref(), [to = &ran] { *to = true; }));
  }
  CHECK(ran);
}

}  // namespace weftline::testing
