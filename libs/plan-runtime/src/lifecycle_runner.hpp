// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "callback_watch.hpp"
#include "operator_runtime.hpp"
#include "run_control.hpp"
#include "trace_ring.hpp"

namespace weftline::runtime {

/// Takes operators through the stages of their lifecycle, one operator after the other, and knows
/// how far each has come. On the controller's thread, while the operators' lanes do not run.
class LifecycleRunner {
 public:
  /// Operators by vertex id. A callback that fails in a way that may pass is called again, at most
  /// `retries` times. `trace` may be null.
  LifecycleRunner(std::span<const std::unique_ptr<OperatorRuntime>> operators, RunControl& control,
                  CallbackWatch& watch, std::uint32_t retries, TraceRing* trace)
      : operators_(operators),
        control_(control),
        watch_(watch),
        retries_(retries),
        trace_(trace),
        reached_(operators.size()) {}

  /// Takes each member, in the order given, through one forward stage. Ends at the first that
  /// fails; and, as kInterrupted (RUN_STOPPED), when the run is to end. The place of a failure is
  /// the operator's path and the stage: "camera.allocate".
  [[nodiscard]] expected<void, RunDiagnostic> forward(LifecycleStage stage,
                                                      std::span<const VertexId> members);
  /// kStop for those members that have started, in the reverse of the order given. A failure
  /// becomes a diagnostic of the run and keeps nobody else from stopping.
  void stop(std::span<const VertexId> members) noexcept;
  /// The same with kRelease, for those that have been through kConfigure.
  void release(std::span<const VertexId> members) noexcept;

 private:
  struct Reached {
    bool configured{false};
    bool started{false};
  };
  [[nodiscard]] StageOutcome call(VertexId member, LifecycleStage stage) noexcept;
  void take_down(std::span<const VertexId> members, LifecycleStage stage,
                 bool Reached::*was_built) noexcept;
  [[nodiscard]] std::string place_of(VertexId member, LifecycleStage stage) const;

  const std::span<const std::unique_ptr<OperatorRuntime>> operators_;
  RunControl& control_;
  CallbackWatch& watch_;
  const std::uint32_t retries_;
  TraceRing* const trace_;
  std::vector<Reached> reached_;
};

}  // namespace weftline::runtime
