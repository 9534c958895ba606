// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/trigger_models.hpp"

#include <algorithm>

namespace weftline::testing {
namespace {

ModelSample take_head(ModelInput& input) {
  const ModelSample head = input.waiting.front();
  input.waiting.pop_front();
  return head;
}

}  // namespace

std::optional<TriggerFiring> EachModel::next(std::vector<ModelInput>& inputs, std::int64_t) {
  ModelInput& input = inputs[input_];
  if (input.waiting.empty()) return {};
  const ModelSample head = take_head(input);
  return TriggerFiring{.activation_ns = head.came_ns,
                       .reference_ns = head.capture_ns.value_or(head.came_ns),
                       .taken = {{input_, head}}};
}

bool EachModel::finished(const std::vector<ModelInput>& inputs) const {
  return inputs[input_].exhausted();
}

std::optional<TriggerFiring> AnyInputModel::next(std::vector<ModelInput>& inputs, std::int64_t) {
  TriggerFiring firing;
  for (const std::uint32_t port : ports_) {
    if (inputs[port].waiting.empty()) continue;
    firing.taken.emplace_back(port, take_head(inputs[port]));
    last_ns_ = std::max(last_ns_, firing.taken.back().second.came_ns);
  }
  if (firing.taken.empty()) return {};
  firing.activation_ns = last_ns_;
  firing.reference_ns = last_ns_;
  return firing;
}

bool AnyInputModel::finished(const std::vector<ModelInput>& inputs) const {
  return std::ranges::all_of(ports_, [&](std::uint32_t port) { return inputs[port].exhausted(); });
}

void ClockModel::start(std::int64_t now_ns) {
  next_ns_ = phase_ns_;
  if (origin_ == ClockPhaseOrigin::kCapturedAtSuccessfulStart) {
    next_ns_ += now_ns;
    return;
  }
  // The first tick that is not before the start.
  while (next_ns_ < now_ns) next_ns_ += period_ns_;
  while (next_ns_ - period_ns_ >= now_ns) next_ns_ -= period_ns_;
}

std::optional<TriggerFiring> ClockModel::next(std::vector<ModelInput>&, std::int64_t now_ns) {
  if (now_ns < next_ns_) return {};
  const std::int64_t first = next_ns_;
  std::int64_t last = first;
  while (last + period_ns_ <= now_ns) {
    last += period_ns_;
    ++coalesced_;
  }
  next_ns_ = last + period_ns_;
  return TriggerFiring{.activation_ns = last, .reference_ns = last, .first_tick_ns = first};
}

std::optional<TriggerFiring> AlignedModel::next(std::vector<ModelInput>& inputs, std::int64_t) {
  for (;;) {
    for (const std::uint32_t port : ports_) {
      if (inputs[port].waiting.empty()) return {};
      if (!inputs[port].waiting.front().capture_ns) {
        failure_ = "an aligned sample has no capture time";
        return {};
      }
    }
    const auto time_of = [&](std::uint32_t port) {
      return *inputs[port].waiting.front().capture_ns;
    };
    const std::uint32_t oldest = *std::ranges::min_element(ports_, {}, time_of);
    const std::uint32_t newest = *std::ranges::max_element(ports_, {}, time_of);
    if (time_of(newest) - time_of(oldest) <= window_ns_) {
      TriggerFiring firing{.reference_ns = time_of(newest)};
      for (const std::uint32_t port : ports_) {
        firing.taken.emplace_back(port, take_head(inputs[port]));
        // Times are not negative, and each comes after those before it on the same input.
        firing.activation_ns = std::max(firing.activation_ns, firing.taken.back().second.came_ns);
      }
      return firing;
    }
    inputs[oldest].waiting.pop_front();
    ++drops_;
  }
}

bool AlignedModel::finished(const std::vector<ModelInput>& inputs) const {
  return std::ranges::any_of(ports_, [&](std::uint32_t port) { return inputs[port].exhausted(); });
}

std::optional<TriggerFiring> WindowModel::next(std::vector<ModelInput>& inputs,
                                               std::int64_t now_ns) {
  ModelInput& anchors = inputs[anchor_];
  while (!anchors.waiting.empty() && pending_.size() < max_pending_) {
    if (!anchors.waiting.front().capture_ns) {
      failure_ = "an anchor has no capture time";
      return {};
    }
    const ModelSample anchor = take_head(anchors);
    if (primed_) pending_.push_back({anchor, now_ns});
    primed_ = true;
  }
  if (pending_.empty()) return {};
  const Pending first = pending_.front();
  const std::int64_t reference_ns = *first.anchor.capture_ns;
  const bool complete = complete_(reference_ns);
  if (!complete && now_ns - first.taken_ns < max_wait_ns_) return {};
  if (!complete) ++timeouts_;
  pending_.pop_front();
  return TriggerFiring{
      .activation_ns = now_ns, .reference_ns = reference_ns, .taken = {{anchor_, first.anchor}}};
}

bool WindowModel::finished(const std::vector<ModelInput>& inputs) const {
  return pending_.empty() && inputs[anchor_].exhausted();
}

bool NotifiedModel::notify() {
  if (outstanding_ == capacity_) return false;
  ++outstanding_;
  return true;
}

std::optional<TriggerFiring> NotifiedModel::next(std::vector<ModelInput>&, std::int64_t now_ns) {
  if (outstanding_ == 0) return {};
  --outstanding_;
  return TriggerFiring{.activation_ns = now_ns, .reference_ns = now_ns};
}

std::optional<TriggerFiring> ReadableModel::next(std::vector<ModelInput>&, std::int64_t now_ns) {
  if (!readable_) return {};
  // One outstanding witness: the activation looks at the level again before it fires once more.
  readable_ = false;
  return TriggerFiring{.activation_ns = now_ns, .reference_ns = now_ns};
}

void DoorbellModel::ring(std::uint64_t count) { rung_ = std::max(rung_, count); }

std::optional<TriggerFiring> DoorbellModel::next(std::vector<ModelInput>&, std::int64_t now_ns) {
  if (rung_ == seen_) return {};
  seen_ = rung_;
  return TriggerFiring{.activation_ns = now_ns, .reference_ns = now_ns};
}

void SpinModel::poll(bool flag) {
  if (last_ == false && flag) edge_ = true;
  last_ = flag;
}

std::optional<TriggerFiring> SpinModel::next(std::vector<ModelInput>&, std::int64_t now_ns) {
  if (!edge_) return {};
  edge_ = false;
  return TriggerFiring{.activation_ns = now_ns, .reference_ns = now_ns};
}

}  // namespace weftline::testing
