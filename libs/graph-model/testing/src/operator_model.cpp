// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/operator_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weftline::testing {
namespace {

std::unique_ptr<SelectorModel> make_selector(const EdgeSelectionRecord& selection) {
  switch (selection.selector) {
    case InputSelectorKind::kExact:
      return std::make_unique<ExactModel>();
    case InputSelectorKind::kLatestWithin:
      if (!selection.max_age_ns) throw std::invalid_argument("LatestWithin without an age");
      return std::make_unique<LatestWithinModel>(*selection.max_age_ns);
    case InputSelectorKind::kDrainAll:
      return std::make_unique<DrainAllModel>(selection.max_selected_samples);
    case InputSelectorKind::kBracketedWindow:
      return std::make_unique<BracketedWindowModel>(selection.lookbehind_ns, selection.lookahead_ns,
                                                    selection.max_selected_samples);
  }
  throw std::invalid_argument("an unknown selector");
}

}  // namespace

OperatorModel::OperatorModel(const TemporalTriggerPlanRecord& trigger,
                             const std::vector<SourcePlanRecord>& sources,
                             const std::vector<EdgeSelectionRecord>& selections)
    : inputs_(selections.size()), calls_left_(trigger.complete_after_computes) {
  using Kind = TemporalRecordTriggerKind;
  for (const EdgeSelectionRecord& selection : selections) {
    selectors_.push_back(selection.triggering ? nullptr : make_selector(selection));
    missing_.emplace_back();
    if (selection.missing) missing_.back().emplace(*selection.missing, selection.max_reuses);
  }
  switch (trigger.kind) {
    case Kind::kAnyInput:
      trigger_ = std::make_unique<AnyInputModel>(trigger.inputs);
      break;
    case Kind::kEach:
      trigger_ = std::make_unique<EachModel>(trigger.inputs.at(0));
      break;
    case Kind::kClock:
      trigger_ =
          std::make_unique<ClockModel>(trigger.period_ns, trigger.phase_ns, trigger.phase_origin);
      break;
    case Kind::kReadable:
      trigger_ = std::make_unique<ReadableModel>();
      break;
    case Kind::kNotified:
      trigger_ = std::make_unique<NotifiedModel>(sources.at(trigger.source).capacity);
      break;
    case Kind::kDoorbell:
      trigger_ = std::make_unique<DoorbellModel>();
      break;
    case Kind::kSpin:
      trigger_ = std::make_unique<SpinModel>();
      break;
    case Kind::kAligned:
      trigger_ = std::make_unique<AlignedModel>(trigger.inputs, trigger.window_ns);
      break;
    case Kind::kWindow:
      trigger_ = std::make_unique<WindowModel>(
          trigger.inputs.at(0), trigger.max_wait_ns, trigger.max_pending_windows,
          [this](std::int64_t reference_ns) { return windows_complete(reference_ns); });
      break;
    case Kind::kPredicate:
      throw std::invalid_argument("no model of OnPredicate");
  }
}

void OperatorModel::start(std::int64_t now_ns) {
  now_ns_ = now_ns;
  trigger_->start(now_ns);
}

void OperatorModel::arrive(std::uint32_t input, ModelSample sample) {
  sample.came_ns = now_ns_;
  inputs_.at(input).waiting.push_back(sample);
}

void OperatorModel::end(std::uint32_t input) { inputs_.at(input).ended = true; }

void OperatorModel::advance(std::int64_t now_ns) { now_ns_ = std::max(now_ns_, now_ns); }

template <class Model>
Model& OperatorModel::trigger_as(const char* what) {
  auto* const model = dynamic_cast<Model*>(trigger_.get());
  if (model == nullptr) throw std::invalid_argument(std::string("the trigger is not ") + what);
  return *model;
}

bool OperatorModel::notify() { return trigger_as<NotifiedModel>("OnNotified").notify(); }
void OperatorModel::set_readable(bool readable) {
  trigger_as<ReadableModel>("OnReadable").set_readable(readable);
}
void OperatorModel::ring(std::uint64_t count) {
  trigger_as<DoorbellModel>("OnDoorbell").ring(count);
}
void OperatorModel::poll(bool flag) { trigger_as<SpinModel>("OnSpin").poll(flag); }

std::uint64_t OperatorModel::coalesced_ticks() const noexcept {
  const auto* const clock = dynamic_cast<const ClockModel*>(trigger_.get());
  return clock != nullptr ? clock->coalesced() : 0;
}

std::size_t OperatorModel::most_held(std::uint32_t input) const {
  const auto& selector = selectors_.at(input);
  return selector ? selector->most_held() : 0;
}

bool OperatorModel::windows_complete(std::int64_t reference_ns) const {
  for (std::size_t input = 0; input < inputs_.size(); ++input) {
    if (selectors_[input] && !selectors_[input]->complete(inputs_[input], reference_ns)) {
      return false;
    }
  }
  return true;
}

bool OperatorModel::fill(ModelActivation& activation, const TriggerFiring& firing) {
  activation.activation_ns = firing.activation_ns;
  activation.reference_ns = firing.reference_ns;
  activation.first_tick_ns = firing.first_tick_ns;
  activation.inputs.resize(inputs_.size());
  // Policies remember what an activation has seen, not what a skipped candidate has.
  auto missing = missing_;
  bool runs = true;
  for (std::size_t input = 0; input < inputs_.size(); ++input) {
    std::vector<ModelSample> selected;
    for (const auto& [port, sample] : firing.taken) {
      if (port == input) selected.push_back(sample);
    }
    if (selectors_[input]) {
      selected = selectors_[input]->select(inputs_[input], firing.reference_ns);
      if (!selectors_[input]->failure().empty()) failure_ = selectors_[input]->failure();
    }
    ModelSelection& found = activation.inputs[input];
    if (missing[input]) {
      const auto outcome = missing[input]->apply(selected, found);
      if (outcome == MissingModel::Outcome::kSkip) runs = false;
      if (outcome == MissingModel::Outcome::kFail) failure_ = "a sample is missing";
    } else if (!selected.empty()) {
      found.state = InputState::kSelected;
      for (const ModelSample& sample : selected) found.sequences.push_back(sample.sequence);
    }
  }
  if (!failure_.empty()) return false;
  if (!runs) {
    ++skips_;
    return false;
  }
  missing_ = std::move(missing);
  return true;
}

std::optional<ModelActivation> OperatorModel::next() {
  while (failure_.empty() && calls_left_ != 0U) {
    const auto firing = trigger_->next(inputs_, now_ns_);
    if (!trigger_->failure().empty()) failure_ = trigger_->failure();
    if (!firing) return {};
    ModelActivation activation;
    if (!fill(activation, *firing)) continue;
    if (calls_left_) --*calls_left_;
    return activation;
  }
  return {};
}

bool OperatorModel::finished() const { return calls_left_ == 0U || trigger_->finished(inputs_); }

}  // namespace weftline::testing
