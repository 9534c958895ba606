// SPDX-License-Identifier: Apache-2.0
#include "hardware_queue.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <thread>

#include "device_under_test.hpp"
#include "fence_words_under_test.hpp"
#include "shared_pages.hpp"
#include "step_scheduler.hpp"
#include "weftline/cuda/shared_memory.hpp"
#include "worker_scheduler.hpp"

namespace weftline::testing {
namespace {

/// Each test runs with both schedulers.
bool any_scheduler() {
  const bool stepped = GENERATE(false, true);
  return stepped;
}

std::shared_ptr<Device> open_emulated(bool stepped, EmulatedDeviceOptions options) {
  if (stepped) {
    options.stepper = std::make_shared<EmulatedStepper>();
  }
  return must(open_device({DeviceKind::kEmulated, 0}, {options}));
}

std::shared_ptr<Device> open_with_queues(bool stepped, std::uint32_t hardware_queues) {
  return open_emulated(stepped, {.hardware_queues = hardware_queues});
}

EventRef recorded(Workbench& bench, StreamRef stream) {
  const EventRef event = bench.event();
  must(bench.device().record(event, stream));
  return event;
}

/// Another device has had the time to do something, so this one had it to go wrong.
bool still_pending(Workbench& bench, Workbench& neighbour, EventRef event) {
  const StreamRef stream = neighbour.stream();
  for (int i = 0; i < 20; ++i) {
    neighbour.finish(stream);
  }
  return !must(bench.device().is_complete(event));
}

/// Memory that two devices and other processes reach, with a word at its beginning.
class SharedWord {
 public:
  SharedWord(Device& device, Device& other)
      : word_(registered(device, here_)), word_there_(registered(other, there_)) {}
  [[nodiscard]] FenceWord word() const { return word_; }
  [[nodiscard]] FenceWord word_there() const { return word_there_; }

 private:
  FenceWord registered(Device& device, std::optional<HostRegistration>& registration) {
    registration = must(must(device.shared_memory())
                            ->register_host_memory(pages_.data(), SharedPages::kBytes,
                                                   MemoryAccessMode::kReadWrite));
    return must(must(device.fence_words())->word(reinterpret_cast<std::uint64_t*>(pages_.data())));
  }

  SharedPages pages_;
  std::optional<HostRegistration> here_;
  std::optional<HostRegistration> there_;
  FenceWord word_;
  FenceWord word_there_;
};

}  // namespace

TEST_CASE("with one hardware queue a stream stalls behind another's word, whoever writes it") {
  enum class Writer { kHost, kOtherDevice, kOtherProcess };
  const bool stepped = any_scheduler();
  const Writer writer = GENERATE(Writer::kHost, Writer::kOtherDevice, Writer::kOtherProcess);
  CAPTURE(stepped, static_cast<int>(writer));
  const auto device = open_with_queues(stepped, 1);
  const auto other_device = open_with_queues(stepped, 1);
  const SharedWord shared(*device, *other_device);
  Workbench bench(device);
  Workbench neighbour(other_device);
  const FenceWord word = shared.word();
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  const auto target = bench.pinned(1);

  const PendingWait wait(fence_words_or_skip(bench.device()), waiting, word, 3);
  must(bench.device().fill(other, target.data(), std::byte{1}, 1));
  const EventRef done = recorded(bench, other);
  CHECK(still_pending(bench, neighbour, done));
  CHECK(target[0] == std::byte{0});
  word.store(2);
  CHECK(still_pending(bench, neighbour, done));

  switch (writer) {
    case Writer::kHost:
      word.store(3);
      break;
    case Writer::kOtherDevice:
      must(fence_words_or_skip(neighbour.device())
               .write(neighbour.stream(), shared.word_there(), 3));
      break;
    case Writer::kOtherProcess: {
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        word.store(3);
        _exit(0);
      }
      REQUIRE(waitpid(child, nullptr, 0) == child);
    }
  }
  REQUIRE(completes(done));
  CHECK(target[0] == std::byte{1});
}

