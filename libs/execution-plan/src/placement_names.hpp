// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "weftline/plan/boundary_records.hpp"
#include "weftline/plan/placement_records.hpp"
#include "weftline/plan/profile.hpp"

namespace weftline {

// Spellings in the plan's JSON; "unknown" for a value outside the enum.

[[nodiscard]] std::string_view memory_conversion_name(MemoryConversionPolicy policy) noexcept;
[[nodiscard]] std::string_view locality_name(EndpointLocality locality) noexcept;
[[nodiscard]] std::string_view output_placement_name(TensorOutputPlacementOrigin origin) noexcept;
[[nodiscard]] std::string_view green_context_role_name(GreenContextRole role) noexcept;
[[nodiscard]] std::string_view green_context_source_name(GreenContextSource source) noexcept;
[[nodiscard]] std::string_view scheduling_policy_name(SchedulingPolicy policy) noexcept;
[[nodiscard]] std::string_view wake_mode_name(WakeMode mode) noexcept;
[[nodiscard]] std::string_view irq_isolation_name(IrqIsolation isolation) noexcept;
[[nodiscard]] std::string_view probe_failure_policy_name(ProbeFailurePolicy policy) noexcept;
[[nodiscard]] std::string_view support_thread_role_name(SupportThreadRole role) noexcept;

}  // namespace weftline
