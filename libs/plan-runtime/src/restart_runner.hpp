// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "restart_desk.hpp"
#include "session_resources.hpp"

namespace weftline::runtime {

/// Carries out restart transactions, one at a time, on the controller's thread.
///
/// All lanes stand between two activations meanwhile. The closure goes down in reverse of its start
/// order: kStop, and kRelease where the restart begins with kAllocate or before. Then it goes up
/// again from the effective stage on, with a barrier after each stage. A restart from kConfigure
/// does so with fresh instances; any other with those that ran. Samples that were accepted stay:
/// those queued for the closure and those that it has emitted. What operators remember of samples
/// outside their queues is forgotten: by the closure of all its inputs, by consumers of what the
/// closure emits. Numbers of its outputs' samples begin at 0 again, and its clock triggers' phases
/// with the new start. Handles of its readiness sources are closed, and bound anew. Updates of
/// lifecycle_mutable parameters that wait take effect with their stage.
///
/// A closure that can't go up goes down again, and what ran before goes up in its place, once; the
/// old instances are kept until then. An import that feeds the closure is given to its next
/// producer last of all: after that there is no way back.
class RestartRunner {
 public:
  RestartRunner(SessionResources& resources, RestartDesk& desk) noexcept
      : resources_(resources), desk_(desk) {}

  /// Works off what was requested. False when nothing was.
  bool serve() noexcept;

 private:
  struct Outcome {
    LifecycleTransactionState state{LifecycleTransactionState::kCommitted};
    std::string place{};
    Error error{};
  };
  using Members = std::span<const VertexId>;

  void run(RestartTransaction& transaction) noexcept;
  [[nodiscard]] Members closure_of(const RestartTransaction& transaction) const;
  template <class Call>
  void for_params(Members members, const Call& call);
  [[nodiscard]] Outcome attempt(RestartTransaction& transaction, Members members);
  /// Changes nothing.
  [[nodiscard]] expected<void, Error> check(Members members);
  [[nodiscard]] expected<void, RunDiagnostic> make_candidates(Members members);
  void take_down(Members members, LifecycleStage from) noexcept;
  [[nodiscard]] expected<void, RunDiagnostic> bring_up(Members members, LifecycleStage from);
  /// Puts the fresh instances in the old ones' place, or back again.
  void exchange(Members members) noexcept;
  [[nodiscard]] Outcome roll_back(Members members, LifecycleStage from, RunDiagnostic why);
  [[nodiscard]] expected<void, RunDiagnostic> rebind_imports();
  void commit(Members members) noexcept;

  SessionResources& resources_;
  RestartDesk& desk_;
  std::uint64_t epoch_{1};
  // Of the transaction that is under way.
  std::vector<OperatorInstance> others_{};  ///< By member: the candidate, or what it replaces.
  std::vector<ImportRuntime*> rebound_{};
};

}  // namespace weftline::runtime
