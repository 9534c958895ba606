// SPDX-License-Identifier: Apache-2.0
#include "operator_context.hpp"

namespace weftline::runtime {
namespace {

PortRateView view_of(const PortRatePlanRecord& rate) noexcept {
  return {rate.kind, rate.basis, rate.nominal, rate.maximum};
}

}  // namespace

PortRateView OperatorContext::rate(const InputPort& input) const noexcept {
  const auto& declared = spec_.inputs();
  const std::uint32_t port = input.index();
  const bool own = port < declared.size() && declared[port].port == &input;
  return own && port < rates_.size() ? view_of(rates_[port]) : PortRateView{};
}

PortRateView OperatorContext::rate(const OutputPort& output) const noexcept {
  const std::size_t at = spec_.inputs().size() + output.index();
  return owns(output) && at < rates_.size() ? view_of(rates_[at]) : PortRateView{};
}

bool OperatorContext::owns(const OutputPort& output) const noexcept {
  const auto& declared = spec_.outputs();
  const std::uint32_t port = output.index();
  return port < declared.size() && declared[port].port == &output;
}

expected<void, Error> OperatorContext::select_rate(const OutputPort& output, Rate rate) {
  if (rate_control_ == nullptr || !owns(output)) {
    return weftline::fail(
        ErrorCode::kNotFound, "RATE_SELECTION_UNKNOWN",
        "the port is not an output of this operator, whose rates only it selects");
  }
  return rate_control_->select({vertex_, output.index()}, rate);
}

expected<void, Error> OperatorContext::submit_param(const ParamFieldDescriptor& field,
                                                    const ParamScalar& value) noexcept {
  if (params_ == nullptr) return weftline::fail(ErrorCode::kInvalidArgument, "PARAM_FIELD_FOREIGN");
  return params_->submit(field, value);
}

expected<LifecycleReceipt, Error> OperatorContext::ask_restart(
    const RestartRequest& request) noexcept {
  if (control_.stopping()) return weftline::fail(ErrorCode::kClosed, "RESTART_SESSION_ENDING");
  if (desk_ == nullptr) return weftline::fail(ErrorCode::kNotSupported, "RESTART_DISABLED");
  auto receipt = desk_->ask(vertex_, request);
  if (receipt) control_.controller().wake();
  return receipt;
}

expected<void, Error> OperatorContext::own(const ReadinessSourceRef& source) const {
  const auto& declared = spec_.sources();
  const std::uint32_t index = source.index();
  const bool own = source_ != nullptr && index < declared.size() && declared[index].ref == &source;
  if (!own) {
    return weftline::fail(ErrorCode::kInvalidArgument, "SOURCE_FOREIGN",
                          "this operator's setup() has not declared that source");
  }
  if (stage_ >= LifecycleStage::kArm) return {};
  return weftline::fail(ErrorCode::kInvalidArgument, "SOURCE_BOUND_EARLY",
                        "source " + source_->name() + " is bound in arm or start, not in " +
                            std::string(lifecycle_stage_name(stage_)) +
                            ", which a restart may leave out");
}

expected<NotificationSender, Error> OperatorContext::notification_sender(
    const NotificationSourceRef& source) {
  WEFTLINE_TRY(own(source));
  return source_->sender();
}

expected<Doorbell, Error> OperatorContext::doorbell(const DoorbellSourceRef& source) {
  WEFTLINE_TRY(own(source));
  return source_->doorbell();
}

expected<void, Error> OperatorContext::bind_readable(const ReadableSourceRef& source,
                                                     int descriptor) {
  WEFTLINE_TRY(own(source));
  return source_->bind(descriptor);
}

expected<void, Error> OperatorContext::bind_spin(const SpinSourceRef& source, SpinProbe probe) {
  WEFTLINE_TRY(own(source));
  return source_->bind(probe);
}

LifecycleStatus OperatorContext::fail(Error why, LifecycleStatus status) noexcept {
  failure_ = std::move(why);
  if (failure_.token.empty()) failure_.token = "LIFECYCLE_STAGE_FAILED";
  return status;
}

}  // namespace weftline::runtime
