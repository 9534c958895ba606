// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/stream_order_checker.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/outcomes.hpp"
#include "weftline/testing/stream_gate.hpp"

namespace weftline::testing {
namespace {

constexpr auto kNoCuda = [](CUstream_st*) -> expected<void, Error> { return {}; };

/// A watched device with two streams and two blocks. What races is only declared, for the thread
/// sanitizer would find what really does.
struct Watched {
  std::shared_ptr<StreamOrderChecker> checker = std::make_shared<StreamOrderChecker>();
  std::shared_ptr<Device> device =
      must(open_device({DeviceKind::kEmulated, 0}, {.order_checker = checker}));
  Stream first = must(device->create_stream({}));
  Stream second = must(device->create_stream({}));
  Event event = must(device->create_event());
  MemoryBlock block = must(device->allocate(MemoryKind::kPinnedHost, 1024));
  MemoryBlock other = must(device->allocate(MemoryKind::kCudaDevice, 1024));

  ~Watched() {
    must(device->synchronize(first.ref()));
    must(device->synchronize(second.ref()));
  }
  void write(const Stream& stream, std::uint64_t begin = 0, std::uint64_t bytes = 1024) {
    const MemoryAccess range{block.data() + begin, bytes};
    must(launch(
        stream.ref(), {}, {&range, 1}, [] {}, kNoCuda));
  }
  void read(const Stream& stream, std::uint64_t begin = 0, std::uint64_t bytes = 1024) {
    const MemoryAccess range{block.data() + begin, bytes};
    must(launch(
        stream.ref(), {&range, 1}, {}, [] {}, kNoCuda));
  }
  [[nodiscard]] std::uint64_t reports() const { return checker->report_count(); }
};

}  // namespace

TEST_CASE("a read on another stream without a wait is reported, with both sides and the edge") {
  Watched on;
  on.checker->name_memory(on.block.data() + 512, 256, "slot 2 of pool 'gray'");
  const StreamOrderActivity outer("camera");
  on.write(on.first, 512, 256);
  {
    const StreamOrderActivity inner("pipeline.blur");
    on.read(on.second, 640, 64);
  }
  const auto reports = on.checker->take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(
      reports[0].to_string() ==
      "stream order: launch (read) on stream 2 of emulated:0 [pipeline.blur] is not ordered after "
      "launch (write) on stream 1 of emulated:0 [camera] of 64 bytes at 128 in slot 2 of pool "
      "'gray'. Missing: nothing makes stream 2 of emulated:0 wait for the launch: record an event "
      "on "
      "stream 1 of emulated:0 after it, and let stream 2 of emulated:0 wait for the event before "
      "the later use.");
  CHECK(on.checker->take_reports().empty());
  CHECK(on.reports() == 1);
}

TEST_CASE("a schedule that happens to be kind hides nothing: the write was long over") {
  Watched on;
  on.write(on.first);
  // Somebody knows that the work is over, but not the second stream, and not by the device.
  std::atomic<bool> over{false};
  must(launch(
      on.first.ref(), {}, {}, [to = &over] { to->store(true); }, kNoCuda));
  REQUIRE(eventually([&] { return over.load(); }));
  on.read(on.second);
  CHECK(on.reports() == 1);
}

TEST_CASE("an event that the reader waits for orders it, on one stream or across devices") {
  Watched on;
  on.write(on.first);
  must(on.device->record(on.event.ref(), on.first.ref()));
  SECTION("of this device") {
    must(on.device->wait(on.second.ref(), on.event.ref()));
    on.read(on.second);
  }
  SECTION("of another device with the same checker") {
    DeviceOptions options{.order_checker = on.checker};
    options.emulated.device_count = 2;
    const auto neighbour = must(open_device({DeviceKind::kEmulated, 1}, options));
    const Stream far = must(neighbour->create_stream({}));
    must(neighbour->wait(far.ref(), on.event.ref()));
    must(neighbour->copy(far.ref(), on.other.data(), on.block.data(), 1024));
    must(neighbour->synchronize(far.ref()));
  }
  CHECK(on.reports() == 0);
}

TEST_CASE("a wait keeps the record that it was given, and orders nothing after it") {
  Watched on;
  must(on.device->record(on.event.ref(), on.first.ref()));
  must(on.device->wait(on.second.ref(), on.event.ref()));
  on.write(on.first);
  must(on.device->record(on.event.ref(), on.first.ref()));
  on.read(on.second);
  CHECK(on.reports() == 1);
}

TEST_CASE("what the host has seen complete is before all that it asks for afterwards") {
  Watched on;
  on.write(on.first);
  must(on.device->record(on.event.ref(), on.first.ref()));
  SECTION("by a wait for the event") { must(on.device->synchronize(on.event.ref())); }
  SECTION("by a wait for the stream") { must(on.device->synchronize(on.first.ref())); }
  SECTION("by asking") { REQUIRE(completes(on.event.ref())); }
  SECTION("by a host task behind it") {
    StreamGate gate(on.first.ref());
    gate.wait_until_reached();
    on.read(on.second);
    CHECK(on.reports() == 0);
    return;
  }
  on.read(on.second);
  CHECK(on.reports() == 0);
}

TEST_CASE("asking in vain orders nothing, and neither does a step of launch()") {
  Watched on;
  SECTION("a question whose answer is no") {
    StreamGate gate(on.first.ref());
    on.write(on.first);
    must(on.device->record(on.event.ref(), on.first.ref()));
    CHECK_FALSE(must(on.device->is_complete(on.event.ref())));
    on.read(on.second);
  }
  SECTION("a step that has run") {
    std::atomic<bool> ran{false};
    const MemoryAccess all{on.block.data(), 1024};
    must(launch(
        on.first.ref(), {}, {&all, 1}, [to = &ran] { to->store(true); }, kNoCuda));
    REQUIRE(eventually([&] { return ran.load(); }));
    on.read(on.second);
  }
  CHECK(on.reports() == 1);
}

TEST_CASE("only uses of the same bytes conflict, and only where one of them writes") {
  Watched on;
  on.write(on.first, 0, 512);
  on.read(on.second, 512, 512);
  on.write(on.second, 512, 512);
  on.read(on.second, 513, 1);
  must(on.device->synchronize(on.first.ref()));
  must(on.device->synchronize(on.second.ref()));
  on.read(on.first, 0, 512);
  on.read(on.second, 0, 512);
  CHECK(on.reports() == 0);
  on.write(on.second, 511, 2);  // read by the first stream, up to 511
  CHECK(on.reports() == 1);
}

TEST_CASE("copies and fills declare what they read and write") {
  Watched on;
  const int owner = 0;
  const MemoryAccess all{on.block.data(), 1024};
  const auto first_operation = [&] {
    const auto reports = on.checker->take_reports();
    REQUIRE(reports.size() == 1);
    return reports[0].later.operation + (reports[0].later.use == MemoryUse::kWrite ? "!" : "?");
  };
  on.checker->begin_use(&owner, {}, MemoryUse::kRead, all, "host's phase");
  must(on.device->copy(on.first.ref(), on.other.data(), on.block.data(), 1024));
  CHECK(on.reports() == 0);
  must(on.device->copy(on.first.ref(), on.block.data(), on.other.data(), 1024));
  CHECK(first_operation() == "copy!");
  must(on.device->fill(on.first.ref(), on.block.data(), std::byte{1}, 1024));
  CHECK(first_operation() == "fill!");
  on.checker->end_uses(&owner);
  must(on.device->synchronize(on.first.ref()));
  on.checker->begin_use(&owner, {}, MemoryUse::kWrite, all, "host's phase");
  must(on.device->copy(on.first.ref(), on.other.data(), on.block.data(), 1024));
  CHECK(first_operation() == "copy?");
  on.checker->end_uses(&owner);
}

TEST_CASE("launch() declares what its step reads and writes") {
  Watched on;
  const MemoryAccess half{on.block.data(), 512};
  const auto step = [&](const Stream& stream, bool writes) {
    const std::span<const MemoryAccess> none{};
    must(launch(
        stream.ref(), writes ? none : std::span(&half, 1), writes ? std::span(&half, 1) : none,
        [] {}, kNoCuda));
  };
  step(on.first, false);
  step(on.second, false);
  CHECK(on.reports() == 0);
  step(on.second, true);
  CHECK(on.reports() == 1);
  CHECK(on.checker->take_reports().at(0).earlier.operation == "launch");
}

TEST_CASE("a fence word is an edge from the stream that writes it to the one that waits") {
  Watched on;
  const MemoryBlock page = must(on.device->allocate(MemoryKind::kPinnedHost, 64));
  auto* const place = reinterpret_cast<std::uint64_t*>(page.data());
  *place = 0;
  FenceWords& words = *must(on.device->fence_words());
  const FenceWord word = must(words.word(place));
  SECTION("written first") {
    on.write(on.first);
    must(words.write(on.first.ref(), word, 7));
    must(words.wait(on.second.ref(), word, 7));
    on.read(on.second);
    CHECK(on.reports() == 0);
  }
  SECTION("awaited first, and only later uses are checked") {
    must(words.wait(on.second.ref(), word, 7));
    on.read(on.second, 0, 512);
    on.write(on.first);
    must(words.write(on.first.ref(), word, 8));
    on.read(on.second, 512, 512);
    CHECK(on.reports() == 0);
    on.write(on.first);
    CHECK(on.reports() == 1);  // the reads of the second stream
  }
  SECTION("a word that is not there yet when the bytes are written") {
    must(words.write(on.first.ref(), word, 7));
    on.write(on.first);
    must(words.wait(on.second.ref(), word, 7));
    on.read(on.second);
    CHECK(on.reports() == 1);
  }
  SECTION("opened by the host, which shows when the wait is seen to have passed") {
    must(words.wait(on.second.ref(), word, 7));
    must(on.device->record(on.event.ref(), on.second.ref()));
    on.write(on.first);
    must(on.device->synchronize(on.first.ref()));
    word.store(7);
    must(on.device->synchronize(on.event.ref()));
    on.read(on.second);
    CHECK(on.reports() == 0);
    on.write(on.first);
    CHECK(on.reports() == 1);
  }
  must(on.device->synchronize(on.second.ref()));
}

TEST_CASE("a phase lasts until its owner ends it") {
  Watched on;
  const int owner = 0;
  const MemoryAccess all{on.block.data(), 1024};
  SECTION("a write on a stream") {
    on.checker->begin_use(&owner, on.first.ref(), MemoryUse::kWrite, all, "write phase");
    must(on.device->record(on.event.ref(), on.first.ref()));
    must(on.device->wait(on.second.ref(), on.event.ref()));
    on.write(on.first);  // what the phase is for
    SECTION("a reader that comes before its end") {
      on.read(on.second);
      const auto reports = on.checker->take_reports();
      REQUIRE(reports.size() == 1);
      CHECK(reports[0].earlier.open);
      CHECK(reports[0].missing_edge() ==
            "the write phase is not over: the earlier side commits, or drops its last handle, "
            "before the later one begins");
    }
    SECTION("a reader after its end, in order") {
      on.checker->end_uses(&owner);
      must(on.device->record(on.event.ref(), on.first.ref()));
      must(on.device->wait(on.second.ref(), on.event.ref()));
      on.read(on.second);
      CHECK(on.reports() == 0);
    }
  }
  SECTION("reads on two streams, and the next writer knows of one") {
    on.checker->begin_use(&owner, on.first.ref(), MemoryUse::kRead, all, "received tensor");
    on.checker->begin_use(&owner, on.second.ref(), MemoryUse::kRead, all, "received tensor");
    on.checker->begin_use(&owner, on.second.ref(), MemoryUse::kRead, all, "received tensor");
    on.checker->end_uses(&owner);
    must(on.device->synchronize(on.first.ref()));
    on.checker->begin_use(&owner, {}, MemoryUse::kWrite, all, "host write phase");
    const auto reports = on.checker->take_reports();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].later.place == "the host");
    CHECK(reports[0].missing_edge() ==
          "the host has not seen the received tensor complete: record an event on stream 2 of "
          "emulated:0 after it, and synchronize with the event before the later use");
  }
  SECTION("a host's write, which a stream may read when it is over") {
    on.checker->begin_use(&owner, {}, MemoryUse::kWrite, all, "host write phase");
    on.read(on.first);
    CHECK(on.reports() == 1);
    on.checker->end_uses(&owner);
    on.read(on.second);
    CHECK(on.reports() == 1);
  }
  on.checker->end_uses(&owner);
}

