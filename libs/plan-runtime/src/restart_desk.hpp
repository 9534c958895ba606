// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "parker.hpp"
#include "weftline/graph/lifecycle_receipt.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One accepted request. `view` changes under the desk's mutex; the rest is the controller's once
/// it has been taken.
struct RestartTransaction {
  VertexId target{};
  std::string place{};
  ReceiptView view{};
};

/// Where restarts are asked for and where the controller picks them up. Any thread may ask: cold, a
/// mutex and allocations. Outlives the session, in handles and receipts, and rejects then.
class RestartDesk : public std::enable_shared_from_this<RestartDesk> {
 public:
  /// Wakes the controller when there is something to do, until close().
  RestartDesk(const PlanRecords& plan, Parker& controller);
  RestartDesk(const RestartDesk&) = delete;
  RestartDesk& operator=(const RestartDesk&) = delete;

  /// An invalid requester is somebody outside of the graph.
  [[nodiscard]] LifecycleReceipt request(VertexId requester, std::string_view target,
                                         const LifecycleRestartOptions& options);

  // The controller.

  /// The oldest request that waits; null when none does.
  [[nodiscard]] std::shared_ptr<RestartTransaction> take();
  void begin(RestartTransaction& transaction, std::uint64_t generation);
  void advance(RestartTransaction& transaction, LifecycleTransactionState state);
  /// With a final state.
  void finish(RestartTransaction& transaction, LifecycleTransactionState state, Error error,
              std::uint64_t duration_ns);
  /// Rejects what waits and whatever is asked from now on.
  void close();

  [[nodiscard]] RestartCounters counters() const;

 private:
  class Receipt;
  struct Grant {
    LifecycleStage earliest{};
    /// A member of the closure waits on a source that is bound in kArm.
    bool binds_sources{false};
  };
  using Grants = std::map<std::pair<VertexId, VertexId>, Grant>;  ///< By (target, requester).

  /// Why the request can't be; `transaction` gets its target and stage.
  [[nodiscard]] expected<void, Error> admit(VertexId requester, std::string_view target,
                                            const LifecycleRestartOptions& options,
                                            RestartTransaction& transaction) const;

  std::map<std::string, VertexId, std::less<>> operators_{};
  Grants grants_{};
  bool enabled_{false};
  std::size_t max_pending_{0};

  mutable std::mutex mutex_{};
  mutable std::condition_variable changed_{};
  Parker* controller_;  ///< Null when closed.
  std::deque<std::shared_ptr<RestartTransaction>> pending_{};
  std::uint64_t last_id_{0};
  RestartCounters counters_{};
};

}  // namespace weftline::runtime
