// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bells.hpp"
#include "random_operators.hpp"
#include "weftline/graph/param_schema.hpp"
#include "weftline/testing/authored_contract.hpp"

namespace weftline::stress {

/// What each temporal operator is given, and has to find in each activation.
struct Tuning {
  std::uint64_t mark{0};
};
WEFTLINE_PARAM_SCHEMA(Tuning, param_schema("stress.Tuning", 1), field<&Tuning::mark>("mark"));

/// What makes the operator's source ready; at most one is there.
struct Readiness {
  std::shared_ptr<Bells> bells{};  ///< Gets the handles.
  std::shared_ptr<const Bell> bell{};
  std::shared_ptr<const std::atomic<bool>> flag{};
};

/// One input of an operator that selects: checks that each activation gets what the selection says,
/// and counts each sample once, however often it is selected.
class Selection {
 public:
  explicit Selection(const EdgeSelectionRecord& record) : record_(record) {}

  expected<void, Error> check(InputState state, const std::vector<SampleMetadata>& samples,
                              std::int64_t reference_ns, std::uint64_t& received) {
    if (const char* wrong = find_wrong(state, samples, reference_ns)) {
      std::string text = std::string(wrong) + ": state " +
                         std::to_string(static_cast<unsigned>(state)) + " of selector " +
                         std::to_string(static_cast<unsigned>(record_.selector)) + ", reference " +
                         std::to_string(reference_ns);
      for (const SampleMetadata& sample : samples) {
        text += ", sample " + std::to_string(sample.sequence) + " at " +
                std::to_string(sample.capture ? sample.capture->timestamp_ns : 0);
      }
      return fail(ErrorCode::kFailure, "STRESS_SELECTION_WRONG", text);
    }
    if (state == InputState::kSelected) note(samples, received);
    return {};
  }

 private:
  const char* find_wrong(InputState state, const std::vector<SampleMetadata>& samples,
                         std::int64_t reference_ns) {
    switch (state) {
      case InputState::kSelected:
        reuses_ = 0;
        return find_wrong_fresh(samples, reference_ns);
      case InputState::kReused:
        if (record_.missing != MissingDataKind::kReuseLast)
          return "a policy that was not asked for";
        if (++reuses_ > record_.max_reuses) return "too many reuses";
        return std::ranges::equal(samples, last_, {}, &SampleMetadata::sequence)
                   ? nullptr
                   : "not what was selected last";
      case InputState::kSafeDefault:
        return record_.missing == MissingDataKind::kSafeDefault ? nullptr : "no safe default";
      case InputState::kAbsent:
        return record_.missing == MissingDataKind::kAbsent ? nullptr : "may not be absent";
      case InputState::kNotSelected:
        // OnAnyInput, of an input of which nothing is said.
        return record_.triggering && !record_.missing ? nullptr : "nothing is selected";
    }
    return "no state";
  }

  const char* find_wrong_fresh(const std::vector<SampleMetadata>& samples,
                               std::int64_t reference_ns) {
    if (samples.empty()) return "selected, but empty";
    if (samples.size() > record_.max_selected_samples) return "too many samples";
    for (std::size_t index = 1; index < samples.size(); ++index) {
      if (samples[index].sequence <= samples[index - 1].sequence) return "out of order in a batch";
    }
    const std::uint64_t first = samples.front().sequence;
    const bool once = record_.triggering || record_.selector == InputSelectorKind::kExact ||
                      record_.selector == InputSelectorKind::kDrainAll;
    if (once && first < beyond_) return "out of order, or given twice";
    if (record_.selector == InputSelectorKind::kLatestWithin && first + 1 < beyond_) {
      return "older than what was the latest";
    }
    if (record_.triggering) return nullptr;
    for (const SampleMetadata& sample : samples) {
      if (record_.selector == InputSelectorKind::kDrainAll) break;
      if (!sample.capture) return "without a time";
      const std::int64_t age = reference_ns - sample.capture->timestamp_ns;
      switch (record_.selector) {
        case InputSelectorKind::kExact:
          if (age != 0) return "not captured at the reference";
          break;
        case InputSelectorKind::kLatestWithin:
          if (age < 0 || age > *record_.max_age_ns) return "not of the asked age";
          break;
        case InputSelectorKind::kBracketedWindow:
          if (age > record_.lookbehind_ns || -age > record_.lookahead_ns)
            return "not in the window";
          break;
        default:
          break;
      }
    }
    return nullptr;
  }

  void note(const std::vector<SampleMetadata>& samples, std::uint64_t& received) {
    for (const SampleMetadata& sample : samples) {
      if (given_.size() <= sample.sequence) given_.resize(sample.sequence + 64);
      if (!given_[sample.sequence]) ++received;
      given_[sample.sequence] = true;
      beyond_ = std::max(beyond_, sample.sequence + 1);
    }
    last_.clear();
    for (const SampleMetadata& sample : samples) last_.push_back(sample.sequence);
  }

  const EdgeSelectionRecord record_;
  std::vector<bool> given_{};  ///< By sequence.
  std::uint64_t beyond_{0};    ///< One more than the newest that was given.
  std::vector<std::uint64_t> last_{};
  std::uint32_t reuses_{0};
};

/// Runs under any contract, over inputs of T; one number for each activation.
template <class T>
class TemporalRelay final : public Operator<Tuning>, private TensorActor {
 public:
  TemporalRelay(Role role, const testing::RandomContract& contract, Readiness readiness)
      : TensorActor(std::move(role)), contract_(contract), readiness_(std::move(readiness)) {
    for (const EdgeSelectionRecord& record : contract.selections) selections_.emplace_back(record);
  }
  std::array<Input<T>, 3> in;
  Output<std::uint64_t> out;

