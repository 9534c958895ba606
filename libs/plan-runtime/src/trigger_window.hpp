// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Anchors open windows, which run in order, each when it is complete or has waited long enough.
class WindowTrigger final : public TriggerState {
 public:
  /// `bracketed` are the inputs that a window waits for.
  WindowTrigger(const TemporalTriggerPlanRecord& record, InputRuntime& anchor,
                std::vector<InputRuntime*> bracketed, ClockRef wait_clock);

  void start(std::int64_t start_ns) noexcept override;
  void forget(const InputRuntime& input) noexcept override;
  Look look() noexcept override;
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override;
  std::optional<std::int64_t> deadline_ns() const noexcept override;

 private:
  [[nodiscard]] expected<void, Error> open_windows() noexcept;
  [[nodiscard]] expected<bool, Error> complete(std::int64_t reference_ns) noexcept;
  [[nodiscard]] std::int64_t reference_ns() const noexcept;

  InputRuntime& anchor_;
  const std::vector<InputRuntime*> bracketed_;
  const ClockRef wait_clock_;
  const std::int64_t max_wait_ns_;
  /// When each held anchor was taken, on the wait clock; as a ring beside the held samples.
  std::vector<std::int64_t> taken_ns_;
  std::size_t first_{0};
  bool primed_{false};
  bool timed_out_{false};  ///< The window that look() found due.
};

}  // namespace weftline::runtime