TEST_CASE("a phase is not forgotten for another phase or a step of its own stream") {
  Watched on;
  const int first_owner = 0;
  const int second_owner = 0;
  const MemoryAccess all{on.block.data(), 1024};
  SECTION("a write phase within another that ends earlier") {
    on.checker->begin_use(&first_owner, on.first.ref(), MemoryUse::kWrite, all, "first phase");
    on.checker->begin_use(&second_owner, on.first.ref(), MemoryUse::kWrite, all, "second phase");
    on.checker->end_uses(&first_owner);
  }
  SECTION("a read phase before a step that writes") {
    on.checker->begin_use(&second_owner, on.first.ref(), MemoryUse::kRead, all, "second phase");
    on.write(on.first);
  }
  must(on.device->record(on.event.ref(), on.first.ref()));
  must(on.device->wait(on.second.ref(), on.event.ref()));
  on.write(on.second);
  const auto reports = on.checker->take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].earlier.operation == "second phase");
  on.checker->end_uses(&second_owner);
}

TEST_CASE("memory that is freed and given out again starts anew; memory of nobody is passed over") {
  Watched on;
  const void* freed = nullptr;
  // Declared only: nothing touches memory that is freed. It often comes back at once.
  for (int round = 0; round < 20; ++round) {
    const MemoryBlock block = must(on.device->allocate(MemoryKind::kCudaDevice, 4096));
    const MemoryAccess all{block.data(), 4096};
    on.device->declare_step(round % 2 == 0 ? on.first.ref() : on.second.ref(), {}, {&all, 1});
    freed = block.data();
  }
  const MemoryAccess nobodys{freed, 64};
  on.device->declare_step(on.first.ref(), {}, {&nobodys, 1});
  on.device->declare_step(on.second.ref(), {}, {&nobodys, 1});
  std::array<std::byte, 16> own{};
  const MemoryAccess not_watched{own.data(), own.size()};
  on.device->declare_step(on.first.ref(), {}, {&not_watched, 1});
  on.device->declare_step(on.second.ref(), {}, {&not_watched, 1});
  CHECK(on.reports() == 0);
  must(on.device->synchronize(on.first.ref()));
  must(on.device->synchronize(on.second.ref()));
}

