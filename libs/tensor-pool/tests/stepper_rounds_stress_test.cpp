// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/cuda/stream_order_checker.hpp"
#include "weftline/testing/bounded_wait.hpp"

namespace weftline {
namespace {

constexpr std::size_t kConsumers = 3;
constexpr std::uint32_t kSlots = 4;
constexpr std::size_t kMostHeld = 3;

/// WEFTLINE_STEPPER_ROUNDS, else enough for every run of the tests.
std::uint64_t rounds_wanted() {
  const char* const wanted = std::getenv("WEFTLINE_STEPPER_ROUNDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20'000;
}

/// Each frame is one byte, read by three streams that each keep what they last read.
class FanOut {
 public:
  explicit FanOut(std::uint64_t seed) : random_(seed) {
    DeviceOptions options{.order_checker = checker_};
    options.emulated.stepper =
        std::make_shared<EmulatedStepper>(StepperOptions{.seed = seed, .longest_rest = 6});
    device_ = must(open_device({DeviceKind::kEmulated, 0}, options));
    producer_ = must(device_->create_stream({}));
    results_ = must(device_->allocate(MemoryKind::kPinnedHost, kConsumers * 256));
    for (Consumer& consumer : consumers_) consumer.stream = must(device_->create_stream({}));
    pool_.emplace(must_build(device_options(device_, kSlots)));
  }

  void round(std::uint64_t frame) {
    drop_some();
    while (!pool_->has_free_slot()) drop_some();
    TensorOutputLoan loan = must(pool_->allocate(kSmall, producer_.ref()));
    must(loan.write_and_commit(producer_.ref(), [&](void* data, std::uint64_t bytes) {
      return device_->fill(producer_.ref(), data, std::byte(frame), bytes);
    }));
    const Tensor tensor = must(publish(std::move(loan)));
    for (std::size_t i = 0; i < kConsumers; ++i) {
      const StreamRef stream = consumers_[i].stream.ref();
      must(tensor.prepare_for_consumer(stream));
      must(device_->copy(stream, results_.data() + i * 256, tensor.data(), 16));
      consumers_[i].held.push_back(tensor);
    }
  }
  void finish(std::uint64_t last_frame) {
    for (Consumer& consumer : consumers_) {
      consumer.held.clear();
      must(device_->synchronize(consumer.stream.ref()));
    }
    for (std::size_t i = 0; i < kConsumers; ++i) {
      CHECK(results_.data()[i * 256 + 15] == std::byte(last_frame));
    }
    // Full again: all slots can be had at once.
    std::vector<TensorOutputLoan> loans;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      REQUIRE(testing::eventually([&] { return pool_->has_free_slot(); }));
      loans.push_back(must(pool_->allocate(kSmall, producer_.ref())));
    }
    loans.clear();
    const TensorPoolUsage usage = pool_->usage();
    CHECK(usage.quarantined == 0);
    CHECK(usage.host_waits.total() == 0);
    for (const StreamOrderReport& report : checker_->take_reports()) FAIL(report.to_string());
  }

 private:
  struct Consumer {
    Stream stream{};
    std::deque<Tensor> held{};
  };
  void drop_some() {
    for (Consumer& consumer : consumers_) {
      while (consumer.held.size() > random_() % kMostHeld) consumer.held.pop_front();
    }
  }

  std::mt19937_64 random_;
  const std::shared_ptr<StreamOrderChecker> checker_ = std::make_shared<StreamOrderChecker>();
  std::shared_ptr<Device> device_{};
  Stream producer_{};
  MemoryBlock results_{};
  std::array<Consumer, kConsumers> consumers_{};
  std::optional<TensorPool> pool_{};
};

}  // namespace

TEST_CASE("a pool that three streams read in random order loses no slot and breaks no order") {
  const std::uint64_t rounds = rounds_wanted();
  FanOut run(2026);
  for (std::uint64_t frame = 1; frame <= rounds; ++frame) run.round(frame);
  run.finish(rounds);
}

}  // namespace weftline
