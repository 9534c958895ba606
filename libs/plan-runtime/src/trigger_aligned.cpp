// SPDX-License-Identifier: Apache-2.0
#include "trigger_aligned.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace weftline::runtime {

TriggerState::Look AlignedTrigger::look() noexcept {
  for (;;) {
    InputRuntime* oldest = nullptr;
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (InputRuntime* input : inputs_) {
      const SampleMetadata* head = input->head();
      if (head == nullptr) return exhausted() ? Look::kExhausted : Look::kNothing;
      if (!head->capture) {
        return failed({ErrorCode::kProtocolError, "RUN_ALIGNED_WITHOUT_CAPTURE_TIME",
                       "input " + input->name() + " received sample " +
                           std::to_string(head->sequence) +
                           " without a capture time, by which OnAligned pairs; its producer sets "
                           "EmitOptions::capture_time",
                       0});
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
    if (spread <= static_cast<std::uint64_t>(window_ns_)) {
      newest_ns_ = last;
      return Look::kDue;
    }
    oldest->discard_head();
    unaligned_drops_.add();
  }
}

bool AlignedTrigger::exhausted() noexcept {
  return std::ranges::any_of(inputs_, [](InputRuntime* input) { return input->ended(); });
}

bool AlignedTrigger::fire(std::int64_t decided_ns, Firing& firing) noexcept {
  firing.activation_ns = std::numeric_limits<std::int64_t>::min();
  firing.reference_ns = newest_ns_;
  for (InputRuntime* input : inputs_) {
    firing.activation_ns =
        std::max(firing.activation_ns, input->came_ns(*input->head(), decided_ns));
    if (!done(input->select_head())) return false;
  }
  return true;
}

}  // namespace weftline::runtime
