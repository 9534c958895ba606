// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "in_step.hpp"
#include "pool_fixture.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/tensor/release_set.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::eventually;
using testing::kPatience;
using testing::ScriptedDevice;

// Assertions stay on the main thread: other threads count what is wrong, or say what they wait for.

/// Hands values from one thread to another; a wait that lasts too long is counted and given up.
template <class T>
class Handover {
 public:
  bool push(T value) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (!eventually([&] { return tail - head_.load(std::memory_order_acquire) < kCells; })) {
      return false;
    }
    cells_[tail % kCells] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  std::optional<T> pop() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (!eventually([&] { return tail_.load(std::memory_order_acquire) != head; })) {
      return std::nullopt;
    }
    T value = std::move(cells_[head % kCells]);
    head_.store(head + 1, std::memory_order_release);
    return value;
  }

 private:
  static constexpr std::size_t kCells = 2;
  std::array<T, kCells> cells_{};
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

/// A lane's way of waiting for a slot: sleeps on the callback, polls only when told to.
class SlotWaiter {
 public:
  explicit SlotWaiter(TensorPool& pool) : pool_(pool) {
    pool.set_return_callback(
        {[](void* self) noexcept { static_cast<SlotWaiter*>(self)->wake_.release(); }, this});
  }
  ~SlotWaiter() { pool_.set_return_callback({}); }

  /// False when no slot came back: a wake was lost.
  bool wait() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!pool_.has_free_slot()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (pool_.waits_for_device()) {
        std::this_thread::yield();
      } else if (!wake_.try_acquire_for(kPatience)) {
        return false;
      }
    }
    return true;
  }

 private:
  TensorPool& pool_;
  std::counting_semaphore<> wake_{0};
};

