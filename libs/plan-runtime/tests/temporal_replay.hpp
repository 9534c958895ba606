// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "trigger_state.hpp"
#include "weftline/core/synthetic_clock.hpp"
#include "weftline/testing/operator_model.hpp"

namespace replay {

using namespace weftline;

/// The runtime's trigger, selectors and policies over one operator's inputs, on one thread, fed and
/// asked like the reference model.
class Replay {
 public:
  Replay(TemporalTriggerPlanRecord trigger, std::vector<SourcePlanRecord> sources,
         const std::vector<EdgeSelectionRecord>& selections)
      : record_(std::move(trigger)), sources_(std::move(sources)) {
    for (const EdgeSelectionRecord& selection : selections) {
      queues_.push_back(std::make_unique<runtime::EdgeQueue>(
          runtime::EdgeQueue::Options{.ops = &payload_ops<std::uint64_t>(), .depth = 4'096}));
      inputs_
          .add(std::make_unique<runtime::InputRuntime>(
              runtime::InputRuntime::Options{.record = &port_,
                                             .ops = &payload_ops<std::uint64_t>(),
                                             .selection = selection,
                                             .scope = &scope_}))
          .connect(*queues_.back());
    }
    if (!sources_.empty()) {
      source_ = std::make_unique<runtime::SourceRuntime>(sources_.front(), ReadinessWake{});
      bind();
    }
    trigger_ = runtime::make_trigger({.record = record_,
                                      .inputs = inputs_,
                                      .clock = ClockRef(clock_, ClockId{0}),
                                      .source = source_.get()});
  }
  ~Replay() {
    for (const int descriptor : pipe_) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void start() { trigger_->start(driver_->now_ns()); }
  void advance(std::int64_t now_ns) {
    if (!driver_->advance_to(now_ns)) FAIL("time went back");
  }
  void arrive(std::uint32_t port, testing::ModelSample sample) {
    SampleMetadata metadata;
    metadata.sequence = sample.sequence;
    metadata.publish_time = {driver_->now_ns(), ClockId{0}};
    if (sample.capture_ns) metadata.capture = TimePoint{*sample.capture_ns, ClockId{0}};
    if (!queues_[port]->has_room(1)) FAIL("the trace is too long");
    queues_[port]->push(&sample.sequence, false, [&] { return metadata; });
  }
  void end(std::uint32_t port) { queues_[port]->close(); }
  bool notify() { return sender_->notify().has_value(); }
  void ring(std::uint64_t count) { REQUIRE(bell_->ring(count).has_value()); }
  void set_flag(bool flag) { flag_ = flag; }
  void set_readable(bool readable) {
    drain();
    if (readable) REQUIRE(::write(pipe_[1], "x", 1) == 1);
  }

  /// As OperatorModel::next().
  std::optional<testing::ModelActivation> next() {
    while (failure_.empty()) {
      const auto look = trigger_->look();
      exhausted_ = look == runtime::TriggerState::Look::kExhausted;
      if (look == runtime::TriggerState::Look::kFailed) failure_ = trigger_->take_error().token;
      if (look != runtime::TriggerState::Look::kDue) return {};
      runtime::Firing firing;
      if (!trigger_->fire(driver_->now_ns(), firing)) {
        failure_ = trigger_->take_error().token;
        return {};
      }
      const auto runs = inputs_.complete(firing.reference_ns);
      if (!runs) {
        failure_ = runs.error().token;
        return {};
      }
      if (!*runs) {
        inputs_.finish(false);
        ++skips_;
        continue;
      }
      if (!inputs_.prepare()) FAIL("nothing was to prepare");
      testing::ModelActivation activation = seen(firing);
      inputs_.finish(true);
      if (pipe_[0] >= 0) drain();
      return activation;
    }
    return {};
  }

  [[nodiscard]] runtime::TriggerState& trigger() { return *trigger_; }
  [[nodiscard]] runtime::InputSet& inputs() { return inputs_; }
  [[nodiscard]] runtime::ComputeScope& scope() { return scope_; }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  [[nodiscard]] std::uint64_t skips() const { return skips_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  void bind() {
    switch (sources_.front().kind) {
      case ReadinessSourceKind::kNotification:
        sender_ = std::make_unique<NotificationSender>(std::move(*source_->sender()));
        break;
      case ReadinessSourceKind::kDoorbell:
        bell_ = std::make_unique<Doorbell>(*source_->doorbell());
        break;
      case ReadinessSourceKind::kReadable:
        REQUIRE(::pipe2(pipe_.data(), O_CLOEXEC | O_NONBLOCK) == 0);
        REQUIRE(source_->bind(pipe_[0]).has_value());
        break;
      case ReadinessSourceKind::kSpin:
        REQUIRE(source_->bind(SpinProbe::of(flag_)).has_value());
        break;
    }
    REQUIRE(source_->arm().has_value());
  }
  void drain() {
    char byte = 0;
    while (::read(pipe_[0], &byte, 1) == 1) {
    }
  }
  testing::ModelActivation seen(const runtime::Firing& firing) {
    const runtime::ComputeScope::Inside inside(scope_);
    testing::ModelActivation activation{.activation_ns = firing.activation_ns,
                                        .reference_ns = firing.reference_ns,
                                        .first_tick_ns = firing.first_tick_ns};
    for (const auto& input : inputs_.all()) {
      testing::ModelSelection selection{input->selection().state, {}};
      std::uint64_t value = 0;
      SampleMetadata metadata;
      if (const auto batch = input->receive_batch()) {
        for (const auto& sample : SampleBatch<std::uint64_t>(*batch)) {
          selection.sequences.push_back(sample.data);
        }
      } else if (input->receive(&value, metadata)) {
        selection.sequences.push_back(value);
      }
      if (selection.sequences.size() != input->selection().count) FAIL("a wrong count");
      activation.inputs.push_back(std::move(selection));
    }
    return activation;
  }

  const TemporalTriggerPlanRecord record_;
  const std::vector<SourcePlanRecord> sources_;
  const InputPortRecord port_{.name = "in", .payload = payload_identity<std::uint64_t>()};
  const std::shared_ptr<ClockDriver> driver_{std::make_shared<ClockDriver>()};
  const SyntheticClock clock_{driver_};
  runtime::ComputeScope scope_{};
  std::vector<std::unique_ptr<runtime::EdgeQueue>> queues_{};
  runtime::InputSet inputs_{};
  std::unique_ptr<runtime::SourceRuntime> source_{};
  std::unique_ptr<NotificationSender> sender_{};
  std::unique_ptr<Doorbell> bell_{};
  std::array<int, 2> pipe_{-1, -1};
  std::atomic<bool> flag_{false};
  std::unique_ptr<runtime::TriggerState> trigger_{};
  bool exhausted_{false};
  std::uint64_t skips_{0};
  std::string failure_{};
};

}  // namespace replay
