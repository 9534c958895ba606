// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "compute_scope.hpp"
#include "counter.hpp"
#include "input_queue.hpp"
#include "operator_probe.hpp"
#include "selector_state.hpp"
#include "weftline/graph/port_binding.hpp"

namespace weftline::runtime {

/// One input of a running operator: what an activation selects from it, and what `receive()` gives
/// out. Lives on the operator's lane.
///
/// An activation goes through it in this order: the trigger takes a sample (select_head,
/// select_held), or the selector does (select_side); settle() applies the policy for missing data;
/// prepare() makes ready what compute() may receive; finish() ends it.
class InputRuntime final : public InputBinding {
 public:
  struct Options {
    const InputPortRecord* record{nullptr};
    const PayloadOps* ops{nullptr};
    StreamRef stream{};
    EdgeSelectionRecord selection{};
    const ComputeScope* scope{nullptr};
  };
  explicit InputRuntime(const Options& options);
  void connect(EdgeQueue& edge) noexcept { queue_.connect(edge); }
  /// Of samples of another process: see came_ns().
  void connect_import(EdgeQueue& edge) noexcept {
    queue_.connect(edge);
    imported_ = true;
  }
  [[nodiscard]] bool imported() const noexcept { return imported_; }
  void use_probe(OperatorProbe& probe, std::uint32_t port) noexcept {
    probe_ = &probe;
    port_ = port;
  }
  [[nodiscard]] const std::string& name() const noexcept { return queue_.name(); }
  [[nodiscard]] InputQueue& queue() noexcept { return queue_; }

  // For the trigger.

  /// The head, if there is one. Stays queued.
  [[nodiscard]] const SampleMetadata* head() noexcept { return queue_.head(); }
  /// When its head came, on the default clock: when it was published, or, by another process, whose
  /// clock is its own, when it was first seen, at `seen_ns`.
  [[nodiscard]] std::int64_t came_ns(const SampleMetadata& head,
                                     std::int64_t seen_ns) const noexcept {
    return imported_ ? seen_ns : head.publish_time.timestamp_ns;
  }
  [[nodiscard]] bool ended() noexcept { return queue_.exhausted(); }
  /// The end of the stream is queued, maybe behind samples.
  [[nodiscard]] bool closing() const noexcept { return queue_.closed(); }
  /// From now on heads are only discarded.
  void abandon() noexcept { queue_.abandon(); }
  /// Drops the head unseen; the caller counts it.
  void discard_head() noexcept { queue_.pop(); }
  /// The head is this activation's.
  [[nodiscard]] expected<void, Error> select_head() noexcept {
    if (queue_.ops().is_tensor) WEFTLINE_TRY(queue_.check(queue_.front().value));
    selected_.cache = nullptr;
    found(1);
    return {};
  }
  /// Moves the head out of the queue, for a later select_held(); as many as the plan's
  /// pending_cache.
  [[nodiscard]] expected<void, Error> hold_head() noexcept;
  [[nodiscard]] const SampleCache& held() const noexcept { return held_; }
  /// Drops the oldest that is held: no activation gets it.
  void drop_held() noexcept { held_.pop_front(); }
  /// The oldest that is held is this activation's.
  void select_held() noexcept;
  /// See SelectorState.
  [[nodiscard]] expected<bool, Error> complete(std::int64_t reference_ns) noexcept {
    return selector_->complete(queue_, reference_ns);
  }

  // For the operator.

  /// The trigger does not wait for it.
  [[nodiscard]] bool is_side() const noexcept { return selector_ != nullptr; }
  [[nodiscard]] bool has_policy() const noexcept { return selection_.missing.has_value(); }
  /// prepare() has something to do.
  [[nodiscard]] bool needs_preparation() const noexcept {
    return queue_.ops().is_tensor || is_side() || selection_.pending_cache > 0 ||
           selection_.reuse_cache > 0;
  }
  [[nodiscard]] InputSelectorKind selector() const noexcept { return selection_.selector; }
  [[nodiscard]] expected<void, Error> select_side(std::int64_t reference_ns) noexcept;
  /// Fills in for what is missing; false when there is no activation without it. kNotReady
  /// (RUN_SAMPLE_MISSING) where the policy fails the run.
  [[nodiscard]] expected<bool, Error> settle() noexcept;
  /// The activation runs: orders selected tensors on the operator's stream, and remembers what may
  /// be reused.
  [[nodiscard]] expected<void, Error> prepare() noexcept;
  /// After compute(), or where it is skipped: drops what is used up. `ran`: what was not received
  /// counts as unread.
  void finish(bool ran) noexcept;
  /// Drops what is held outside the queue. By the lane, or when it does not run.
  void clear() noexcept;

  SelectionStatus selection() const noexcept override { return status_; }
  expected<void, Error> receive(void* value, SampleMetadata& metadata) noexcept override;
  expected<SampleCells, Error> receive_batch() noexcept override;

  // Any thread.

  [[nodiscard]] std::uint64_t unread() const noexcept { return unread_.read(); }
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return queue_.passed_over(); }
  /// Candidates that this input suppressed.
  [[nodiscard]] std::uint64_t skips() const noexcept { return skips_.read(); }
  [[nodiscard]] std::uint64_t reuses() const noexcept { return reused_.read(); }

 private:
  [[nodiscard]] bool fresh() const noexcept { return status_.state == InputState::kSelected; }
  void found(std::uint32_t count) noexcept {
    status_ = {InputState::kSelected, SelectionReason::kFound, count};
    received_ = false;
  }
  /// Of one sample, before an activation is given it for the first time.
  [[nodiscard]] expected<void, Error> give(const void* value, const SampleMetadata& metadata,
                                           const FlowStamp* stamp) noexcept;
  void remember() noexcept;
  [[nodiscard]] expected<void, Error> refusal(SelectionCardinality asked) noexcept;

  InputQueue queue_;
  const StreamRef stream_;
  const EdgeSelectionRecord selection_;
  const ComputeScope& scope_;
  const std::unique_ptr<SelectorState> selector_;  ///< Null: the trigger waits for this input.
  SampleCache held_;                               ///< OnWindow's anchors.
  SampleCache last_;                               ///< ReuseLast: what was selected last.
  std::uint32_t reuses_in_a_row_{0};
  Selected selected_{};
  SelectionStatus status_{};
  bool received_{false};
  bool imported_{false};
  OperatorProbe* probe_{nullptr};  ///< Null unless the run is observed.
  std::uint32_t port_{0};
  Counter unread_{};
  Counter skips_{};
  Counter reused_{};
};

}  // namespace weftline::runtime
