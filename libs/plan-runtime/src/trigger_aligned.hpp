// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due when the heads of all its inputs lie close together in time.
class AlignedTrigger final : public TriggerState {
 public:
  AlignedTrigger(std::vector<InputRuntime*> inputs, std::int64_t window_ns) noexcept
      : TriggerState(Kind::kHeads), inputs_(std::move(inputs)), window_ns_(window_ns) {}

  Look look() noexcept override;
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override;

 private:
  [[nodiscard]] bool exhausted() noexcept;
  const std::vector<InputRuntime*> inputs_;
  const std::int64_t window_ns_;
  std::int64_t newest_ns_{0};  ///< Of the tuple that look() found.
};

}  // namespace weftline::runtime
