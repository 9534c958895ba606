// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/cuda/host_task.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;

constexpr std::uint32_t kSlots = 4;
constexpr std::size_t kStreams = 4;
constexpr std::uint32_t kReleaseStreams = 2;
constexpr int kStepsPerSeed = 2000;

/// What one slot is due to do, told without sharing code with the pool: who holds it, and up to
/// which point of each stream it may still be in use.
struct ModelSlot {
  enum class Is { kFree, kLoaned, kWriting, kCommitted, kPublished, kRetiring };
  Is is{Is::kFree};
  std::size_t producer{0};
  bool device_phase{false};
  std::uint64_t ready{0};
  int handles{0};
  std::set<std::size_t> consumers{};
  std::map<std::size_t, std::uint64_t> pending{};  ///< Stream → point that has to pass.
};

/// One loan in flight, with its guard while it is writing.
struct Held {
  std::optional<TensorOutputLoan> loan{};
  std::optional<TensorWriteGuard> guard{};
  std::vector<Tensor> handles{};
  void* place{nullptr};
};

/// Drives a pool and the model with the same random steps and compares them after each.
class ModelRun {
 public:
  explicit ModelRun(std::uint32_t seed) : random_(seed) {
    device_->log_calls(false);
    for (std::size_t i = 0; i < kStreams; ++i) streams_.push_back(must(device_->create_stream({})));
    TensorPoolOptions options = device_options(device_, kSlots, MemoryKind::kPinnedHost);
    options.max_release_streams = kReleaseStreams;
    pool_.emplace(must_build(options));
  }

  void step() {
    switch (pick(12)) {
      case 0:
      case 1:
        return allocate();
      case 2:
      case 3:
        return write();
      case 4:
      case 5:
        return commit();
      case 6:
        return publish_loan();
      case 7:
        return prepare_consumer();
      case 8:
        return copy_handle();
      case 9:
        return drop_handle();
      case 10:
        return abandon();
      default:
        return pass_stream(pick(kStreams));
    }
  }

  void check() {
    std::uint32_t in_use = 0;
    for (const ModelSlot& slot : model_) in_use += slot.is != ModelSlot::Is::kFree;
    const TensorPoolUsage usage = pool_->usage();
    // The pool learns of passed work only when it polls, so it may count more; never less.
    REQUIRE(usage.in_use >= in_use);
    REQUIRE(usage.in_use - usage.retiring <= in_use);
    REQUIRE(usage.quarantined == 0);
  }

  void finish() {
    for (std::size_t index = 0; index < kSlots; ++index) {
      held_[index].guard.reset();
      held_[index].loan.reset();
      held_[index].handles.clear();
    }
    for (const Stream& stream : streams_) device_->pass(stream.ref());
    std::vector<TensorOutputLoan> all;
    for (std::uint32_t i = 0; i < kSlots; ++i) all.push_back(must(pool_->allocate(kSmall, {})));
    REQUIRE_FALSE(pool_->has_free_slot());
    all.clear();
    REQUIRE(pool_->usage().in_use == 0);
    pool_.reset();
    REQUIRE(device_->live_bytes() == 0);
    REQUIRE(device_->live_events() == 0);
    REQUIRE_FALSE(device_->freed_while_pending());
  }

 private:
  using Is = ModelSlot::Is;

  std::size_t pick(std::size_t count) { return random_() % count; }

  /// A random slot in that state, if there is one.
  std::optional<std::size_t> pick_in(Is state) {
    const std::size_t start = pick(kSlots);
    for (std::size_t i = 0; i < kSlots; ++i) {
      const std::size_t index = (start + i) % kSlots;
      if (model_[index].is == state) return index;
    }
    return std::nullopt;
  }

  std::uint64_t queue_on(std::size_t stream) { return ++queued_[stream]; }

  void allocate() {
    const std::size_t producer = pick(kStreams);
    auto loan = pool_->allocate(kSmall, streams_[producer].ref());
    const bool expected_one = pick_in(Is::kFree).has_value();
    REQUIRE(loan.has_value() == expected_one);
    if (!loan) return;
    // The slot is known by its place once it is written; until then any free one of the model does.
    const std::size_t index = *pick_in(Is::kFree);
    model_[index] = {.is = Is::kLoaned, .producer = producer};
    held_[index].loan.emplace(std::move(*loan));
  }

  void write() {
    const auto index = pick_in(Is::kLoaned);
    if (!index) return;
    ModelSlot& slot = model_[*index];
    slot.device_phase = pick(3) != 0;
    const StreamRef stream = slot.device_phase ? streams_[slot.producer].ref() : StreamRef{};
    held_[*index].guard.emplace(must(held_[*index].loan->write(stream)));
    held_[*index].place = held_[*index].guard->data();
    for (std::size_t other = 0; other < kSlots; ++other) {
      const bool lives = model_[other].is != Is::kFree && model_[other].is != Is::kLoaned;
      if (other != *index && lives) REQUIRE(held_[other].place != held_[*index].place);
    }
    slot.is = Is::kWriting;
  }

