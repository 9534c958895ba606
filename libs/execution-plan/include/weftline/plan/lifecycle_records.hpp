// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weftline/core/ids.hpp"
#include "weftline/plan/lifecycle_stage.hpp"

namespace weftline {

// The order in which operators start, and what may be restarted while a plan runs.

/// `after` starts after `before` and stops before it. Each pair once, by (before, after).
struct LifecycleOrderRecord {
  VertexId before{};
  VertexId after{};
  friend constexpr auto operator<=>(const LifecycleOrderRecord&,
                                    const LifecycleOrderRecord&) noexcept = default;
};

/// What a plan says of a restart of some operator.
enum class LifecycleRestartDisposition : std::uint8_t {
  kDisabled = 0,  ///< Granted in the graph, but the options enable no transactions.
  kNotRequested,  ///< No grant names it. Has no record.
  kAdmitted,
  kRejected,  ///< Granted, with an error in the plan that says why not.
};

/// Why a restart begins at an earlier stage than the grant asks for.
enum class LifecycleStageWidening : std::uint8_t {
  kNone = 0,
  kReadinessSource,  ///< A member waits on a source that is bound in kArm.
};

/// What is restarted with one operator: it, and all that start after it, directly or not.
struct RestartClosureRecord {
  VertexId target{};
  std::vector<VertexId> members{};  ///< In start order; the target is the first.
  /// Entries that one transaction from kConfigure on may write: each member through each stage.
  std::uint32_t max_journal_entries{0};
};

/// Who may restart an operator. By (target, requester).
struct RestartGrantRecord {
  VertexId requester{};  ///< Invalid: somebody outside of the graph.
  VertexId target{};
  LifecycleStage requested_stage{LifecycleStage::kStart};
  LifecycleStage effective_stage{LifecycleStage::kStart};
  LifecycleStageWidening widening{LifecycleStageWidening::kNone};
  LifecycleRestartDisposition disposition{LifecycleRestartDisposition::kDisabled};
  std::uint32_t journal_entries{0};  ///< Of one transaction; 0 unless admitted.
};

/// The bounds of restart transactions, as the options give them.
struct LifecycleTransactionBounds {
  std::uint32_t max_closure_operators{0};
  std::uint32_t max_journal_entries{0};
  std::uint32_t max_pending_requests{0};
};

struct LifecyclePlanRecord {
  std::vector<LifecycleOrderRecord> order{};
  /// Every operator once; stop goes the other way.
  std::vector<VertexId> start_order{};
  std::optional<LifecycleTransactionBounds> transactions{};  ///< Absent: restarts are disabled.
  std::vector<RestartClosureRecord> restart_closures{};      ///< By target, of admitted grants.
  std::vector<RestartGrantRecord> restart_grants{};
};

}  // namespace weftline
