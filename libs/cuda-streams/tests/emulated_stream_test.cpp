// SPDX-License-Identifier: Apache-2.0
#include "emulated_stream.hpp"

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
  const auto stream = EmulatedStream::start(16);
  auto other = std::make_shared<Timeline>();
  const std::weak_ptr<Timeline> watch = other;
  const TimelinePoint done = stream->queue(WaitOperation{{other, 1}});
  other->advance();
  done.wait();
  other.reset();
  CHECK(watch.expired());
  stream->close();
  stream->join();
}

}  // namespace weftline::cuda_streams
