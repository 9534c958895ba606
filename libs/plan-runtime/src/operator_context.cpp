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
  const auto& declared = spec_.outputs();
  const std::uint32_t port = output.index();
  const bool own = port < declared.size() && declared[port].port == &output;
  const std::size_t at = spec_.inputs().size() + port;
  return own && at < rates_.size() ? view_of(rates_[at]) : PortRateView{};
}

}  // namespace weftline::runtime
