// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/selector_models.hpp"

#include <algorithm>

namespace weftline::testing {

std::optional<std::int64_t> SelectorModel::capture_of(const ModelSample& sample) {
  if (!sample.capture_ns) failure_ = "a sample to be selected by time has no capture time";
  return sample.capture_ns;
}

void SelectorModel::note_held(std::size_t count) { most_held_ = std::max(most_held_, count); }

std::vector<ModelSample> ExactModel::select(ModelInput& input, std::int64_t reference_ns) {
  while (!input.waiting.empty()) {
    const ModelSample head = input.waiting.front();
    const auto capture = capture_of(head);
    if (!capture || *capture > reference_ns) return {};
    input.waiting.pop_front();
    if (*capture == reference_ns) return {head};
  }
  return {};
}

std::vector<ModelSample> LatestWithinModel::select(ModelInput& input, std::int64_t reference_ns) {
  while (!input.waiting.empty()) {
    const ModelSample head = input.waiting.front();
    const auto capture = capture_of(head);
    if (!capture) return {};
    if (*capture > reference_ns) break;
    input.waiting.pop_front();
    if (!latest_ || *capture >= latest_->capture_ns.value_or(*capture)) latest_ = head;
  }
  if (!latest_) return {};
  note_held(1);
  const std::int64_t age_ns = reference_ns - latest_->capture_ns.value_or(reference_ns);
  if (age_ns < 0 || age_ns > max_age_ns_) return {};
  return {*latest_};
}

std::vector<ModelSample> DrainAllModel::select(ModelInput& input, std::int64_t) {
  std::vector<ModelSample> batch;
  while (!input.waiting.empty() && batch.size() < max_samples_) {
    batch.push_back(input.waiting.front());
    input.waiting.pop_front();
  }
  note_held(batch.size());
  return batch;
}

std::vector<ModelSample> BracketedWindowModel::select(ModelInput& input,
                                                      std::int64_t reference_ns) {
  const std::int64_t left = reference_ns - lookbehind_ns_;
  const std::int64_t right = reference_ns + lookahead_ns_;
  const bool reaches_right = complete(input, reference_ns);
  while (!input.waiting.empty()) {
    const ModelSample head = input.waiting.front();
    const auto capture = capture_of(head);
    if (!capture) return {};
    if (*capture > right) break;
    input.waiting.pop_front();
    held_.push_back(head);
    // One at or before the left end is enough to know that the input reaches over it.
    while (held_.size() > 1 && *held_[1].capture_ns <= left) held_.pop_front();
    if (held_.size() > max_samples_ + 1) held_.pop_front();
    note_held(held_.size());
  }
  while (held_.size() > 1 && *held_[1].capture_ns <= left) held_.pop_front();
  const bool reaches_left = !held_.empty() && *held_.front().capture_ns <= left;
  std::vector<ModelSample> inside;
  for (const ModelSample& sample : held_) {
    const bool is_inside = *sample.capture_ns >= left && *sample.capture_ns <= right;
    if (is_inside) inside.push_back(sample);
  }
  if (!reaches_left || !reaches_right || inside.size() > max_samples_) return {};
  return inside;
}

bool BracketedWindowModel::complete(const ModelInput& input, std::int64_t reference_ns) const {
  const std::int64_t right = reference_ns + lookahead_ns_;
  const auto reaches = [&](const ModelSample& sample) {
    return sample.capture_ns && *sample.capture_ns >= right;
  };
  return input.ended || std::ranges::any_of(input.waiting, reaches) ||
         std::ranges::any_of(held_, reaches);
}

MissingModel::Outcome MissingModel::apply(const std::vector<ModelSample>& selected,
                                          ModelSelection& found) {
  if (!selected.empty()) {
    found.state = InputState::kSelected;
    for (const ModelSample& sample : selected) found.sequences.push_back(sample.sequence);
    last_ = found.sequences;
    reuses_ = 0;
    return Outcome::kRun;
  }
  switch (kind_) {
    case MissingDataKind::kSkip:
      return Outcome::kSkip;
    case MissingDataKind::kReuseLast:
      if (last_.empty() || reuses_ == max_reuses_) return Outcome::kSkip;
      ++reuses_;
      found = {InputState::kReused, last_};
      return Outcome::kRun;
    case MissingDataKind::kSafeDefault:
      found.state = InputState::kSafeDefault;
      return Outcome::kRun;
    case MissingDataKind::kAbsent:
      found.state = InputState::kAbsent;
      return Outcome::kRun;
    case MissingDataKind::kFail:
      return Outcome::kFail;
  }
  return Outcome::kFail;
}

std::optional<ActivationStatus> start_status(const StartDelay& delay, std::int64_t decided_ns,
                                             std::int64_t started_ns) {
  if (started_ns - decided_ns <= delay.limit.count()) return ActivationStatus::kOnTime;
  switch (delay.on_violation) {
    case OnViolation::kReport:
      return ActivationStatus::kLate;
    case OnViolation::kDegrade:
      return ActivationStatus::kLateDegraded;
    case OnViolation::kFailRun:
      return {};
  }
  return {};
}

}  // namespace weftline::testing
