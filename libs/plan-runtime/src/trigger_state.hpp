// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "counter.hpp"
#include "input_runtime.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// Decides when one operator runs and which heads it gets. Bounded state, used on the operator's
/// lane.
class TriggerState {
 public:
  virtual ~TriggerState() = default;
  /// The operator crosses start at `start_ns`.
  virtual void start(std::int64_t start_ns) noexcept { static_cast<void>(start_ns); }
  /// True when an activation is due at `now_ns` on the default clock. May drop heads that can never
  /// be part of one.
  [[nodiscard]] virtual expected<bool, Error> due(std::int64_t now_ns) noexcept = 0;
  /// After due() said yes: takes the heads.
  [[nodiscard]] virtual expected<void, Error> select() noexcept = 0;
  /// The time to give as activation time: `now_ns`, or the tick.
  [[nodiscard]] virtual std::int64_t activation_time(std::int64_t now_ns) noexcept {
    return now_ns;
  }
  /// True when no activation can come any more.
  [[nodiscard]] virtual bool exhausted() noexcept = 0;
  /// When to look again although no input has changed.
  [[nodiscard]] virtual std::optional<std::int64_t> deadline_ns() const noexcept { return {}; }
  [[nodiscard]] virtual bool input_driven() const noexcept { return true; }

  [[nodiscard]] std::uint64_t unaligned_drops() const noexcept { return unaligned_drops_.read(); }
  [[nodiscard]] std::uint64_t coalesced_ticks() const noexcept { return coalesced_ticks_.read(); }

 protected:
  Counter unaligned_drops_{};
  Counter coalesced_ticks_{};
};

/// `inputs` are all inputs of the operator, by port index.
[[nodiscard]] std::unique_ptr<TriggerState> make_trigger(
    const TemporalTriggerPlanRecord& record, std::span<const std::unique_ptr<InputRuntime>> inputs);

}  // namespace weftline::runtime
