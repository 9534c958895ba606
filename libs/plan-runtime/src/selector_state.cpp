// SPDX-License-Identifier: Apache-2.0
#include "selector_state.hpp"

#include <algorithm>

namespace weftline::runtime {
namespace {

/// `from - distance` and `to + distance`, at the ends of time the end.
std::int64_t before(std::int64_t time_ns, std::int64_t distance_ns) noexcept {
  std::int64_t result = 0;
  return __builtin_sub_overflow(time_ns, distance_ns, &result) ? INT64_MIN : result;
}
std::int64_t after(std::int64_t time_ns, std::int64_t distance_ns) noexcept {
  std::int64_t result = 0;
  return __builtin_add_overflow(time_ns, distance_ns, &result) ? INT64_MAX : result;
}

/// The head that was captured at the reference, taken from the queue itself.
class ExactSelector final : public SelectorState {
 public:
  expected<void, Error> select(InputQueue& queue, std::int64_t reference_ns,
                               Selected& selected) noexcept override {
    while (queue.head() != nullptr) {
      WEFTLINE_ASSIGN(const std::int64_t capture_ns, queue.capture_of_head("Exact"));
      if (capture_ns > reference_ns) return {};
      if (capture_ns == reference_ns) {
        WEFTLINE_TRY(queue.check(queue.front().value));
        selected.cache = nullptr;
        selected.reason = SelectionReason::kFound;
        return {};
      }
      queue.pass_over();
    }
    return {};
  }
};

class LatestWithinSelector final : public SelectorState {
 public:
  LatestWithinSelector(const PayloadOps& ops, std::int64_t max_age_ns)
      : latest_(ops, 1), max_age_ns_(max_age_ns) {}

  expected<void, Error> select(InputQueue& queue, std::int64_t reference_ns,
                               Selected& selected) noexcept override {
    while (queue.head() != nullptr) {
      WEFTLINE_ASSIGN(const std::int64_t capture_ns, queue.capture_of_head("LatestWithin"));
      if (capture_ns > reference_ns) break;
      if (!latest_.empty() && capture_ns < captured_ns_) {
        queue.pass_over();
        continue;
      }
      if (!latest_.empty()) queue.drop_front(latest_);
      WEFTLINE_TRY(queue.move_head_to(latest_));
      captured_ns_ = capture_ns;
    }
    // A reference may lie before that of an earlier activation, and so before what that one took.
    if (latest_.empty() || captured_ns_ > reference_ns) return {};
    if (captured_ns_ < before(reference_ns, max_age_ns_)) {
      selected.reason = SelectionReason::kTooStale;
      return {};
    }
    selected.cache = &latest_;
    selected.kept = true;
    selected.numbers.push_back(latest_.number_of(0));
    selected.reason = SelectionReason::kFound;
    return {};
  }
  void clear(InputQueue& queue) noexcept override { queue.drop_all(latest_); }

 private:
  SampleCache latest_;
  const std::int64_t max_age_ns_;
  std::int64_t captured_ns_{0};  ///< Of latest_.
};

class DrainAllSelector final : public SelectorState {
 public:
  DrainAllSelector(const PayloadOps& ops, std::uint32_t max_samples) : batch_(ops, max_samples) {}

  expected<void, Error> select(InputQueue& queue, std::int64_t,
                               Selected& selected) noexcept override {
    while (queue.head() != nullptr && !batch_.full()) {
      WEFTLINE_TRY(queue.move_head_to(batch_));
      selected.numbers.push_back(batch_.number_of(batch_.size() - 1));
    }
    if (batch_.empty()) return {};
    selected.cache = &batch_;
    selected.kept = false;
    selected.reason = SelectionReason::kFound;
    return {};
  }
  void finish(InputQueue& queue) noexcept override { queue.drop_all(batch_); }
  void clear(InputQueue& queue) noexcept override { queue.drop_all(batch_); }

 private:
  SampleCache batch_;
};

/// Holds the samples of the window, and one before it, which proves that the input reaches over the
/// near end.
class BracketedWindowSelector final : public SelectorState {
 public:
  BracketedWindowSelector(const PayloadOps& ops, std::int64_t lookbehind_ns,
                          std::int64_t lookahead_ns, std::uint32_t max_samples)
      : held_(ops, max_samples + 1),
        lookbehind_ns_(lookbehind_ns),
        lookahead_ns_(lookahead_ns),
        max_samples_(max_samples) {}

