// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "weftline/graph/port.hpp"
#include "weftline/graph/readiness_source.hpp"

namespace weftline {

// What activates an operator. Ports and sources are members of that operator, declared in its
// setup(). No duration in a contract is longer than `kMaximumContractDuration`.
//
// The reference of an activation is the time that its selectors measure from. Where a trigger has
// one of its own it says so; else it is the time of the activation (see Activation).

inline constexpr std::chrono::nanoseconds kMaximumContractDuration = std::chrono::hours(24 * 365);

/// The most windows that one operator may keep open.
inline constexpr std::uint32_t kMaximumPendingWindows = 4'096;

/// Every accepted sample of one input. Reference: its capture time.
struct OnEach {
  std::reference_wrapper<const InputPort> input;
};

/// Any input that has a sample; one activation may select several.
struct OnAnyInput {};

/// A periodic tick of the graph's default clock, at `phase` from the origin. Ticks missed while the
/// lane was busy, or while an earlier refusal still holds, collapse into one, which knows the first
/// and the last of them. Reference: the last tick.
struct OnClock {
  std::chrono::nanoseconds period;
  std::chrono::nanoseconds phase{0};
  ClockPhaseOrigin origin{ClockPhaseOrigin::kCapturedAtSuccessfulStart};
};

/// The heads of all named inputs, when their capture times lie within `window` (inclusive).
/// Otherwise the oldest head is dropped and counted. Only heads are looked at; an accepted tuple
/// takes each head once. Samples without a capture time fail the run. Reference: the latest capture
/// time of the tuple.
struct OnAligned {
  std::vector<std::reference_wrapper<const InputPort>> inputs;
  std::chrono::nanoseconds window{0};
};

/// Each sample of `anchor` but the first, which only primes: it ends the window that the sample
/// before it began. Windows run in order, each when every input with a BracketedWindow has a sample
/// at or beyond its end or has ended, or when `max_wait` has passed on the wait clock since the
/// anchor was taken. At most `max_pending_windows` are open; further anchors wait in their queue.
/// Reference: the anchor's capture time; an anchor without one fails the run.
struct OnWindow {
  std::reference_wrapper<const InputPort> anchor;
  std::chrono::nanoseconds max_wait{0};  ///< Positive.
  std::optional<ClockKey> wait_clock{};  ///< The graph's default clock if not given.
  std::uint32_t max_pending_windows{0};  ///< 1 to kMaximumPendingWindows.
};

/// One activation for each notification.
struct OnNotified {
  std::reference_wrapper<const NotificationSourceRef> event;
};

/// As long as the source is readable. A level makes no queue.
struct OnReadable {
  std::reference_wrapper<const ReadableSourceRef> event;
};

/// When the doorbell's count is beyond what the last activation saw; rings in between are one.
struct OnDoorbell {
  std::reference_wrapper<const DoorbellSourceRef> event;
};

/// When the polled flag turns from false to true; true at the first look is no edge.
struct OnSpin {
  std::reference_wrapper<const SpinSourceRef> event;
};

using Trigger = std::variant<OnEach, OnAnyInput, OnClock, OnAligned, OnWindow, OnNotified,
                             OnReadable, OnDoorbell, OnSpin>;

}  // namespace weftline
