// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "weftline/core/ids.hpp"

namespace weftline {

/// Values and order are those of the public vocabulary; plans of this version use kAnyInput, kEach,
/// kClock and kAligned.
enum class TemporalRecordTriggerKind : std::uint8_t {
  kAnyInput = 0,
  kEach,
  kClock,
  kReadable,
  kNotified,
  kDoorbell,
  kSpin,
  kAligned,
  kWindow,
  kPredicate,
};
enum class TemporalRecordOrigin : std::uint8_t { kAuthored = 0, kCoreSynthesized };

struct TemporalTriggerPlanRecord {
  TemporalRecordTriggerKind kind{TemporalRecordTriggerKind::kAnyInput};
  TemporalRecordOrigin origin{TemporalRecordOrigin::kAuthored};
  std::vector<std::uint32_t> inputs{};  ///< kEach: one; kAligned: two or more; kAnyInput: all.
  ClockId clock{};                      ///< kClock
  std::int64_t period_ns{0};            ///< kClock, positive
  std::int64_t phase_ns{0};             ///< kClock, from the crossing of start
  std::int64_t window_ns{0};            ///< kAligned: largest spread of capture times, inclusive
};

}  // namespace weftline
