// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compile_state.hpp"

namespace weftline {

/// What the deployment says about outputs' devices, with errors for what it can't say.
class OutputBindings {
 public:
  explicit OutputBindings(CompileState& state);

  [[nodiscard]] bool binds(PortRef output) const { return bound_.contains(output); }
  /// Absent without a binding, and after a conflict.
  [[nodiscard]] std::optional<DeviceId> device_of(PortRef output) const;
  [[nodiscard]] bool is_exported(PortRef output) const { return exported_.contains(output); }

  /// The call that is missing.
  [[nodiscard]] static std::string call(const OperatorPlanRecord& op, std::uint32_t port);

 private:
  [[nodiscard]] std::optional<PortRef> find_output(const TensorOutputDevicePlacement& binding);
  void bind(PortRef output, DeviceId device);

  CompileState& state_;
  std::set<PortRef> exported_{};
  /// Empty after a conflict.
  std::map<PortRef, std::optional<DeviceId>> bound_{};
};

}  // namespace weftline
