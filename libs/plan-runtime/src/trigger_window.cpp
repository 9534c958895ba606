// SPDX-License-Identifier: Apache-2.0
#include "trigger_window.hpp"

#include <algorithm>

namespace weftline::runtime {

WindowTrigger::WindowTrigger(const TemporalTriggerPlanRecord& record, InputRuntime& anchor,
                             std::vector<InputRuntime*> bracketed, ClockRef wait_clock)
    : TriggerState(Kind::kWindows),
      anchor_(anchor),
      bracketed_(std::move(bracketed)),
      wait_clock_(wait_clock),
      max_wait_ns_(record.max_wait_ns),
      taken_ns_(record.max_pending_windows) {}

void WindowTrigger::start(std::int64_t) noexcept { primed_ = false; }

void WindowTrigger::forget(const InputRuntime& input) noexcept {
  // No window begins in one epoch of its anchors and ends in another.
  if (&input == &anchor_) primed_ = false;
}

expected<void, Error> WindowTrigger::open_windows() noexcept {
  const SampleCache& held = anchor_.held();
  if (anchor_.head() == nullptr || held.full()) return {};
  const std::int64_t now_ns = wait_clock_.now().timestamp_ns;
  while (anchor_.head() != nullptr && !held.full()) {
    WEFTLINE_TRY(anchor_.queue().capture_of_head("OnWindow"));
    if (!primed_) {
      primed_ = true;
      anchor_.queue().pass_over();
      continue;
    }
    taken_ns_[(first_ + held.size()) % taken_ns_.size()] = now_ns;
    WEFTLINE_TRY(anchor_.hold_head());
  }
  return {};
}

std::int64_t WindowTrigger::reference_ns() const noexcept {
  return anchor_.held().metadata_at(0).capture->timestamp_ns;  // NOLINT: none is held without
}

expected<bool, Error> WindowTrigger::complete(std::int64_t reference_ns) noexcept {
  bool complete = true;
  for (InputRuntime* input : bracketed_) {
    WEFTLINE_ASSIGN(const bool reached, input->complete(reference_ns));
    complete = complete && reached;
  }
  return complete;
}

TriggerState::Look WindowTrigger::look() noexcept {
  if (auto opened = open_windows(); !opened) return failed(std::move(opened).error());
  if (anchor_.held().empty()) return anchor_.ended() ? Look::kExhausted : Look::kNothing;
  auto is_complete = complete(reference_ns());
  if (!is_complete) return failed(std::move(is_complete).error());
  timed_out_ = !*is_complete;
  if (*is_complete) return Look::kDue;
  const bool over = wait_clock_.now().timestamp_ns - taken_ns_[first_] >= max_wait_ns_;
  return over ? Look::kDue : Look::kNothing;
}

bool WindowTrigger::fire(std::int64_t decided_ns, Firing& firing) noexcept {
  firing.reason = timed_out_ ? ActivationReason::kWindowTimeout : ActivationReason::kWindow;
  if (timed_out_) window_timeouts_.add();
  firing.activation_ns = decided_ns;
  firing.reference_ns = reference_ns();
  anchor_.select_held();
  first_ = (first_ + 1) % taken_ns_.size();
  return true;
}

std::optional<std::int64_t> WindowTrigger::deadline_ns() const noexcept {
  if (anchor_.held().empty()) return {};
  return taken_ns_[first_] + max_wait_ns_;
}

}  // namespace weftline::runtime