  void commit() {
    const auto index = pick_in(Is::kWriting);
    if (!index) return;
    must(std::move(*held_[*index].guard).commit());
    held_[*index].guard.reset();
    ModelSlot& slot = model_[*index];
    if (slot.device_phase) slot.ready = queue_on(slot.producer);
    slot.is = Is::kCommitted;
  }

  void publish_loan() {
    const auto index = pick_in(Is::kCommitted);
    if (!index) return;
    held_[*index].handles.push_back(must(publish(std::move(*held_[*index].loan))));
    held_[*index].loan.reset();
    model_[*index].is = Is::kPublished;
    model_[*index].handles = 1;
  }

  void prepare_consumer() {
    const auto index = pick_in(Is::kPublished);
    if (!index) return;
    ModelSlot& slot = model_[*index];
    const std::size_t stream = pick(kStreams);
    const bool fits = slot.consumers.contains(stream) || slot.consumers.size() < kReleaseStreams;
    const auto prepared = held_[*index].handles[0].prepare_for_consumer(streams_[stream].ref());
    REQUIRE(prepared.has_value() == fits);
    if (!fits) return;
    slot.consumers.insert(stream);
    if (slot.device_phase) {
      waits_[stream].push_back({queue_on(stream), slot.producer, slot.ready});
    }
  }

  void copy_handle() {
    const auto index = pick_in(Is::kPublished);
    if (!index) return;
    held_[*index].handles.push_back(Tensor(held_[*index].handles[0]));
    ++model_[*index].handles;
  }

  void drop_handle() {
    const auto index = pick_in(Is::kPublished);
    if (!index) return;
    auto& handles = held_[*index].handles;
    std::swap(handles[pick(handles.size())], handles.back());
    ModelSlot& slot = model_[*index];
    let_go([](Held& held) { held.handles.pop_back(); }, held_[*index]);
    if (--slot.handles > 0) return;
    if (slot.device_phase) slot.pending[slot.producer] = slot.ready;
    for (const std::size_t stream : slot.consumers) slot.pending[stream] = queue_on(stream);
    retire(slot);
  }

  void abandon() {
    const Is state = std::array{Is::kLoaned, Is::kWriting, Is::kCommitted}[pick(3)];
    const auto index = pick_in(state);
    if (!index) return;
    held_[*index].guard.reset();
    let_go([](Held& held) { held.loan.reset(); }, held_[*index]);
    ModelSlot& slot = model_[*index];
    if (slot.device_phase) slot.pending[slot.producer] = queue_on(slot.producer);
    retire(slot);
  }

  /// At once, or in a host task: then the records are due at the next poll, which comes at once.
  void let_go(void (*drop)(Held&), Held& held) {
    if (pick(3) != 0) return drop(held);
    HostTask([drop, from = &held] { drop(*from); })();
    static_cast<void>(pool_->has_free_slot(kSlots));
  }

  void pass_stream(std::size_t stream) {
    device_->pass(streams_[stream].ref());
    pass_up_to(stream, queued_[stream]);
    for (ModelSlot& slot : model_) {
      if (slot.is == Is::kRetiring) retire(slot);
    }
  }

  void pass_up_to(std::size_t stream, std::uint64_t position) {
    if (passed_[stream] >= position) return;
    passed_[stream] = position;
    for (const Wait& wait : waits_[stream]) {
      if (wait.at <= position) pass_up_to(wait.producer, wait.ready);
    }
  }

  void retire(ModelSlot& slot) {
    std::erase_if(slot.pending, [&](const auto& one) { return passed_[one.first] >= one.second; });
    slot.is = slot.pending.empty() ? Is::kFree : Is::kRetiring;
  }

  std::mt19937 random_;
  std::shared_ptr<ScriptedDevice> device_{ScriptedDevice::make()};
  std::vector<Stream> streams_{};
  std::optional<TensorPool> pool_{};
  std::array<ModelSlot, kSlots> model_{};
  std::array<Held, kSlots> held_{};
  std::array<std::uint64_t, kStreams> queued_{};
  std::array<std::uint64_t, kStreams> passed_{};
  struct Wait {
    std::uint64_t at;
    std::size_t producer;
    std::uint64_t ready;
  };
  std::array<std::vector<Wait>, kStreams> waits_{};
};

TEST_CASE("any sequence of operations keeps to the slot model and leaks nothing") {
  const auto seed = GENERATE(range(0U, 40U));
  CAPTURE(seed);
  ModelRun run(seed);
  for (int i = 0; i < kStepsPerSeed; ++i) {
    run.step();
    run.check();
  }
  run.finish();
}

}  // namespace
}  // namespace weftline
