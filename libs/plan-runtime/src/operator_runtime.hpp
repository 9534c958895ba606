// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "counter.hpp"
#include "input_runtime.hpp"
#include "operator_context.hpp"
#include "output_runtime.hpp"
#include "run_control.hpp"
#include "trigger_state.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/graph/operator.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One running operator: the user's instance, its ports, its trigger, and the context that its
/// callbacks see. Everything but the counters belongs to one lane; start() and stop() run while
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
    /// The plan's rates of this operator's ports, inputs before outputs; empty: none is known.
    std::span<const PortRatePlanRecord> rates{};
  };
  /// Runs setup() on the instance and binds its ports. Throws what setup() throws.
  explicit OperatorRuntime(Options options);

  [[nodiscard]] InputRuntime& input(std::uint32_t port) noexcept { return *inputs_[port]; }
  [[nodiscard]] OutputRuntime& output(std::uint32_t port) noexcept { return *outputs_[port]; }
  [[nodiscard]] const PayloadOps& input_ops(std::uint32_t port) const noexcept {
    return *spec_.inputs()[port].ops;
  }
  void use_pool(std::uint32_t port, TensorPool& pool) noexcept {
    outputs_[port]->use_pool(pool, context_.time_of_activation());
  }
  /// What is noted of each activation from now on.
  void use_probe(OperatorProbe& probe) noexcept;
  [[nodiscard]] const OperatorPlanRecord& record() const noexcept { return record_; }

  /// Calls the user's start(); false after reporting a failure.
  [[nodiscard]] bool start();
  /// Clock triggers count from now.
  void arm() noexcept { trigger_->start(clock_.now().timestamp_ns); }
  /// Calls the user's stop() if start() succeeded.
  void stop() noexcept;
  /// Destroys the user's instance and with it every handle and loan that it holds.
  void destroy_instance() noexcept { instance_.reset(); }

  /// Runs at most one activation. True when something was done.
  [[nodiscard]] bool step() noexcept;
  /// True when there is nothing left to do for this operator, discarding included.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// When step() has to be called again though nothing wakes the lane; on the RealtimeClock.
  [[nodiscard]] std::optional<std::int64_t> deadline_ns() const noexcept;
  [[nodiscard]] bool waits_for_device() const noexcept;

  [[nodiscard]] OperatorCounters counters() const noexcept;

 private:
  [[nodiscard]] bool admitted() noexcept;
  void activate(std::int64_t now_ns) noexcept;
  void finish() noexcept;
  /// Nothing more will come; what is queued has still to be worked on.
  [[nodiscard]] bool drains() const noexcept;
  [[nodiscard]] bool discard_late_inputs() noexcept;

  const OperatorPlanRecord& record_;
  std::unique_ptr<OperatorBase> instance_;
  OperatorSpec spec_{};
  const std::shared_ptr<Device> device_;
  const StreamRef stream_;
  const ClockRef clock_;
  RunControl& control_;
  OperatorContext context_;
  std::vector<std::unique_ptr<InputRuntime>> inputs_{};
  std::vector<std::unique_ptr<OutputRuntime>> outputs_{};
  std::unique_ptr<TriggerState> trigger_{};
  OperatorProbe* probe_{nullptr};  ///< Null unless the run is observed.
  bool started_{false};
  bool held_{
      false};  ///< The trigger is due, but an earlier refusal or a full output holds it back.
  bool done_{false};
  std::atomic<bool> finished_{false};
  Counter activations_{};
  Counter discarded_{};
};

}  // namespace weftline::runtime
