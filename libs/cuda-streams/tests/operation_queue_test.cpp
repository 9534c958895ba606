// SPDX-License-Identifier: Apache-2.0
#include "operation_queue.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <thread>

#include "emulated_event.hpp"

namespace weftline::cuda_streams {

TEST_CASE("an event's time is that of its last record, in whatever order records are reached") {
  EmulatedEvent event(true);
  const RecordStamp first = event.begin_record();
  const RecordStamp second = event.begin_record();
  second.time->reach(second.record);
  const auto time = event.time_of_last_record();
  REQUIRE(time.has_value());
  first.time->reach(first.record);
  CHECK(event.time_of_last_record().value() == *time);
  static_cast<void>(event.begin_record());
  CHECK(event.time_of_last_record().error().token == "DEVICE_EVENT_INCOMPLETE");
}

TEST_CASE("a wait that is done does not keep the other stream's timeline alive") {
  OperationQueue queue(4, std::make_shared<HardwareQueue>());
  auto other = std::make_shared<Timeline>();
  const std::weak_ptr<Timeline> watch = other;
  const TimelinePoint done = queue.queue(WaitOperation{{other, 1}});
  StreamOperation* const operation = queue.front();
  REQUIRE(operation != nullptr);
  CHECK_FALSE(is_ready(*operation));
  other->advance();
  CHECK(is_ready(*operation));
  perform(*operation);
  other.reset();
  CHECK_FALSE(watch.expired());
  queue.retire();
  CHECK(watch.expired());
  CHECK(done.reached());
}

TEST_CASE(
    "a queue tells its scheduler of work and of its end, and is at its end when it is empty") {
  int told = 0;
  OperationQueue queue(
      4, std::make_shared<HardwareQueue>(), [](void* who) noexcept { ++*static_cast<int*>(who); },
      &told);
  CHECK(queue.front() == nullptr);
  queue.queue(RecordOperation{});
  CHECK(told == 1);
  queue.close();
  CHECK(told == 2);
  CHECK_FALSE(queue.at_end());
  CHECK(queue.wait_front() == queue.front());
  queue.retire();
  CHECK(queue.at_end());
  CHECK(queue.wait_front() == nullptr);
}

TEST_CASE("between two waits for words a queue holds its hardware queue without a gap") {
  const auto hardware_queue = std::make_shared<HardwareQueue>();
  OperationQueue queue(4, hardware_queue);
  queue.queue(WaitWordOperation{});
  std::atomic<bool> looking{false};
  std::atomic<bool> enough{false};
  std::uint64_t gaps = 0;
  {
    const std::jthread observer([&] {
      while (!enough) {
        gaps += hardware_queue->held() ? 0 : 1;
        looking = true;
      }
    });
    while (!looking) {
      std::this_thread::yield();
    }
    for (int i = 0; i < 50'000; ++i) {
      queue.queue(WaitWordOperation{});
      queue.retire();
    }
    enough = true;
  }
  CHECK(gaps == 0);
  queue.retire();
  CHECK_FALSE(hardware_queue->held());
}

TEST_CASE("a wait for a word holds the hardware queue before what comes ahead of it is done") {
  constexpr std::uint64_t kRounds = 5'000;
  const auto hardware_queue = std::make_shared<HardwareQueue>();
  OperationQueue queue(4, hardware_queue);
  std::atomic<std::uint64_t> looked_at{0};
  // Someone to wake: that takes a while, in which it would show that something else is not done.
  const std::jthread waiter([timeline = queue.last_queued().timeline] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      timeline->wait(2 * round - 1);
    }
  });
  const std::jthread scheduler([&] {
    for (std::uint64_t waits = 0; StreamOperation* const operation = queue.wait_front();
         queue.retire()) {
      waits += waits_for_word(*operation) ? 1 : 0;
      while (looked_at < waits) {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t too_late = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const TimelinePoint ahead = queue.queue(RecordOperation{});
    const TimelinePoint wait = queue.queue(WaitWordOperation{});
    for (int looks = 1; !ahead.reached(); ++looks) {
      if (looks % 1'000 == 0) {
        std::this_thread::yield();  // where there is only one core
      }
    }
    too_late += hardware_queue->held() ? 0 : 1;
    looked_at = round;
    wait.wait();
  }
  queue.close();
  CHECK(too_late == 0);
}

}  // namespace weftline::cuda_streams