TEST_CASE("streams are dealt to hardware queues in turn, and a word stalls those of its own") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 2));
  Workbench neighbour(open_with_queues(stepped, 1));
  const FenceWord word = make_word(bench, 0);
  const StreamRef waiting = bench.stream();
  const StreamRef on_other_queue = bench.stream();
  const StreamRef on_same_queue = bench.stream();
  const StreamRef on_other_queue_too = bench.stream();

  const PendingWait wait(fence_words_or_skip(bench.device()), waiting, word, 1);
  const EventRef stalled = recorded(bench, on_same_queue);
  REQUIRE(completes(recorded(bench, on_other_queue)));
  REQUIRE(completes(recorded(bench, on_other_queue_too)));
  CHECK(still_pending(bench, neighbour, stalled));
  word.store(1);
  REQUIRE(completes(stalled));
}

TEST_CASE("no stream of 32 stalls by default, and the 33rd shares the queue of the first") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_emulated(stepped, {}));
  Workbench neighbour(open_with_queues(stepped, 1));
  FenceWords& words = fence_words_or_skip(bench.device());
  std::array<StreamRef, 32> streams;
  std::array<EventRef, 32> passed;
  std::array<std::optional<PendingWait>, 32> waits;
  std::array<FenceWord, 32> word;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i] = bench.stream();
    word[i] = make_word(bench, 0);
    waits[i].emplace(words, streams[i], word[i], 1);
    passed[i] = recorded(bench, streams[i]);
  }
  const EventRef shares = recorded(bench, bench.stream());
  for (std::size_t i = streams.size(); i-- > 1;) {  // each while all before it wait
    CAPTURE(i);
    word[i].store(1);
    REQUIRE(completes(passed[i]));
    CHECK_FALSE(must(bench.device().is_complete(passed[i - 1])));
  }
  CHECK(still_pending(bench, neighbour, shares));
  word[0].store(1);
  REQUIRE(completes(passed[0]));
  REQUIRE(completes(shares));
}

TEST_CASE("the place of a destroyed stream is dealt again when its work is done, and not before") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 2));
  Device& device = bench.device();
  const FenceWord word = make_word(bench, 0);
  Stream waiting = must(device.create_stream({}));
  const PendingWait wait(fence_words_or_skip(device), waiting.ref(), word, 1);
  const EventRef passed = recorded(bench, waiting.ref());
  waiting = Stream{};  // its wait goes on
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    const Stream stream = must(device.create_stream({}));
    REQUIRE(completes(recorded(bench, stream.ref())));
  }
  CHECK_FALSE(must(device.is_complete(passed)));
  word.store(1);
  REQUIRE(completes(passed));
}

TEST_CASE("more hardware queues than anyone has streams cost nothing") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, std::numeric_limits<std::uint32_t>::max()));
  bench.finish(bench.stream());
}

TEST_CASE("what runs when a word is awaited goes on, and what comes after it stalls") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 1));
  Workbench neighbour(open_with_queues(stepped, 1));
  const FenceWord word = make_word(bench, 0);
  const StreamRef waiting = bench.stream();
  const StreamRef running = bench.stream();
  std::optional<StreamGate> gate(running);
  gate->wait_until_reached();
  const PendingWait wait(fence_words_or_skip(bench.device()), waiting, word, 1);
  const EventRef done = recorded(bench, running);
  gate.reset();  // returns when the task goes on
  CHECK(still_pending(bench, neighbour, done));
  word.store(1);
  REQUIRE(completes(done));
}

TEST_CASE("a wait for an event stalls no other stream") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 1));
  Workbench neighbour(open_with_queues(stepped, 1));
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  const StreamRef elsewhere = neighbour.stream();
  EventRef passed;
  {
    const StreamGate gate(elsewhere);
    must(bench.device().wait(waiting, recorded(neighbour, elsewhere)));
    passed = recorded(bench, waiting);
    REQUIRE(completes(recorded(bench, other)));
    CHECK_FALSE(must(bench.device().is_complete(passed)));
  }
  REQUIRE(completes(passed));
}

TEST_CASE("a wait for a word stalls others when its stream comes to it, and not before") {
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 1));
  Workbench neighbour(open_with_queues(stepped, 1));
  const FenceWord word = make_word(bench, 0);
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  std::optional<StreamGate> gate(waiting);
  const EventRef before_wait = recorded(bench, waiting);
  const PendingWait wait(fence_words_or_skip(bench.device()), waiting, word, 1);
  REQUIRE(completes(recorded(bench, other)));
  gate.reset();
  REQUIRE(completes(before_wait));
  const EventRef stalled = recorded(bench, other);
  CHECK(still_pending(bench, neighbour, stalled));
  word.store(1);
  REQUIRE(completes(stalled));
}

