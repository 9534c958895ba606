// SPDX-License-Identifier: Apache-2.0
#include "trigger_state.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <memory>
#include <random>
#include <vector>

#include "weftline/testing/operator_model.hpp"

using namespace weftline;
using runtime::EdgeQueue;
using runtime::InputRuntime;
using runtime::TriggerState;
using testing::ModelActivation;
using testing::ModelSelection;
using testing::OperatorModel;

namespace {

constexpr std::size_t kInputs = 2;

/// The runtime's trigger over two inputs, fed and asked like the model.
class Replay {
 public:
  explicit Replay(const TemporalTriggerPlanRecord& trigger) {
    for (std::size_t port = 0; port < kInputs; ++port) {
      queues_.push_back(std::make_unique<EdgeQueue>(
          EdgeQueue::Options{.ops = &payload_ops<std::uint64_t>(), .depth = 256}));
      inputs_.push_back(
          std::make_unique<InputRuntime>(record_, payload_ops<std::uint64_t>(), StreamRef{}));
      inputs_.back()->connect(*queues_.back());
    }
    trigger_ = runtime::make_trigger(trigger, inputs_);
  }

  void start(std::int64_t now_ns) { trigger_->start(now_ns); }
  void arrive(std::size_t port, std::uint64_t sequence, std::int64_t capture_ns) {
    SampleMetadata metadata;
    metadata.sequence = sequence;
    metadata.capture = TimePoint{capture_ns, ClockId{0}};
    queues_[port]->push(&sequence, false, metadata);
  }
  void end(std::size_t port) { queues_[port]->close(); }

  std::optional<ModelActivation> next(std::int64_t now_ns) {
    const auto due = trigger_->due(now_ns);
    REQUIRE(due.has_value());
    if (!*due) return {};
    ModelActivation activation;
    activation.activation_ns = trigger_->activation_time(now_ns);
    REQUIRE(trigger_->select().has_value());
    for (const auto& input : inputs_) {
      ModelSelection selection{input->state(), {}};
      std::uint64_t value = 0;
      SampleMetadata metadata;
      if (input->receive(&value, metadata)) selection.sequences.push_back(value);
      activation.inputs.push_back(selection);
    }
    return activation;
  }
  [[nodiscard]] const TriggerState& trigger() const { return *trigger_; }
  [[nodiscard]] bool exhausted() { return trigger_->exhausted(); }

 private:
  InputPortRecord record_{.name = "in", .payload = payload_identity<std::uint64_t>()};
  std::vector<std::unique_ptr<EdgeQueue>> queues_{};
  std::vector<std::unique_ptr<InputRuntime>> inputs_{};
  std::unique_ptr<TriggerState> trigger_{};
};

TemporalTriggerPlanRecord random_trigger(std::mt19937& random) {
  using Kind = TemporalRecordTriggerKind;
  switch (random() % 4) {
    case 0:
      return {.kind = Kind::kEach, .inputs = {static_cast<std::uint32_t>(random() % kInputs)}};
    case 1:
      return {.kind = Kind::kAnyInput, .inputs = {0, 1}};
    case 2:
      return {.kind = Kind::kClock,
              .period_ns = 1 + static_cast<std::int64_t>(random() % 9),
              .phase_ns = static_cast<std::int64_t>(random() % 9)};
    default:
      return {.kind = Kind::kAligned,
              .inputs = {0, 1},
              .window_ns = static_cast<std::int64_t>(random() % 6)};
  }
}

TEST_CASE("OnEach, OnAnyInput, OnClock and OnAligned do on random traces what their models do") {
  std::mt19937 random(GENERATE(range(1U, 201U)));
  const TemporalTriggerPlanRecord trigger = random_trigger(random);
  Replay replay(trigger);
  OperatorModel model(trigger, {}, std::vector<EdgeSelectionRecord>(kInputs));
  std::int64_t now_ns = static_cast<std::int64_t>(random() % 100);
  replay.start(now_ns);
  model.start(now_ns);
  std::array<std::uint64_t, kInputs> sequence{};
  std::array<std::int64_t, kInputs> capture{};
  std::array<bool, kInputs> ended{};
  for (int event = 0; event < 200; ++event) {
    const std::size_t port = random() % kInputs;
    const auto what = random() % 40;
    if (what == 0 && event > 100 && !ended.at(port)) {
      ended.at(port) = true;
      replay.end(port);
      model.end(static_cast<std::uint32_t>(port));
    } else if (what < 25 && !ended.at(port)) {
      capture.at(port) += static_cast<std::int64_t>(random() % 10);
      replay.arrive(port, sequence.at(port), capture.at(port));
      model.arrive(static_cast<std::uint32_t>(port), {sequence.at(port)++, capture.at(port)});
    } else {
      now_ns += static_cast<std::int64_t>(random() % 12);
      model.advance(now_ns);
    }
    if (random() % 3 == 0) continue;
    for (;;) {
      const auto wanted = model.next();
      const auto found = replay.next(now_ns);
      REQUIRE(found.has_value() == wanted.has_value());
      if (!wanted) break;
      CHECK(found->activation_ns == wanted->activation_ns);
      CHECK(found->inputs == wanted->inputs);
    }
    CHECK(replay.exhausted() == model.finished());
  }
  CHECK(model.failure().empty());
  CHECK(replay.trigger().unaligned_drops() == model.drops());
  CHECK(replay.trigger().coalesced_ticks() == model.coalesced_ticks());
}

}  // namespace
