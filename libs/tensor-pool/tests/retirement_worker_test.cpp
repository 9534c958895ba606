// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/retirement_worker.hpp"

#include <sched.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "pool_fixture.hpp"
#include "weftline/tensor/memory_buffer.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::eventually;
using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

struct WorkerBench {
  std::shared_ptr<ScriptedDevice> device{ScriptedDevice::make()};
  Stream stream{must(device->create_stream({}))};
  RetirementWorker worker{must(RetirementWorker::start())};
  WorkerBench() { device->log_calls(false); }
  MemoryBuffer buffer() {
    return must(MemoryBuffer::allocate(device, MemoryKind::kPinnedHost, 64, worker));
  }
  /// A buffer whose stream has not passed, dropped.
  void drop_pending() {
    MemoryBuffer pending = buffer();
    must(pending.set_deallocation_stream(stream.ref()));
  }
};

TEST_CASE("the worker gives a buffer back when its stream has passed") {
  WorkerBench bench;
  bench.drop_pending();
  CHECK(bench.worker.usage().waiting == 1);
  CHECK(bench.worker.usage().retired == 0);
  bench.device->pass(bench.stream.ref());
  CHECK(eventually([&] { return bench.worker.usage().retired == 1; }));
  CHECK(bench.device->live_bytes() == 0);
  // And again, after it slept.
  { const MemoryBuffer another = bench.buffer(); }
  CHECK(eventually([&] { return bench.worker.usage().retired == 2; }));
}

TEST_CASE("a worker that stops keeps what has not passed, and a later look gives it back") {
  WorkerBench bench;
  bench.drop_pending();
  bench.worker.stop();
  CHECK(bench.worker.usage().waiting == 1);
  CHECK(bench.device->live_bytes() == 64);
  bench.drop_pending();  // late
  CHECK(bench.worker.usage().waiting == 2);
  { const MemoryBuffer idle = bench.buffer(); }
  CHECK(bench.device->live_bytes() == std::uint64_t{2} * 64);  // given back by its drop
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().waiting == 2);
  bench.device->pass(bench.stream.ref());
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().waiting == 0);
  CHECK(bench.worker.usage().retired == 2);
  CHECK(bench.device->live_bytes() == 0);
  bench.worker.stop();
}

TEST_CASE("what passed before the worker stops is given back by then") {
  WorkerBench bench;
  for (int i = 0; i < 10; ++i) bench.drop_pending();
  bench.device->pass(bench.stream.ref());
  bench.worker.stop();
  CHECK(bench.worker.usage().retired == 10);
  CHECK(bench.device->live_bytes() == 0);
}

TEST_CASE("a release that can't be recorded is tried again, on the worker") {
  WorkerBench bench;
  bench.worker.stop();
  bench.device->break_operation(Op::kRecord);
  bench.drop_pending();
  bench.device->mend();
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().waiting == 1);
  bench.device->pass(bench.stream.ref());
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().retired == 1);
}

TEST_CASE("what the device can't tell about is kept and counted, and the worker goes on") {
  WorkerBench bench;
  bench.drop_pending();
  bench.device->break_operation(Op::kQuery);
  CHECK(eventually([&] { return bench.worker.usage().unresolved == 1; }));
  CHECK(bench.worker.usage().waiting == 0);
  bench.device->mend();
  { const MemoryBuffer another = bench.buffer(); }
  CHECK(eventually([&] { return bench.worker.usage().retired == 1; }));
  bench.device->pass(bench.stream.ref());
  CHECK(bench.device->live_bytes() == 64);
  bench.worker.stop();
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().unresolved == 0);
  CHECK(bench.worker.usage().retired == 2);
  CHECK(bench.device->live_bytes() == 0);
}

TEST_CASE("the worker may use all of the process's processors, however its maker is pinned") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(getpid(), sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) SKIP("needs two processors");
  std::optional<RetirementWorker> worker;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
    auto started = RetirementWorker::start();
    if (started) worker.emplace(std::move(*started));
  }).join();
  REQUIRE(worker.has_value());
  const auto unpinned = [&] {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      if (name != "weft-retire") continue;
      cpu_set_t own;
      const pid_t thread = std::stoi(task.path().filename().string());
      return sched_getaffinity(thread, sizeof own, &own) == 0 && CPU_EQUAL(&own, &all) != 0;
    }
    return false;
  };
  CHECK(eventually(unpinned));
}

}  // namespace
}  // namespace weftline