TEST_CASE("two streams of a hardware queue that wait for words hold up a third, each in its turn") {
  const bool stepped = any_scheduler();
  const bool first_opens_first = GENERATE(false, true);
  CAPTURE(stepped, first_opens_first);
  Workbench bench(open_with_queues(stepped, 1));
  Workbench neighbour(open_with_queues(stepped, 1));
  FenceWords& words = fence_words_or_skip(bench.device());
  const std::array word{make_word(bench, 0), make_word(bench, 0)};
  const std::array waiting{bench.stream(), bench.stream()};
  const StreamRef third = bench.stream();
  const PendingWait first(words, waiting[0], word[0], 1);
  const PendingWait second(words, waiting[1], word[1], 1);
  const EventRef done = recorded(bench, third);
  CHECK(still_pending(bench, neighbour, done));
  word[first_opens_first ? 0 : 1].store(1);
  CHECK(still_pending(bench, neighbour, done));
  word[first_opens_first ? 1 : 0].store(1);
  REQUIRE(completes(done));
}

TEST_CASE("no work that was queued after a wait begins before its word, however they race") {
  constexpr std::uint64_t kRounds = 1000;
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_with_queues(stepped, 1));
  Device& device = bench.device();
  FenceWords& words = fence_words_or_skip(device);
  struct Seen {
    FenceWord word;
    std::atomic<std::uint64_t> queued{0};
    std::atomic<std::uint64_t> runs{0};
    std::atomic<std::uint64_t> too_early{0};
  };
  Seen seen{make_word(bench, 0)};
  const StreamRef waiting = bench.stream();
  const std::array others{bench.stream(), bench.stream()};
  {
    const std::jthread writer([&seen] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        while (seen.queued < round) {
          std::this_thread::yield();
        }
        seen.word.store(round);
      }
    });
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      must(words.wait(waiting, seen.word, round));
      must(device.launch_host(others[round % 2], [to = &seen, round] {
        ++to->runs;
        to->too_early += to->word.reached(round) ? 0 : 1;
      }));
      seen.queued = round;
    }
  }
  for (const StreamRef stream : others) {
    bench.finish(stream);
  }
  CHECK(seen.runs == kRounds);
  CHECK(seen.too_early == 0);
}

TEST_CASE("closing an emulated device waits for work that a word of its hardware queue holds up") {
  using namespace cuda_streams;
  const bool stepped = any_scheduler();
  CAPTURE(stepped);
  Workbench bench(open_emulated(stepped, {}));  // the memory of the word outlives the other device
  const FenceWord word = make_word(bench, 0);
  std::unique_ptr<StreamScheduler> scheduler;
  if (stepped) {
    scheduler = std::make_unique<StepScheduler>(std::make_shared<StepperControl>(StepperOptions{}));
  } else {
    scheduler = std::make_unique<WorkerScheduler>();
  }
  const auto hardware_queue = std::make_shared<HardwareQueue>();
  bool ran = false;  // plain: closing is what makes it visible
  OperationQueue& waiting = scheduler->create_queue(4, hardware_queue);
  OperationQueue& other = scheduler->create_queue(4, hardware_queue);
  waiting.queue(WaitWordOperation{word, 1});
  const TimelinePoint done = other.queue(HostTask([to = &ran] { *to = true; }));
  waiting.close();
  other.close();
  std::jthread closer([&] { scheduler.reset(); });
  for (int i = 0; i < 20; ++i) {
    bench.finish(bench.stream());
  }
  CHECK_FALSE(done.reached());
  word.store(1);
  closer.join();
  CHECK(ran);
}

TEST_CASE("a stream that is stalled before its wait for a word has not passed it") {
  const auto stepper = std::make_shared<EmulatedStepper>();
  Workbench bench(
      must(open_device({DeviceKind::kEmulated, 0}, {{.hardware_queues = 1, .stepper = stepper}})));
  Workbench neighbour(open_with_queues(true, 1));
  const FenceWord word = make_word(bench, 1);
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  stepper->stall(waiting);
  must(fence_words_or_skip(bench.device()).wait(waiting, word, 1));
  const EventRef done = recorded(bench, other);
  CHECK(still_pending(bench, neighbour, done));
  stepper->resume(waiting);
  REQUIRE(completes(done));
}

}  // namespace weftline::testing
