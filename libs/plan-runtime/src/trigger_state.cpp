// SPDX-License-Identifier: Apache-2.0
#include "trigger_state.hpp"

#include <algorithm>

namespace weftline::runtime {
namespace {

using Inputs = std::vector<InputRuntime*>;

/// OnEach (one input) and OnAnyInput (all): due when any of them has a head; takes every head that
/// is there.
class InputTrigger final : public TriggerState {
 public:
  explicit InputTrigger(Inputs inputs) noexcept : inputs_(std::move(inputs)) {}

  expected<bool, Error> due(std::int64_t) noexcept override {
    return std::ranges::any_of(inputs_,
                               [](InputRuntime* input) { return input->head() != nullptr; });
  }
  expected<void, Error> select() noexcept override {
    for (InputRuntime* input : inputs_) {
      if (input->head() != nullptr) WEFTLINE_TRY(input->select());
    }
    return {};
  }
  bool exhausted() noexcept override {
    return std::ranges::all_of(inputs_, [](InputRuntime* input) { return input->ended(); });
  }

 private:
  const Inputs inputs_;
};

class AlignedTrigger final : public TriggerState {
 public:
  AlignedTrigger(Inputs inputs, std::int64_t window_ns) noexcept
      : inputs_(std::move(inputs)), window_ns_(window_ns) {}

  expected<bool, Error> due(std::int64_t) noexcept override {
    for (;;) {
      InputRuntime* oldest = nullptr;
      std::int64_t first = 0;
      std::int64_t last = 0;
      for (InputRuntime* input : inputs_) {
        const SampleMetadata* head = input->head();
        if (head == nullptr) return false;
        if (!head->capture) {
          return fail(ErrorCode::kProtocolError, "RUN_ALIGNED_WITHOUT_CAPTURE_TIME",
                      "input " + input->name() + " received sample " +
                          std::to_string(head->sequence) +
                          " without a capture time, by which OnAligned pairs; its producer sets "
                          "EmitOptions::capture_time");
        }
        const std::int64_t time = head->capture->timestamp_ns;
        if (oldest == nullptr || time < first) {
          first = time;
          oldest = input;
        }
        last = input == inputs_.front() ? time : std::max(last, time);
      }
      // Unsigned: the spread of any two 64-bit times fits.
      const auto spread = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
      if (spread <= static_cast<std::uint64_t>(window_ns_)) return true;
      oldest->discard_head();
      unaligned_drops_.add();
    }
  }
  expected<void, Error> select() noexcept override {
    for (InputRuntime* input : inputs_) WEFTLINE_TRY(input->select());
    return {};
  }
  bool exhausted() noexcept override {
    return std::ranges::any_of(inputs_, [](InputRuntime* input) { return input->ended(); });
  }

 private:
  const Inputs inputs_;
  const std::int64_t window_ns_;
};

class ClockTrigger final : public TriggerState {
 public:
  ClockTrigger(std::int64_t phase_ns, std::int64_t period_ns) noexcept
      : next_ns_(phase_ns), period_ns_(period_ns) {}

  void start(std::int64_t start_ns) noexcept override { next_ns_ += start_ns; }

  expected<bool, Error> due(std::int64_t now_ns) noexcept override { return now_ns >= next_ns_; }
  expected<void, Error> select() noexcept override { return {}; }
  std::int64_t activation_time(std::int64_t now_ns) noexcept override {
    const std::int64_t missed = (now_ns - next_ns_) / period_ns_;
    const std::int64_t tick = next_ns_ + missed * period_ns_;
    coalesced_ticks_.add(static_cast<std::uint64_t>(missed));
    next_ns_ = tick + period_ns_;
    return tick;
  }
  bool exhausted() noexcept override { return false; }
  std::optional<std::int64_t> deadline_ns() const noexcept override { return next_ns_; }
  bool input_driven() const noexcept override { return false; }

 private:
  std::int64_t next_ns_;
  const std::int64_t period_ns_;
};

}  // namespace

std::unique_ptr<TriggerState> make_trigger(const TemporalTriggerPlanRecord& record,
                                           std::span<const std::unique_ptr<InputRuntime>> inputs) {
  Inputs triggering;
  for (const std::uint32_t index : record.inputs) triggering.push_back(inputs[index].get());
  switch (record.kind) {
    case TemporalRecordTriggerKind::kClock:
      return std::make_unique<ClockTrigger>(record.phase_ns, record.period_ns);
    case TemporalRecordTriggerKind::kAligned:
      return std::make_unique<AlignedTrigger>(std::move(triggering), record.window_ns);
    default:
      return std::make_unique<InputTrigger>(std::move(triggering));
  }
}

}  // namespace weftline::runtime
