// SPDX-License-Identifier: Apache-2.0
#include "operation_queue.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>

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

}  // namespace weftline::cuda_streams
