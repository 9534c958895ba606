// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

#include "device_under_test.hpp"
#include "weftline/cuda/in_flight_window.hpp"
#include "weftline/testing/allocation_count.hpp"

// Part of the conformance suite of Device: pacing by events.

namespace weftline::testing {

TEST_CASE("a window lets in no more frames than it has, until the oldest is done") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  const auto target = bench.pinned(1);
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 3));
  CHECK(window.frames() == 3);
  StreamGate gate(stream);
  for (int frame = 0; frame < 3; ++frame) {
    REQUIRE(must(window.try_enter()));
    must(bench.device().fill(stream, target.data(), std::byte{1}, 1));
    must(window.leave(stream));
  }
  gate.wait_until_reached();
  for (int i = 0; i < 10; ++i) CHECK_FALSE(must(window.try_enter()));
  gate.open();
  bench.finish(stream);
  for (int frame = 0; frame < 3; ++frame) CHECK(must(window.try_enter()));
  CHECK_FALSE(must(window.try_enter()));
  CHECK(window.waits() == 0);
}

TEST_CASE(
    "frames of a window are done in the order in which they left, whatever their streams do") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef slow = bench.stream();
  const StreamRef quick = bench.stream();
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 2));
  StreamGate gate(slow);
  for (const StreamRef stream : {slow, quick}) {
    REQUIRE(must(window.try_enter()));
    must(window.leave(stream));
  }
  bench.finish(quick);
  CHECK_FALSE(must(window.try_enter()));
  gate.open();
  bench.finish(slow);
  CHECK(must(window.try_enter()));
  CHECK(must(window.try_enter()));
}

TEST_CASE("a full window that is told to wait waits for the oldest frame, and counts that") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  int value = 0;  // plain: the wait is what makes the task's write visible
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 1));
  must(window.enter());
  StreamGate gate(stream);
  must(bench.device().launch_host(stream, [to = &value] { *to = 1; }));
  must(window.leave(stream));
  bool waited = false;
  std::jthread opener([&] {
    waited = eventually([&] { return window.waits() == 1; });
    gate.open();
  });
  must(window.enter());
  CHECK(value == 1);
  opener.join();
  CHECK(waited);

  must(window.leave(stream));
  bench.finish(stream);
  must(window.enter());
  CHECK(window.waits() == 1);  // the frame was done
}

TEST_CASE("a window waits for no frame that has not left, and a frame may leave without a stream") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 1));
  must(window.enter());
  CHECK_FALSE(must(window.try_enter()));
  require_refused(window.enter(), ErrorCode::kNotReady, "DEVICE_WINDOW_OLDEST_NOT_LEFT");
  must(window.leave({}));
  must(window.enter());
  CHECK(window.waits() == 0);
}

TEST_CASE("a window refuses what makes no sense, and the frame stays") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Workbench another(open_or_skip(subject.open_other));
  const StreamRef stream = bench.stream();
  require_refused(InFlightWindow::create(bench.device(), 0), ErrorCode::kInvalidArgument,
                  "DEVICE_WINDOW_FRAMES");
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 1));
  require_refused(window.leave(stream), ErrorCode::kInvalidArgument, "DEVICE_WINDOW_NOT_ENTERED");
  must(window.enter());
  require_refused(window.leave(another.stream()), ErrorCode::kInvalidArgument,
                  "DEVICE_FOREIGN_OBJECT");
  require_refused(window.leave(StreamRef(bench.device(), nullptr)), ErrorCode::kInvalidArgument,
                  "DEVICE_NULL_OBJECT");
  CHECK_FALSE(must(window.try_enter()));
  must(window.leave(stream));
  require_refused(window.leave(stream), ErrorCode::kInvalidArgument, "DEVICE_WINDOW_NOT_ENTERED");
  bench.finish(stream);
  CHECK(must(window.try_enter()));

  InFlightWindow moved = std::move(window);
  CHECK(moved.frames() == 1);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  require_refused(window.try_enter(), ErrorCode::kInvalidArgument, "DEVICE_WINDOW_EMPTY");
  require_refused(window.enter(), ErrorCode::kInvalidArgument, "DEVICE_WINDOW_EMPTY");
  require_refused(window.leave(stream), ErrorCode::kInvalidArgument, "DEVICE_WINDOW_EMPTY");
  CHECK(window.waits() == 0);
  CHECK(window.frames() == 0);
  // NOLINTEND(bugprone-use-after-move)
  must(moved.leave({}));
}

TEST_CASE("a window paces a producer by the last stage of its frames, on another thread") {
  constexpr std::uint64_t kFrames = 300;
  constexpr std::uint64_t kWindow = 3;
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  const StreamRef last = bench.stream();
  InFlightWindow window = must(InFlightWindow::create(bench.device(), kWindow));
  const EventRef filled = bench.event();
  std::atomic<std::uint64_t> emitted{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<int> wrong{0};
  std::jthread stage([&] {
    for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
      if (!eventually([&] { return emitted.load() > frame; })) ++wrong;
      Device& device = bench.device();
      wrong += device.wait(last, filled) ? 0 : 1;
      wrong += device.launch_host(last, [count = &done] { ++*count; }) ? 0 : 1;
      wrong += window.leave(last) ? 0 : 1;
    }
  });
  std::uint64_t too_many = 0;
  bool entered = true;
  for (std::uint64_t frame = 0; frame < kFrames && entered; ++frame) {
    entered = eventually([&] {
      const auto room = window.try_enter();
      return room && *room;
    });
    if (done.load() + kWindow < frame + 1) ++too_many;
    must(bench.device().record(filled, stream));
    ++emitted;
  }
  emitted = kFrames;  // the stage ends in any case
  CHECK(entered);
  stage.join();
  bench.finish(last);
  CHECK(wrong == 0);
  CHECK(too_many == 0);
  CHECK(done == kFrames);
}

TEST_CASE("a window allocates nothing once it is made") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const StreamRef stream = bench.stream();
  InFlightWindow window = must(InFlightWindow::create(bench.device(), 2));
  bool good = true;
  const std::uint64_t before = allocations_of_this_thread();
  for (int frame = 0; frame < 20; ++frame) {
    if (frame % 2 == 0) {
      good &= window.enter().has_value();
    } else {
      auto room = window.try_enter();
      good &= room.has_value() && (*room || window.enter().has_value());
    }
    good &= window.leave(stream).has_value();
  }
  const std::uint64_t after = allocations_of_this_thread();
  CHECK(good);
  CHECK(after - before == 0);
}

}  // namespace weftline::testing
