// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weftline {

/// Enables restarts, and bounds what they may cost. All that a plan admits is set aside before it
/// runs. Each number is 1 or more (LIFECYCLE_OPTIONS_INVALID).
struct LifecycleTransactionOptions {
  /// Of one restart: the operator and all that start after it. At most kMaximumRestartClosure.
  std::uint32_t max_closure_operators{1'024};
  /// Of one restart: each operator of it through each stage.
  std::uint32_t max_journal_entries{16'384};
  /// Requests that wait while a restart is under way.
  std::uint32_t max_pending_requests{16};
};

/// No restart takes more operators, whatever the options say.
inline constexpr std::uint32_t kMaximumRestartClosure = 65'536;
/// Of one plan: the members of all restarts together.
inline constexpr std::uint32_t kMaximumRestartMembers = 1'048'576;

}  // namespace weftline
