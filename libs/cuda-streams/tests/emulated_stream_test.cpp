// SPDX-License-Identifier: Apache-2.0
#include "emulated_stream.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>

namespace weftline::cuda_streams {

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
