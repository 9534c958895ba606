// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "in_step.hpp"
#include "pool_fixture.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/testing/bounded_wait.hpp"

namespace weftline {
namespace {

constexpr std::size_t kWords = 512;
constexpr std::array<std::int64_t, 1> kShape{kWords};
constexpr TensorLoanRequest kRequest{.shape = kShape, .dtype = {kDLUInt, 64, 1}};

/// A pool on an emulated device whose streams really run, and what went wrong there.
class FusedRun {
 public:
  explicit FusedRun(std::uint32_t seed) : random_(seed) {}

  /// Writes, publishes and reads one frame, with a surprise now and then.
  void round(std::uint64_t number) {
    TensorOutputLoan loan = await_loan(random_() % 8 == 0 ? other_.ref() : fused_.ref());
    const bool host_phase = random_() % 4 == 0 && write(loan, {}, number);
    if (!host_phase && !write(loan, producer_, number)) FAIL("a device phase was refused");
    Tensor tensor = must(publish(std::move(loan)));
    switch (random_() % 8) {
      case 0:
        read(tensor, other_.ref(), number);
        break;
      case 1:
        must(tensor.synchronize_for_host());
        count_wrong(tensor.data_as<std::uint64_t>(), number);
        break;
      case 2:
        return;  // nobody reads it
      default:
        break;
    }
    read(tensor, fused_.ref(), number);
  }
  void finish() {
    must(device_->synchronize(fused_.ref()));
    must(device_->synchronize(other_.ref()));
    CHECK(wrong_ == 0);
    CHECK(pool_.usage().quarantined == 0);
  }

 private:
  TensorOutputLoan await_loan(StreamRef producer) {
    producer_ = producer;
    if (!testing::eventually([&] { return pool_.has_free_slot(); })) FAIL("no slot came back");
    return must(pool_.allocate(kRequest, producer));
  }
  bool write(TensorOutputLoan& loan, StreamRef phase, std::uint64_t number) {
    auto guard = loan.write(phase);
    if (!guard) return false;
    auto* words = guard->data_as<std::uint64_t>();
    must(launch(
        phase, {}, {}, [=] { std::fill_n(words, kWords, number); },
        [](CUstream_st*) { return expected<void, Error>{}; }));
    must(std::move(*guard).commit());
    return true;
  }
  void read(const Tensor& tensor, StreamRef consumer, std::uint64_t number) {
    must(tensor.prepare_for_consumer(consumer));
    const auto* words = tensor.data_as<std::uint64_t>();
    must(launch(
        consumer, {}, {}, [this, words, number] { count_wrong(words, number); },
        [](CUstream_st*) { return expected<void, Error>{}; }));
  }
  void count_wrong(const std::uint64_t* words, std::uint64_t number) {
    wrong_ += static_cast<int>(kWords -
                               static_cast<std::size_t>(std::count(words, words + kWords, number)));
  }

  std::mt19937 random_;
  std::atomic<int> wrong_{0};
  std::shared_ptr<Device> device_{must(open_device({DeviceKind::kEmulated, 0}))};
  Stream fused_{must(device_->create_stream({}))};
  Stream other_{must(device_->create_stream({}))};
  StreamRef producer_{};
  TensorPool pool_{must(TensorPool::build({.name = "fused.frame",
                                           .memory_kind = MemoryKind::kPinnedHost,
                                           .device = device_,
                                           .slot_bytes = kWords * sizeof(std::uint64_t),
                                           .slot_count = 3,
                                           .fused_stream = fused_.ref()}))};
};

// Rules 3 and 5: a fence that is missing where the proof does not hold shows as a word of another
// frame.
TEST_CASE("frames stay whole in a fused pool whatever its readers and writers do") {
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    CAPTURE(seed);
    FusedRun run(seed);
    Rounds rounds(3000);
    while (rounds.next()) run.round(rounds.begun());
    run.finish();
  }
}

TEST_CASE("two holders may surprise a fused tensor at the same time") {
  constexpr int kOver = -1;
  Rounds rounds(2000);
  const auto device = must(open_device({DeviceKind::kEmulated, 0}));
  const Stream fused = must(device->create_stream({}));
  const std::array<Stream, 2> others{must(device->create_stream({})),
                                     must(device->create_stream({}))};
  TensorPoolOptions options = device_options(device, 2, MemoryKind::kPinnedHost);
  options.fused_stream = fused.ref();
  TensorPool pool = must_build(options);
  std::array<Tensor, 2> handles;
  std::array<std::atomic<int>, 2> started{};
  std::array<std::atomic<int>, 2> done{};
  std::atomic<int> refused{0};
  std::vector<std::jthread> holders;
  for (std::size_t index = 0; index < 2; ++index) {
    holders.emplace_back([&, index] {
      for (int round = 0; await_change(started[index], round) == round + 1; ++round) {
        if (!handles[index].prepare_for_consumer(others[index].ref())) ++refused;
        handles[index] = {};
        done[index] = round + 1;
      }
    });
  }
  bool all_done = true;
  while (all_done && rounds.next()) {
    const int round = static_cast<int>(rounds.begun());
    all_done = testing::eventually([&] { return pool.has_free_slot(); });
    if (!all_done) break;
    handles[0] = publish_one(pool, fused.ref());
    handles[1] = handles[0];
    started[0] = round;
    started[1] = round;
    all_done = testing::eventually([&] { return done[0] == round && done[1] == round; });
  }
  for (auto& each : started) each = kOver;
  CHECK(all_done);
  CHECK(refused == 0);
  CHECK(pool.usage().quarantined == 0);
}

}  // namespace
}  // namespace weftline
