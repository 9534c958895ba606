// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace weftline {

/// The stages of a session's life, in order; those from kStop on take down what the others built.
/// When the first begins, devices, streams, pools, queues and endpoints are there.
enum class LifecycleStage : std::uint8_t {
  kConfigure = 0,  ///< Check and derive what the other stages need.
  kDiscover,       ///< Look for what is outside: cameras, files, services.
  kAllocate,       ///< Acquire what the operator itself owns.
  kWarmUp,         ///< First launches, modules, caches: what must not be paid by the first frame.
  kArm,            ///< Bind readiness sources. The plan's proofs are read again right before.
  kStart,          ///< Begin. Activations follow when every operator has started.
  kStop,           ///< Undo kStart; no activation comes any more.
  kRelease,        ///< Undo the stages before.
};

[[nodiscard]] constexpr bool is_lifecycle_forward_stage(LifecycleStage stage) noexcept {
  return stage <= LifecycleStage::kStart;
}

/// "warm_up"; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view lifecycle_stage_name(LifecycleStage stage) noexcept;

}  // namespace weftline
