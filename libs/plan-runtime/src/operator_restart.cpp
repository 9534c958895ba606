// SPDX-License-Identifier: Apache-2.0
//
// What a restart does with one operator.
#include <algorithm>
#include <utility>

#include "guarded.hpp"
#include "operator_runtime.hpp"

namespace weftline::runtime {

bool OperatorRuntime::restartable() const noexcept {
  return !finished_.load(std::memory_order_relaxed) &&
         std::ranges::none_of(outputs_, [](const auto& output) { return output->closed(); });
}

expected<OperatorInstance, Error> OperatorRuntime::make_candidate(
    const OperatorFactory& factory) const noexcept {
  OperatorInstance candidate;
  WEFTLINE_TRY(guarded("OPERATOR_SETUP_THREW", [&]() -> expected<void, Error> {
    candidate = set_up(record_, factory());
    return {};
  }));
  return candidate;
}

void OperatorRuntime::exchange(OperatorInstance& other) noexcept {
  for (const InputDeclaration& input : instance_.spec.inputs()) input.port->bind(nullptr);
  for (const OutputDeclaration& output : instance_.spec.outputs()) output.port->bind(nullptr);
  std::swap(instance_, other);
  bind_ports();
}

void OperatorRuntime::reset_source() {
  if (source_) source_->reset();
}

void OperatorRuntime::begin_epoch() noexcept {
  clear_inputs();
  for (const auto& output : outputs_) output->begin_epoch();
  held_ = false;
  start_trigger();
}

void OperatorRuntime::forget(std::uint32_t port) noexcept {
  inputs_[port].clear();
  trigger_->forget(inputs_[port]);
}

}  // namespace weftline::runtime
