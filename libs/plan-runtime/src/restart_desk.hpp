// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parker.hpp"
#include "restart_box.hpp"
#include "restart_receipt.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// Where restarts are asked for and where the controller picks them up. Outlives the session, in
/// handles, and rejects then.
///
/// Operators ask through boxes, one for each grant, from their lanes and without the mutex. Whoever
/// takes the mutex next to look at what waits empties the boxes first.
class RestartDesk {
 public:
  /// Wakes the controller when there is something to do, until close().
  RestartDesk(const PlanRecords& plan, Parker& controller);
  RestartDesk(const RestartDesk&) = delete;
  RestartDesk& operator=(const RestartDesk&) = delete;

  /// From outside of the graph. Any thread; cold: a mutex and allocations.
  [[nodiscard]] LifecycleReceipt request(std::string_view target,
                                         const LifecycleRestartOptions& options);

  // An operator, on its lane.

  /// Allocates nothing and waits for nobody. The caller wakes the controller. Refusals have a code
  /// and a token.
  [[nodiscard]] expected<LifecycleReceipt, Error> ask(VertexId requester,
                                                      const RestartRequest& request) noexcept;
  /// Those through which an operator asks. They live as long as this.
  [[nodiscard]] std::span<const RestartBox* const> boxes_of(VertexId requester) const noexcept;

  // The controller.

  /// The oldest request that waits; null when none does.
  [[nodiscard]] std::shared_ptr<RestartTransaction> take();
  void begin(RestartTransaction& transaction, std::uint64_t generation);
  void advance(RestartTransaction& transaction, LifecycleTransactionState state);
  /// With a final state. Operators that asked may ask again.
  void finish(RestartTransaction& transaction, LifecycleTransactionState state, Error error,
              std::uint64_t duration_ns);
  /// Rejects what waits and whatever is asked from now on. No lane runs any more.
  void close();

  [[nodiscard]] RestartCounters counters() const;

 private:
  struct Grant {
    LifecycleStage earliest{};
    /// A member of the closure waits on a source that is bound in kArm.
    bool binds_sources{false};
    RestartBox* box{nullptr};  ///< Null for the outside.
  };
  using Grants = std::map<std::pair<VertexId, VertexId>, Grant>;  ///< By (target, requester).
  struct Admission {
    const Grant* grant{nullptr};
    VertexId target{};
    LifecycleStage stage{};
  };

  /// Why the request can't be: a code and a token. An invalid requester is the outside.
  [[nodiscard]] expected<Admission, Error> admit(
      VertexId requester, std::string_view target,
      std::optional<LifecycleStage> asked) const noexcept;
  /// What a refusal from outside is told beside the token.
  [[nodiscard]] std::string explain(std::string_view token, std::string_view target,
                                    const LifecycleRestartOptions& options) const;
  /// False when as many wait as may.
  [[nodiscard]] bool add_waiting() noexcept;
  void empty_boxes();
  /// The request that waits for that target, or null.
  [[nodiscard]] std::shared_ptr<RestartTransaction> waiting_for(VertexId target) const;

  // Fixed at construction.
  std::map<std::string, VertexId, std::less<>> operators_{};
  Grants grants_{};
  std::deque<RestartBox> boxes_{};
  std::map<VertexId, std::vector<const RestartBox*>> boxes_by_requester_{};
  bool enabled_{false};
  std::uint32_t max_pending_{0};

  // Lanes and whoever holds the mutex, by read-modify-write. What they count guards nothing.
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> last_id_{0};
  std::atomic<std::uint64_t> refused_on_lanes_{0};

  // Under the board's mutex.
  const std::shared_ptr<RestartBoard> board_{std::make_shared<RestartBoard>()};
  Parker* controller_;                                         ///< Null when closed.
  std::deque<std::shared_ptr<RestartTransaction>> pending_{};  ///< By id.
  RestartCounters counters_{};
};

}  // namespace weftline::runtime
