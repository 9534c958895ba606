// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <typeinfo>
#include <utility>

#include "param_cell.hpp"
#include "rate_control.hpp"
#include "restart_desk.hpp"
#include "run_control.hpp"
#include "source_runtime.hpp"
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
    /// Where this operator asks for restarts. Null: it can't.
    RestartDesk* desk{nullptr};
    VertexId vertex{};
    /// Null: no rate is known.
    RateControl* rates{nullptr};
    /// Null for an operator without parameters.
    ParamCell* params{nullptr};
    SourceRuntime* source{nullptr};  ///< Null: it has none.
  };
  /// `spec` is what setup() declared, and stays where it is.
  OperatorContext(Options options, const OperatorSpec& spec) noexcept
      : spec_(spec),
        device_(std::move(options.device)),
        stream_(options.stream),
        clock_(options.clock),
        control_(*options.control),
        desk_(options.desk),
        restart_boxes_(options.desk != nullptr ? options.desk->boxes_of(options.vertex)
                                               : std::span<const RestartBox* const>()),
        vertex_(options.vertex),
        rate_control_(options.rates),
        rates_(options.rates != nullptr ? options.rates->of(options.vertex)
                                        : std::span<const PortRatePlanRecord>()),
        params_(options.params),
        source_(options.source) {}

  /// What the next compute() sees of itself.
  [[nodiscard]] Activation& next_activation() noexcept { return activation_; }

  /// What the next lifecycle callback sees of its stage.
  void enter_stage(LifecycleStage stage) noexcept {
    stage_ = stage;
    failure_ = {};
  }
  /// Whether a restart that this operator has asked for is not over yet.
  [[nodiscard]] bool awaits_restart() const noexcept {
    return std::ranges::any_of(restart_boxes_, [](const RestartBox* box) { return !box->free(); });
  }
  /// What that callback gave to fail(); without a token when it did not.
  [[nodiscard]] Error take_failure() noexcept { return std::exchange(failure_, Error{}); }

  const Activation& activation() const noexcept override { return activation_; }
  StreamRef cuda_stream() const noexcept override { return stream_; }
  ClockRef clock() const noexcept override { return clock_; }
  Cancellation cancellation() const noexcept override { return control_.cancellation(); }
  void request_success() noexcept override { control_.succeed(); }
  PortRateView rate(const InputPort& input) const noexcept override;
  PortRateView rate(const OutputPort& output) const noexcept override;
  Device* device() const noexcept override { return device_.get(); }
  expected<NotificationSender, Error> notification_sender(
      const NotificationSourceRef& source) override;
  expected<Doorbell, Error> doorbell(const DoorbellSourceRef& source) override;
  expected<void, Error> bind_readable(const ReadableSourceRef& source, int descriptor) override;
  expected<void, Error> bind_spin(const SpinSourceRef& source, SpinProbe probe) override;
  LifecycleStage stage() const noexcept override { return stage_; }
  LifecycleStatus fail(Error why, LifecycleStatus status) noexcept override;
  expected<void, Error> select_rate(const OutputPort& output, Rate rate) override;

 private:
  [[nodiscard]] expected<void, Error> own(const ReadinessSourceRef& source) const;
  static constexpr NoParams kNone{};
  static constexpr ParamsView kNoParams{&kNone, &typeid(NoParams), 0};

  [[nodiscard]] bool owns(const OutputPort& output) const noexcept;
  ParamsView params_view() const noexcept override {
    return params_ != nullptr ? params_->view() : kNoParams;
  }
  expected<void, Error> submit_param(const ParamFieldDescriptor& field,
                                     const ParamScalar& value) noexcept override;
  expected<LifecycleReceipt, Error> ask_restart(const RestartRequest& request) noexcept override;

  const OperatorSpec& spec_;
  const std::shared_ptr<Device> device_;
  const StreamRef stream_;
  const ClockRef clock_;
  RunControl& control_;
  RestartDesk* const desk_;
  const std::span<const RestartBox* const> restart_boxes_;
  const VertexId vertex_;
  RateControl* const rate_control_;
  const std::span<const PortRatePlanRecord> rates_;
  ParamCell* const params_;
  SourceRuntime* const source_;
  Activation activation_{};
  LifecycleStage stage_{LifecycleStage::kConfigure};
  Error failure_{};
};

}  // namespace weftline::runtime
