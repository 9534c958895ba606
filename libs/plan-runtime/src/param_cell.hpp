// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "param_record.hpp"
#include "weftline/graph/param_set.hpp"
#include "weftline/graph/params_view.hpp"
#include "weftline/runtime/param_snapshot.hpp"
#include "weftline/runtime/param_update.hpp"

namespace weftline::runtime {

/// The parameters of one operator in one session: the newest values, and how they reach its lane.
///
/// Three objects travel between the two sides, all made at construction. The lane has one, the side
/// that updates (whoever holds the mutex) has one, and the third lies in `middle_`, marked fresh
/// when the lane has not had it. Each side swaps its own for the middle one with one exchange; no
/// object is ever in two hands, so nothing is torn, nothing is freed, and neither side waits.
/// Release and acquire of the exchanges carry the bytes. An updater that gets back a fresh object
/// knows that its generation was never taken: it is superseded. One that gets back another knows
/// that the lane took the generation before.
///
/// The lane looks with a relaxed load at each activation: only the lane clears the mark, so what it
/// has seen fresh stays fresh until its exchange, which may find a newer one.
class ParamCell {
 public:
  struct Options {
    std::string path{};  ///< Of the operator, for messages.
    /// From which stages on a restart of the operator is admitted; absent: none is.
    std::optional<LifecycleStage> restart_from{};
  };
  /// `set` has parameters.
  ParamCell(const ParamSet& set, Options options);
  ParamCell(const ParamCell&) = delete;
  ParamCell& operator=(const ParamCell&) = delete;
  ~ParamCell() = default;

  // The operator's lane.

  /// Before each activation: takes the newest values. True when they are new.
  [[nodiscard]] bool take() noexcept {
    if ((middle_.load(std::memory_order_relaxed) & kFresh) == 0) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & kIndex;
    seen_ = &slots_[front_];
    progress_->taken.store(seen_->generation, std::memory_order_release);
    return true;
  }
  /// After the compute() that ran with what take() had said is new.
  void mark_observed() noexcept {
    progress_->observed.store(seen_->generation, std::memory_order_release);
  }
  /// Also for the controller while that lane does not run.
  [[nodiscard]] ParamsView view() const noexcept {
    return {seen_->values.get(), set_.type(), seen_->generation};
  }
  /// An update by the operator's own compute(). Allocates nothing where it succeeds; never waits.
  [[nodiscard]] expected<void, Error> submit(const ParamFieldDescriptor& field,
                                             const ParamScalar& value) noexcept;

  // Any thread.

  ParamUpdateResult update(std::span<const ParamAssignment> batch,
                           const ParamUpdateOptions& options);
  /// For captures of several cells: hold all their mutexes, taken in the order of the plan.
  [[nodiscard]] std::mutex& mutex() const noexcept { return progress_->mutex; }
  [[nodiscard]] OperatorParamValues capture_locked() const;

  // The controller, for a restart of the operator. What its callbacks see from begin_restart() to
  // end_restart() is a copy that only apply_deferred() and revert_deferred() change; the lane takes
  // what they have made newest as it takes any other generation.

  /// The lane is being brought to rest for a restart from `from` on, which takes what waits if it
  /// goes through the stages of all of that.
  void expect_restart(LifecycleStage from);
  /// That restart touches nothing: what waits waits on.
  void forget_restart();
  /// The lane rests. Callbacks see the newest values from now on.
  void begin_restart(LifecycleStage from);
  /// Before the callbacks of `stage`: what waited for it becomes the newest generation, and they
  /// see it. True when something did.
  bool apply_deferred(LifecycleStage stage);
  /// The candidate failed: the values are again those before it, as a new generation, and the
  /// updates that the restart took are rejected.
  void revert_deferred();
  /// The lane goes on.
  void end_restart();
  /// After the lane was joined for good. What no compute() has run with is closed.
  void end() noexcept;

 private:
  struct Change {
    const ParamFieldDescriptor* field{nullptr};
    ParamScalar value{};
  };
  struct Slot {
    std::shared_ptr<void> values{};
    std::uint64_t generation{0};
  };
  using Record = std::shared_ptr<ParamUpdateRecord>;

  static constexpr std::uint32_t kIndex = 3;
  static constexpr std::uint32_t kFresh = 4;

  [[nodiscard]] const ParamSchema& schema() const noexcept { return *set_.schema(); }
  [[nodiscard]] ParamUpdateResult refuse(ParamUpdateStatus status, Error error) const;
  [[nodiscard]] ParamUpdateResult closed_locked() const;
  [[nodiscard]] std::optional<ParamUpdateResult> read(std::span<const ParamAssignment> batch,
                                                      std::vector<Change>& changes,
                                                      bool& lifecycle) const;
  /// Whether a restart from there takes what waits: all of it or nothing, as batches are.
  [[nodiscard]] bool reaches_all_locked(LifecycleStage from) const noexcept;
  /// What no restart has taken.
  void wait_on_locked() noexcept;
  void show_newest_locked() noexcept;
  [[nodiscard]] ParamUpdateResult defer_locked(std::vector<Change> changes, Record record);
  /// Writes the newest values, with the changes, into the updaters' object.
  void prepare_locked(std::span<const Change> changes) noexcept;
  /// Makes what prepare_locked() wrote the newest generation and offers it to the lane.
  void publish_locked(std::span<const Change> changes, Record record) noexcept;

  const std::string path_;
  const std::optional<LifecycleStage> restart_from_;
  const ParamSet set_;
  const std::shared_ptr<ParamProgress> progress_{std::make_shared<ParamProgress>()};
  std::vector<const ParamFieldDescriptor*> mutable_fields_{};
  std::array<Slot, 3> slots_{};

  // Of the lane; of the controller while that rests.
  std::uint32_t front_{0};
  const Slot* seen_{slots_.data()};  ///< What callbacks see: the front, or `shown_` in a restart.
  Slot shown_{};

  // Between the two.
  alignas(64) std::atomic<std::uint32_t> middle_{1};

  // Under the mutex.
  alignas(64) std::uint32_t back_{2};
  std::uint64_t generation_{0};
  std::shared_ptr<void> newest_;
  Record offered_{};               ///< Of the generation in `middle_` or, by now, with the lane.
  Record dropped_by_lane_{};       ///< So that the lane need not free it.
  std::vector<Change> waiting_{};  ///< For a restart.
  Record waiting_record_{};
  std::vector<Change> taken_by_restart_{};  ///< Those whose stage is still to come.
  std::vector<Change> before_restart_{};    ///< What the others have replaced.
  Record restart_record_{};
};

}  // namespace weftline::runtime
