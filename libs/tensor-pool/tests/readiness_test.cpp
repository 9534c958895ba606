// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/readiness.hpp"

#include <catch2/catch_test_macros.hpp>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

struct ReadinessBench {
  std::shared_ptr<ScriptedDevice> device{ScriptedDevice::make()};
  Stream writer{must(device->create_stream({}))};
  Stream reader{must(device->create_stream({}))};
  HostWaitCounters waits{};
  Readiness readiness{};
  ReadinessBench() { must(readiness.build(device)); }
};

TEST_CASE("what a host wrote is ready at once, without a device call") {
  ReadinessBench bench;
  CHECK(bench.readiness.has_contract());
  must(bench.readiness.enqueue_wait(bench.reader.ref()));
  must(bench.readiness.wait_on_host(bench.waits, HostWait::kCopyToHost));
  CHECK(must(bench.readiness.passed()));
  bench.readiness.synchronize();
  CHECK(bench.device->take_calls().empty());
  CHECK(bench.waits.read().total() == 0);
}

TEST_CASE("what a stream wrote is ready when that stream has passed the record") {
  ReadinessBench bench;
  must(bench.readiness.record(bench.writer.ref()));
  CHECK_FALSE(must(bench.readiness.passed()));
  must(bench.readiness.enqueue_wait(bench.reader.ref()));
  CHECK(bench.device->count(Op::kWait, bench.reader.ref()) == 1);
  must(bench.readiness.wait_on_host(bench.waits, HostWait::kCopyToHost));
  CHECK(bench.waits.read().copy_to_host == 1);
  CHECK(must(bench.readiness.passed()));

  must(bench.readiness.record(bench.writer.ref()));
  CHECK_FALSE(must(bench.readiness.passed()));  // a new record starts anew
  bench.readiness.synchronize();
  CHECK(must(bench.readiness.passed()));
}

TEST_CASE("a record that the device refuses leaves the readiness as it was") {
  ReadinessBench bench;
  bench.device->break_operation(Op::kRecord);
  CHECK(refusal(bench.readiness.record(bench.writer.ref())).token == "SCRIPTED_FAILURE");
  CHECK(bench.readiness.kind() == Readiness::Kind::kHostComplete);
}

TEST_CASE("work on bytes of unknown readiness is refused, on a stream and on the host") {
  ReadinessBench bench;
  bench.readiness.set_unknown();
  const Refusal unknown{ErrorCode::kNotSupported, "TENSOR_READINESS_UNKNOWN"};
  CHECK_FALSE(bench.readiness.has_contract());
  CHECK(refusal(bench.readiness.enqueue_wait(bench.reader.ref())) == unknown);
  CHECK(refusal(bench.readiness.wait_on_host(bench.waits, HostWait::kCopyToHost)) == unknown);
  CHECK(bench.waits.read().total() == 0);
  must(bench.readiness.record(bench.writer.ref()));
  CHECK(bench.readiness.has_contract());
}

}  // namespace
}  // namespace weftline