  void setup(OperatorSpec& spec) override {
    for (std::size_t input = 0; input < selections_.size(); ++input) {
      spec.input(in[input], "in-" + std::to_string(input));
    }
    spec.output(out, "out");
    contract_.declare_source(spec);
  }
  [[nodiscard]] Contract contract() const override {
    return contract_.contract(std::array<const InputPort*, 3>{&in[0], &in[1], &in[2]});
  }
  void start(LifecycleContext& context) override {
    const auto& sources = contract_.records().sources;
    if (sources.empty()) return;
    switch (sources.front().kind) {
      case ReadinessSourceKind::kNotification:
        readiness_.bells->adopt(or_throw(context.notification_sender(contract_.notification)));
        break;
      case ReadinessSourceKind::kDoorbell:
        readiness_.bells->adopt(or_throw(context.doorbell(contract_.doorbell)));
        break;
      case ReadinessSourceKind::kReadable:
        or_throw(context.bind_readable(contract_.readable, readiness_.bell->descriptor()));
        break;
      case ReadinessSourceKind::kSpin:
        or_throw(context.bind_spin(contract_.spin, SpinProbe::of(*readiness_.flag)));
        break;
    }
  }

  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    if (readiness_.bell) readiness_.bell->drain();
    if (context.params<Tuning>().mark != role_.seed) {
      return fail(ErrorCode::kFailure, "STRESS_PARAMETER_WRONG");
    }
    WEFTLINE_TRY(check_activation(context.activation()));
    std::int64_t reference_ns = context.activation_time().timestamp_ns;
    std::optional<std::int64_t> oldest_ns;
    for (std::size_t input = 0; input < selections_.size(); ++input) {  // triggers come first
      WEFTLINE_TRY(take(input, context.cuda_stream()));
      WEFTLINE_TRY(selections_[input].check(in[input].state(), seen_, reference_ns,
                                            role_.ledger->received[input]));
      // Of the triggers that wait for inputs, all but OnAnyInput measure from what they took.
      const bool sets_reference = contract_.records().selections[input].triggering &&
                                  kind() != TemporalRecordTriggerKind::kAnyInput;
      if (!sets_reference) continue;
      const std::int64_t captured_ns = seen_.front().capture->timestamp_ns;
      reference_ns = oldest_ns ? std::max(reference_ns, captured_ns) : captured_ns;
      oldest_ns = std::min(oldest_ns.value_or(captured_ns), captured_ns);
    }
    if (kind() == TemporalRecordTriggerKind::kAligned &&
        reference_ns - *oldest_ns > contract_.records().trigger.window_ns) {
      return fail(ErrorCode::kFailure, "STRESS_UNALIGNED");
    }
    return send(context.clock().at_ns(reference_ns));
  }

 private:
  template <class Value>
  static Value or_throw(expected<Value, Error> result) {
    if (!result) throw RuntimeError(result.error());
    return std::move(*result);
  }
  static void or_throw(expected<void, Error> result) {
    if (!result) throw RuntimeError(result.error());
  }
  [[nodiscard]] TemporalRecordTriggerKind kind() const { return contract_.records().trigger.kind; }

  expected<void, Error> check_activation(const Activation& activation) {
    if (kind() != TemporalRecordTriggerKind::kClock) return {};
    const std::int64_t last_ns = activation.time.timestamp_ns;
    const std::int64_t first_ns = activation.first_tick.timestamp_ns;
    const std::int64_t period_ns = contract_.records().trigger.period_ns;
    const bool right =
        (!tick_ns_ || first_ns >= *tick_ns_ + period_ns) &&
        last_ns - first_ns == static_cast<std::int64_t>(activation.coalesced_ticks) * period_ns;
    tick_ns_ = last_ns;
    return right ? expected<void, Error>{} : fail(ErrorCode::kFailure, "STRESS_TICK_WRONG");
  }

  /// Receives what is selected, and looks at each value.
  expected<void, Error> take(std::size_t input, StreamRef stream) {
    seen_.clear();
    if (in[input].is_missing()) return {};
    if (contract_.records().selections[input].cardinality == SelectionCardinality::kBatch) {
      WEFTLINE_ASSIGN(const SampleBatch<T> batch, in[input].receive_batch());
      for (const auto& sample : batch) {
        WEFTLINE_TRY(look(input, sample.data, sample.metadata, stream));
      }
      return {};
    }
    WEFTLINE_ASSIGN(const Sample<T> sample, in[input].receive());
    return look(input, sample.data, sample.metadata, stream);
  }
  expected<void, Error> look(std::size_t input, const T& value, const SampleMetadata& metadata,
                             StreamRef stream) {
    seen_.push_back(metadata);
    if constexpr (std::is_same_v<T, Tensor>) {
      return read_words(input, value, metadata, stream);
    } else {
      static_cast<void>(stream);
      return check_value(input, value, metadata);
    }
  }

  expected<void, Error> send(TimePoint captured) {
    if (role_.closes_at != 0 && role_.ledger->activations == role_.closes_at) {
      role_.ledger->closed_early = true;
      return out.close();
    }
    if (one_in(role_.silent_one_in)) return {};
    std::uint64_t& next = role_.ledger->emitted;
    auto emitted = out.emit(value_of(role_.output, next), {.capture_time = captured});
    if (emitted) ++next;
    // One that runs by itself may find no room.
    const bool by_itself = contract_.records().trigger.inputs.empty();
    if (!emitted && by_itself && is_retryable(emitted.error().code)) return {};
    return emitted;
  }

  testing::AuthoredContract contract_;
  const Readiness readiness_;
  std::vector<Selection> selections_{};
  std::vector<SampleMetadata> seen_{};
  std::optional<std::int64_t> tick_ns_{};
};

}  // namespace weftline::stress
