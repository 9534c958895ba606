// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/core/time.hpp"

namespace weftline {

/// What made an operator run.
enum class ActivationReason : std::uint8_t {
  kInput = 0,      ///< OnEach, OnAnyInput, OnAligned.
  kClock,          ///< A tick, or several as one.
  kWindow,         ///< OnWindow: all that the window may hold is there.
  kWindowTimeout,  ///< OnWindow: its longest wait is over.
  kNotified,
  kReadable,
  kDoorbell,
  kSpin,
};

/// What compute() can see of its start.
enum class ActivationStatus : std::uint8_t {
  kOnTime = 0,
  kLate,          ///< OnViolation::kReport
  kLateDegraded,  ///< OnViolation::kDegrade
};

/// One call of compute().
struct Activation {
  ActivationReason reason{ActivationReason::kInput};
  ActivationStatus status{ActivationStatus::kOnTime};
  /// When there was something to do, on the default clock, however long it has been held back
  /// since. OnEach, OnAnyInput and OnAligned: when the last of the samples that it takes came, that
  /// is, was published, or, by another process, first seen here. OnClock: the (last) tick. Any
  /// other trigger: when it was first seen to be due.
  TimePoint time{};
  TimePoint first_tick{};            ///< OnClock: the first of the ticks that it stands for.
  std::uint64_t coalesced_ticks{0};  ///< OnClock: how many ticks it stands for beyond one.
};

}  // namespace weftline
