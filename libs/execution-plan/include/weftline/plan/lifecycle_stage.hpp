// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace weftline {

/// The stages of a session's life, in order; those from kStop on take down what the others built.
enum class LifecycleStage : std::uint8_t {
  kConfigure = 0,
  kDiscover,
  kAllocate,
  kArm,
  kStart,
  kStop,
  kRelease,
};

[[nodiscard]] constexpr bool is_lifecycle_forward_stage(LifecycleStage stage) noexcept {
  return stage <= LifecycleStage::kStart;
}

/// "configure"; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view lifecycle_stage_name(LifecycleStage stage) noexcept;

}  // namespace weftline