  expected<bool, Error> complete(InputQueue& queue, std::int64_t reference_ns) noexcept override {
    // Asked first: what came before the end is then seen.
    const bool closed = queue.closed();
    WEFTLINE_TRY(take(queue, reference_ns));
    // What still waits lies beyond the far end.
    return reaches_far_end_ || queue.head() != nullptr || closed;
  }

  expected<void, Error> select(InputQueue& queue, std::int64_t reference_ns,
                               Selected& selected) noexcept override {
    WEFTLINE_ASSIGN(const bool reaches_far, complete(queue, reference_ns));
    taking_ = false;
    const std::int64_t near_ns = before(reference_ns, lookbehind_ns_);
    const std::int64_t far_ns = after(reference_ns, lookahead_ns_);
    while (held_.size() > 1 && capture_of(1) <= near_ns) queue.drop_front(held_);
    const bool reaches_near = !held_.empty() && capture_of(0) <= near_ns;
    // Beyond the far end lies what an earlier reference, later in time, took.
    const auto is_inside = [&](std::uint32_t index) {
      const std::int64_t capture_ns = capture_of(index);
      return capture_ns >= near_ns && capture_ns <= far_ns;
    };
    std::uint32_t inside = 0;
    for (std::uint32_t index = 0; index < held_.size(); ++index) inside += is_inside(index) ? 1 : 0;
    if (!reaches_near || !reaches_far || inside > max_samples_) {
      selected.reason = SelectionReason::kIncomplete;
      return {};
    }
    if (inside == 0) return {};
    for (std::uint32_t index = 0; index < held_.size(); ++index) {
      if (is_inside(index)) selected.numbers.push_back(held_.number_of(index));
    }
    selected.cache = &held_;
    selected.kept = true;
    selected.reason = SelectionReason::kFound;
    return {};
  }
  void clear(InputQueue& queue) noexcept override {
    queue.drop_all(held_);
    taking_ = false;
  }

 private:
  [[nodiscard]] std::int64_t capture_of(std::uint32_t index) const noexcept {
    return held_.metadata_at(index).capture->timestamp_ns;  // NOLINT: none is held without
  }

  /// Holds all that waits and lies before the far end. Whether a sample at the far end was among
  /// them is remembered until select(), for it may have been pushed out again.
  expected<void, Error> take(InputQueue& queue, std::int64_t reference_ns) noexcept {
    const std::int64_t near_ns = before(reference_ns, lookbehind_ns_);
    const std::int64_t far_ns = after(reference_ns, lookahead_ns_);
    if (!taking_) {
      taking_ = true;
      reaches_far_end_ = false;
      for (std::uint32_t index = 0; index < held_.size(); ++index) {
        reaches_far_end_ = reaches_far_end_ || capture_of(index) >= far_ns;
      }
    }
    while (queue.head() != nullptr) {
      WEFTLINE_ASSIGN(const std::int64_t capture_ns, queue.capture_of_head("BracketedWindow"));
      if (capture_ns > far_ns) break;
      reaches_far_end_ = reaches_far_end_ || capture_ns == far_ns;
      // Of those at or before the near end only the last is needed.
      while (!held_.empty()) {
        const std::int64_t next_ns = held_.size() > 1 ? capture_of(1) : capture_ns;
        if (next_ns > near_ns) break;
        queue.drop_front(held_);
      }
      if (held_.full()) queue.drop_front(held_);
      WEFTLINE_TRY(queue.move_head_to(held_));
    }
    return {};
  }

  SampleCache held_;
  const std::int64_t lookbehind_ns_;
  const std::int64_t lookahead_ns_;
  const std::uint32_t max_samples_;
  bool taking_{false};
  bool reaches_far_end_{false};
};

}  // namespace

std::unique_ptr<SelectorState> make_selector(const EdgeSelectionRecord& record,
                                             const PayloadOps& ops) {
  switch (record.selector) {
    case InputSelectorKind::kExact:
      return std::make_unique<ExactSelector>();
    case InputSelectorKind::kLatestWithin:
      return std::make_unique<LatestWithinSelector>(ops, record.max_age_ns.value_or(0));
    case InputSelectorKind::kDrainAll:
      return std::make_unique<DrainAllSelector>(ops, record.max_selected_samples);
    case InputSelectorKind::kBracketedWindow:
      return std::make_unique<BracketedWindowSelector>(
          ops, record.lookbehind_ns, record.lookahead_ns, record.max_selected_samples);
  }
  return nullptr;
}

}  // namespace weftline::runtime
