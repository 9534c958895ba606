// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute_scope.hpp"
#include "counter.hpp"
#include "input_set.hpp"
#include "operator_context.hpp"
#include "operator_instance.hpp"
#include "output_runtime.hpp"
#include "run_control.hpp"
#include "stage_call.hpp"
#include "trigger_state.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/graph/operator.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One running operator: the user's instance, its ports, its trigger, and the context that its
/// callbacks see. Everything but the counters belongs to one lane; run_stage() runs while
/// that lane's thread does not.
class OperatorRuntime final {
 public:
  struct Options {
    const OperatorPlanRecord* record{nullptr};
    std::unique_ptr<OperatorBase> instance{};
    std::shared_ptr<Device> device{};
    StreamRef stream{};
    ClockRef clock;
    RunControl* control{nullptr};
    RestartDesk* desk{nullptr};
    /// Null: no rate is known.
    RateControl* rates{nullptr};
    /// Null for an operator without parameters.
    ParamCell* params{nullptr};
    /// What it takes from its inputs, by port; empty: its trigger waits for all of them.
    std::vector<EdgeSelectionRecord> selections{};
    /// The one that its trigger names; the default clock if not given.
    std::optional<ClockRef> trigger_clock{};
    /// How its readiness source wakes its lane.
    ReadinessWake wake{};
  };
  /// Runs setup() on the instance and binds its ports. Throws what setup() throws.
  explicit OperatorRuntime(Options options);

  [[nodiscard]] InputRuntime& input(std::uint32_t port) noexcept { return inputs_[port]; }
  [[nodiscard]] const InputRuntime& input(std::uint32_t port) const noexcept {
    return inputs_[port];
  }
  [[nodiscard]] OutputRuntime& output(std::uint32_t port) noexcept { return *outputs_[port]; }
  [[nodiscard]] const PayloadOps& input_ops(std::uint32_t port) const noexcept {
    return *instance_.spec.inputs()[port].ops;
  }
  void use_pool(std::uint32_t port, TensorPool& pool) noexcept { outputs_[port]->use_pool(pool); }
  /// What is noted of each activation from now on.
  void use_probe(OperatorProbe& probe) noexcept;
  [[nodiscard]] const OperatorPlanRecord& record() const noexcept { return record_; }

  /// Calls what the user's class has for a stage of the lifecycle.
  [[nodiscard]] StageOutcome run_stage(LifecycleStage stage) noexcept {
    return call_stage(stage, *instance_.object, instance_.spec, context_);
  }
  /// Sources can be bound no longer; an error names one that nobody has bound.
  [[nodiscard]] expected<void, Error> arm_source() noexcept;
  /// Ticks count from now.
  void start_trigger() noexcept;
  /// Handles of its source answer that they are closed. Before kStop.
  void close_source() noexcept;

  // A restart, on the controller's thread while no lane runs.

  /// False when an output has ended: no instance could go on with it.
  [[nodiscard]] bool restartable() const noexcept;
  /// A fresh instance that has declared what the plan holds; bound to nothing.
  [[nodiscard]] expected<OperatorInstance, Error> make_candidate(
      const OperatorFactory& factory) const noexcept;
  /// Nothing is bound to its source any more. After kStop.
  void reset_source();
  /// Null for an operator without parameters.
  [[nodiscard]] ParamCell* params() noexcept { return params_; }
  /// Binds the ports to `other`, and gives back what they were bound to.
  void exchange(OperatorInstance& other) noexcept;
  /// Nothing that came or went before counts any more: see RestartRunner.
  void begin_epoch() noexcept;
  /// Drops what is remembered of that input's samples outside its queue.
  void forget(std::uint32_t port) noexcept;

  /// Destroys the user's instance and with it every handle and loan that it holds.
  void destroy_instance() noexcept { instance_.object.reset(); }
  /// Destroys the samples that its inputs hold outside their queues.
  void clear_inputs() noexcept {
    for (const auto& input : inputs_.all()) input->clear();
  }

  /// Runs at most one activation. True when something was done.
  [[nodiscard]] bool step() noexcept;
  /// Its lane must not go on before a restart that it has asked for is over.
  [[nodiscard]] bool awaits_restart() const noexcept { return context_.awaits_restart(); }
  /// True when there is nothing left to do for this operator, discarding included.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// When step() has to be called again though nothing wakes the lane; on the RealtimeClock.
  [[nodiscard]] std::optional<std::int64_t> deadline_ns() const noexcept;
  /// The driver of the clock that it waits on, where that does not go on by itself; else null.
  [[nodiscard]] ClockDriver* clock_driver() const noexcept;
  [[nodiscard]] bool waits_for_device() const noexcept;
  /// A descriptor that makes step() worth calling when it turns readable; -1: none now.
  [[nodiscard]] int watched_descriptor() const noexcept;
  /// Only step() notices that its source is ready: the lane can't sleep.
  [[nodiscard]] bool must_poll() const noexcept {
    return record_.trigger.kind == TemporalRecordTriggerKind::kSpin && !finished();
  }

  [[nodiscard]] OperatorCounters counters() const noexcept;

 private:
  [[nodiscard]] bool finished() const noexcept { return finished_.load(std::memory_order_relaxed); }
  /// Runs setup() and checks what it declares. Throws.
  [[nodiscard]] static OperatorInstance set_up(const OperatorPlanRecord& record,
                                               std::unique_ptr<OperatorBase> object);
  void bind_ports() noexcept;
  [[nodiscard]] bool admitted() noexcept;
  void activate() noexcept;
  [[nodiscard]] expected<void, Error> compute_with_tensors(const Firing& firing);
  [[nodiscard]] expected<void, Error> compute(const Firing& firing);
  /// Fills in whether the start is in time; an error where that fails the run.
  [[nodiscard]] expected<void, Error> judge_start(Activation& activation) noexcept;
  void finish() noexcept;
  /// Nothing more will come; what is queued has still to be worked on.
  [[nodiscard]] bool drains() const noexcept;
  [[nodiscard]] bool discard_late_inputs() noexcept;

  const OperatorPlanRecord& record_;
  OperatorInstance instance_;
  const std::shared_ptr<Device> device_;
  const StreamRef stream_;
  const ClockRef clock_;
  const ClockRef trigger_clock_;
  RunControl& control_;
  const std::unique_ptr<SourceRuntime> source_;  ///< Null: it waits for none.
  ParamCell* const params_;
  OperatorContext context_;
  ComputeScope scope_{};
  InputSet inputs_{};
  std::vector<std::unique_ptr<OutputRuntime>> outputs_{};
  std::unique_ptr<TriggerState> trigger_{};
  OperatorProbe* probe_{nullptr};            ///< Null unless the run is observed.
  std::optional<std::uint64_t> calls_left_;  ///< Absent: no number of calls ends it.
  bool handles_tensors_{false};
  bool decides_{false};         ///< The trigger wants `decided_ns_`.
  std::int64_t decided_ns_{0};  ///< When the trigger was first seen to be due.
  /// The trigger is due, but an earlier refusal or a full output holds it back.
  bool held_{false};
  bool done_{false};
  std::atomic<bool> finished_{false};
  Counter activations_{};
  Counter skipped_{};
  Counter late_starts_{};
  Counter discarded_{};
};

}  // namespace weftline::runtime