TEST_CASE("no wake is lost between a lane that looks for a slot and threads that drop handles") {
  constexpr std::size_t kConsumers = 2;
  Rounds rounds(100'000);
  TensorPool pool = must_build(host_options(1));
  SlotWaiter waiter(pool);
  std::array<Handover<Tensor>, kConsumers> handovers;
  std::atomic<std::uint64_t> received{0};
  {
    std::vector<std::jthread> consumers;
    for (auto& handover : handovers) {
      consumers.emplace_back([&handover, &received] {
        while (handover.pop().value_or(Tensor{})) received.fetch_add(1, std::memory_order_relaxed);
      });
    }
    while (rounds.next()) {
      if (!waiter.wait()) break;
      const Tensor tensor = publish_one(pool);
      for (auto& handover : handovers) {
        if (!handover.push(tensor)) break;
      }
    }
    for (auto& handover : handovers) static_cast<void>(handover.push({}));  // the end
  }
  INFO("a smaller count means that the producer never heard of a returned slot");
  CHECK(received == rounds.begun() * kConsumers);
  CHECK(pool.usage().loans == rounds.begun());
  CHECK(pool.has_free_slot());
}

// What may go wrong lasts for nanoseconds: both sides miss what the other has just done. So each
// round moves the question towards the drop: later when it came too early to see it, else earlier.
TEST_CASE("a drop during the question for a slot is seen by the question or calls back") {
  constexpr int kOver = -1;
  Rounds rounds(200'000);
  TensorPool pool = must_build(host_options(1));
  std::atomic<int> wakes{0};
  pool.set_return_callback(
      {[](void* context) noexcept { ++*static_cast<std::atomic<int>*>(context); }, &wakes});
  Tensor tensor;
  std::atomic<int> started{0};
  std::atomic<int> dropped{0};
  std::jthread dropper([&] {
    for (int round = 0; await_change(started, round) == round + 1; ++round) {
      tensor = {};
      dropped.store(round + 1, std::memory_order_release);
    }
  });
  int lost = 0;
  int delay = 0;
  bool answered = true;
  while (rounds.next()) {
    const int round = static_cast<int>(rounds.begun());
    tensor = publish_one(pool);
    const int wakes_before = wakes;
    started.store(round, std::memory_order_release);
    dawdle(delay + round % 8);
    const bool seen = pool.has_free_slot();
    delay = std::clamp(delay + (seen ? -1 : 1), 0, 4000);
    answered = await_change(dropped, round - 1) == round;
    if (!answered) break;
    if (!seen && wakes == wakes_before) ++lost;
  }
  started.store(kOver, std::memory_order_release);
  CHECK(answered);
  CHECK(lost == 0);
}

struct Frame {
  Tensor tensor{};
  std::uint64_t number{0};
};

constexpr std::size_t kWords = 512;
constexpr std::array<std::int64_t, 1> kFrameShape{kWords};
constexpr TensorLoanRequest kFrameRequest{.shape = kFrameShape, .dtype = {kDLUInt, 64, 1}};

/// Writes a frame's number all over it, on the stream or at once, and publishes it.
expected<Tensor, Error> produce(TensorPool& pool, StreamRef producer, std::uint64_t number) {
  WEFTLINE_ASSIGN(TensorOutputLoan loan, pool.allocate(kFrameRequest, producer));
  const StreamRef phase = number % 3 == 0 ? StreamRef{} : producer;
  WEFTLINE_TRY(loan.write_and_commit(phase, [&](void* data, std::uint64_t) {
    auto* words = static_cast<std::uint64_t*>(data);
    return launch(
        phase, {}, {}, [=] { std::fill_n(words, kWords, number); },
        [](CUstream_st*) { return expected<void, Error>{}; });
  }));
  return publish(std::move(loan));
}

/// Queues a check of the whole frame on the consumer's stream, then drops the handle at once.
expected<void, Error> consume(Frame frame, StreamRef consumer, std::atomic<int>& wrong_words) {
  WEFTLINE_TRY(frame.tensor.prepare_for_consumer(consumer));
  const auto* words = frame.tensor.data_as<std::uint64_t>();
  return launch(
      consumer, {}, {},
      [=, number = frame.number, wrong = &wrong_words] {
        const auto right = std::count(words, words + kWords, number);
        wrong->fetch_add(static_cast<int>(kWords) - static_cast<int>(right));
      },
      [](CUstream_st*) { return expected<void, Error>{}; });
}

/// The same, and the check itself drops the handle, in its host task.
expected<void, Error> consume_and_drop_in_task(Frame frame, StreamRef consumer,
                                               std::atomic<int>& wrong_words) {
  WEFTLINE_TRY(frame.tensor.prepare_for_consumer(consumer));
  auto held = std::make_unique<Frame>(std::move(frame));
  WEFTLINE_TRY(consumer.device()->launch_host(consumer, [from = held.get(), wrong = &wrong_words] {
    const std::unique_ptr<Frame> mine(from);
    const auto* words = mine->tensor.data_as<std::uint64_t>();
    const auto right = std::count(words, words + kWords, mine->number);
    wrong->fetch_add(static_cast<int>(kWords) - static_cast<int>(right));
  }));
  static_cast<void>(held.release());
  return {};
}

// Rules 3 and 4 under load: a slot that is reused early, or read before it is ready, shows as a
// word of another frame.
TEST_CASE("three consumers, one of which drops in host tasks, read every frame whole") {
  constexpr std::size_t kConsumers = 3;
  Rounds frames(6000);
  const auto device = must(open_device({DeviceKind::kEmulated, 0}));
  const Stream producer = must(device->create_stream({}));
  std::array<Stream, kConsumers> streams;
  for (Stream& stream : streams) stream = must(device->create_stream({}));

  TensorPool pool = must(TensorPool::build({.name = "stress.frame",
                                            .memory_kind = MemoryKind::kPinnedHost,
                                            .device = device,
                                            .slot_bytes = kWords * sizeof(std::uint64_t),
                                            .slot_count = 3}));
  SlotWaiter waiter(pool);
  std::array<Handover<Frame>, kConsumers> handovers;
  std::atomic<int> wrong_words{0};
  std::atomic<int> failures{0};
  std::atomic<std::uint64_t> checked{0};
  {
    std::vector<std::jthread> consumers;
    for (std::size_t index = 0; index < kConsumers; ++index) {
      consumers.emplace_back([&, index] {
        for (;;) {
          std::optional<Frame> frame = handovers[index].pop();
          if (!frame || !frame->tensor) return;
          const auto read = index == 0 ? consume_and_drop_in_task : consume;
          if (read(std::move(*frame), streams[index].ref(), wrong_words)) {
            ++checked;
          } else {
            ++failures;
          }
        }
      });
    }
    while (frames.next()) {
      if (!waiter.wait()) break;
      auto tensor = produce(pool, producer.ref(), frames.begun());
      if (!tensor) {
        ++failures;
        break;
      }
      for (auto& handover : handovers) {
        if (!handover.push({*tensor, frames.begun()})) break;
      }
    }
    for (auto& handover : handovers) static_cast<void>(handover.push({}));  // the end
  }
  must(device->synchronize(producer.ref()));
  for (const Stream& stream : streams) must(device->synchronize(stream.ref()));

  CHECK(failures == 0);
  CHECK(wrong_words == 0);
  CHECK(checked == frames.begun() * kConsumers);
  CHECK(pool.usage().loans == frames.begun());
  CHECK(pool.usage().quarantined == 0);
  CHECK(pool.usage().host_waits.total() == 0);
  // What a host task has dropped is recorded by the next look, and passes after it.
  std::vector<TensorOutputLoan> all;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(testing::eventually([&] { return pool.has_free_slot(); }));
    all.push_back(must(pool.allocate(kFrameRequest, producer.ref())));
  }
}

TEST_CASE("threads that register the same streams at once enter each of them once") {
  constexpr std::uint32_t kStreams = 8;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  const auto device = ScriptedDevice::make();
  device->log_calls(false);
  std::vector<Stream> streams;
  for (std::uint32_t i = 0; i <= kStreams; ++i) streams.push_back(must(device->create_stream({})));
  ReleaseSet set;
  must(set.build(device, kStreams));

  std::atomic<int> refused{0};
  std::atomic<int> overfull{0};
  std::barrier round_done(kThreads, [&]() noexcept {
    // All eight are in, so a ninth has no room, unless one was entered twice and then refused.
    if (set.add(streams[kStreams].ref())) ++overfull;
    set.clear();
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937 random(static_cast<std::uint32_t>(thread));
        std::array<std::size_t, kStreams> order;
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int round = 0; round < kRounds; ++round) {
          std::shuffle(order.begin(), order.end(), random);
          for (const std::size_t index : order) {
            if (!set.add(streams[index].ref())) ++refused;
          }
          round_done.arrive_and_wait();
        }
      });
    }
  }
  CHECK(refused == 0);
  CHECK(overfull == 0);
}

TEST_CASE("a pool and its last handles may go away at the same time on different threads") {
  constexpr int kRounds = 3000;
  struct Wakes {
    std::atomic<int> count{0};
  };
  std::optional<TensorPool> pool;
  std::unique_ptr<Wakes> wakes;
  std::array<Tensor, 2> handles;
  std::barrier step(3);
  std::vector<std::jthread> droppers;
  for (Tensor& handle : handles) {
    droppers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        step.arrive_and_wait();
        handle = {};
        step.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    wakes = std::make_unique<Wakes>();
    pool.emplace(must_build(host_options(2)));
    pool->set_return_callback(
        {[](void* context) noexcept { ++static_cast<Wakes*>(context)->count; }, wakes.get()});
    for (Tensor& handle : handles) handle = publish_one(*pool);
    static_cast<void>(pool->has_free_slot());  // arms the callback
    step.arrive_and_wait();
    pool.reset();
    wakes.reset();  // a callback from now on would write to freed memory
    step.arrive_and_wait();
  }
  SUCCEED("the sanitizers have the word here");
}

}  // namespace
}  // namespace weftline
