// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "run_control.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/graph/execution_context.hpp"
#include "weftline/graph/operator_spec.hpp"

namespace weftline::runtime {

/// What the callbacks of one operator see of its run. Used on the operator's lane, and on the
/// controller's thread while that lane does not run.
class OperatorContext final : public ExecutionContext, public LifecycleContext {
 public:
  struct Options {
    std::shared_ptr<Device> device{};
    StreamRef stream{};
    ClockRef clock;
    RunControl* control{nullptr};
    /// The plan's rates of this operator's ports, inputs before outputs; empty: none is known.
    std::span<const PortRatePlanRecord> rates{};
  };
  /// `spec` is what setup() declared, and stays where it is.
  OperatorContext(Options options, const OperatorSpec& spec) noexcept
      : spec_(spec),
        device_(std::move(options.device)),
        stream_(options.stream),
        clock_(options.clock),
        control_(*options.control),
        rates_(options.rates) {}

  /// What the next compute() sees of its activation.
  void activate(ActivationReason reason, TimePoint time) noexcept {
    reason_ = reason;
    activation_time_ = time;
  }

  /// Stays where it is.
  [[nodiscard]] const TimePoint& time_of_activation() const noexcept { return activation_time_; }

  ActivationReason activation_reason() const noexcept override { return reason_; }
  TimePoint activation_time() const noexcept override { return activation_time_; }
  StreamRef cuda_stream() const noexcept override { return stream_; }
  ClockRef clock() const noexcept override { return clock_; }
  bool stop_requested() const noexcept override { return control_.stopping(); }
  void request_success() noexcept override { control_.succeed(); }
  PortRateView rate(const InputPort& input) const noexcept override;
  PortRateView rate(const OutputPort& output) const noexcept override;
  Device* device() const noexcept override { return device_.get(); }

 private:
  const OperatorSpec& spec_;
  const std::shared_ptr<Device> device_;
  const StreamRef stream_;
  const ClockRef clock_;
  RunControl& control_;
  const std::span<const PortRatePlanRecord> rates_;
  ActivationReason reason_{ActivationReason::kInput};
  TimePoint activation_time_{};
};

}  // namespace weftline::runtime