TEST_CASE("streams and events that come and go leave neither order nor names behind") {
  Watched on;
  for (int round = 0; round < 100; ++round) {
    Stream stream = must(on.device->create_stream({}));
    Event event = must(on.device->create_event());
    on.write(stream);
    must(on.device->record(event.ref(), stream.ref()));
    must(on.device->synchronize(event.ref()));
  }
  CHECK(on.reports() == 0);
  {
    Stream stream = must(on.device->create_stream({}));
    on.write(stream);
    must(on.device->record(on.event.ref(), stream.ref()));
  }
  {
    const Stream idle = must(on.device->create_stream({}));
    must(on.device->wait(idle.ref(), on.event.ref()));  // what it knows goes with it
  }
  const Stream next = must(on.device->create_stream({}));
  on.read(next);
  const auto reports = on.checker->take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].earlier.place == "stream 103 of emulated:0");
  CHECK(reports[0].later.place == "stream 105 of emulated:0");
  must(on.device->synchronize(on.event.ref()));
}

TEST_CASE("an event that was never recorded orders nothing, whatever had its place before") {
  Watched on;
  on.write(on.first);
  for (int round = 0; round < 20; ++round) {
    const Event event = must(on.device->create_event());
    must(on.device->wait(on.second.ref(), event.ref()));
    must(on.device->record(event.ref(), on.first.ref()));
  }
  on.read(on.second);
  CHECK(on.reports() == 1);
}

