// SPDX-License-Identifier: Apache-2.0
#include "placement_names.hpp"

#include <array>

#include "name_of.hpp"

namespace weftline {

std::string_view profile_name(Profile profile) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"development", "deployment", "strict"});
  return name_of(profile, kNames);
}

std::string_view memory_conversion_name(MemoryConversionPolicy policy) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"default", "disable", "allow_if_safe", "require"});
  return name_of(policy, kNames);
}

std::string_view locality_name(EndpointLocality locality) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"cross_process"});
  return name_of(locality, kNames);
}

std::string_view output_placement_name(TensorOutputPlacementOrigin origin) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"bound", "operator", "green_context"});
  return name_of(origin, kNames);
}

std::string_view green_context_role_name(GreenContextRole role) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"dedicated_partition", "shared_service_residual", "reserved_residual"});
  return name_of(role, kNames);
}

std::string_view green_context_source_name(GreenContextSource source) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"developer_binding", "automatic_policy", "residual_policy"});
  return name_of(source, kNames);
}

std::string_view scheduling_policy_name(SchedulingPolicy policy) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"other", "fifo", "round_robin"});
  return name_of(policy, kNames);
}

std::string_view wake_mode_name(WakeMode mode) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"spin_then_park", "park", "busy_poll"});
  return name_of(mode, kNames);
}

std::string_view irq_isolation_name(IrqIsolation isolation) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"not_requested", "prefer_isolated", "require_isolated"});
  return name_of(isolation, kNames);
}

std::string_view probe_failure_policy_name(ProbeFailurePolicy policy) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"warn_and_record_fallback", "fail_admission"});
  return name_of(policy, kNames);
}

std::string_view support_thread_role_name(SupportThreadRole role) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"controller", "channel_pump"});
  return name_of(role, kNames);
}

}  // namespace weftline