TEST_CASE("at most 64 reports are kept, and all are counted") {
  Watched on;
  for (int round = 0; round < 100; ++round) {
    on.write(on.first);
    on.write(on.second);
  }
  CHECK(on.reports() == 199);
  CHECK(on.checker->take_reports().size() == 64);
}

// Run by the test below, in a process of its own.
TEST_CASE("a planted race", "[.planted-race]") {
  const auto device = must(open_device({DeviceKind::kEmulated, 0}));
  const Stream first = must(device->create_stream({}));
  const Stream second = must(device->create_stream({}));
  const MemoryBlock block = must(device->allocate(MemoryKind::kCudaDevice, 64));
  const MemoryAccess all{block.data(), 64};
  device->declare_step(first.ref(), {}, {&all, 1});
  device->declare_step(second.ref(), {}, {&all, 1});
  must(device->synchronize(first.ref()));
  must(device->synchronize(second.ref()));
}

TEST_CASE("the environment variable WEFTLINE_STREAM_ORDER watches all devices of a process") {
  const auto end_with = [](const char* variable) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const char* const arguments[] = {"self", "[.planted-race]", nullptr};
      const char* const environment[] = {variable, nullptr};
      close(STDERR_FILENO);
      close(STDOUT_FILENO);
      execve("/proc/self/exe", const_cast<char**>(arguments), const_cast<char**>(environment));
      _exit(99);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
  };
  const int aborted = end_with("WEFTLINE_STREAM_ORDER=abort");
  CHECK((WIFSIGNALED(aborted) || WEXITSTATUS(aborted) != 0));
  for (const char* const harmless :
       {"WEFTLINE_STREAM_ORDER=print", "WEFTLINE_STREAM_ORDER=", "OTHER=1"}) {
    CAPTURE(harmless);
    const int status = end_with(harmless);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

}  // namespace weftline::testing
