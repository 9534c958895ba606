// SPDX-License-Identifier: Apache-2.0
#include "materialization.hpp"

#include <array>
#include <utility>

#include "authoring_admission.hpp"
#include "contract_support.hpp"
#include "guarded.hpp"
#include "plan_support.hpp"
#include "session_channels.hpp"
#include "session_devices.hpp"
#include "session_operators.hpp"
#include "session_pools.hpp"
#include "session_threads.hpp"

namespace weftline::runtime {
namespace {

constexpr std::array kSteps{SessionStep{"clocks", make_clocks, drop_clocks},
                            SessionStep{"devices", make_devices, drop_devices},
                            SessionStep{"streams", make_streams, drop_streams},
                            SessionStep{"pools", make_pools, drop_pools},
                            SessionStep{"observation", make_observation, drop_observation},
                            SessionStep{"lanes", make_lanes, drop_lanes},
                            SessionStep{"exports", make_exports, drop_exports},
                            SessionStep{"operators", make_operators, drop_operators},
                            SessionStep{"edges", make_edges, drop_edges},
                            SessionStep{"imports", make_imports, drop_imports},
                            SessionStep{"threads", make_threads, join_threads}};

}  // namespace

expected<void, RunDiagnostic> admit_plan(const ExecutionPlan& plan, const RunOptions& options,
                                         bool bound) {
  if (!plan.ok()) {
    return make_unexpected(RunDiagnostic{"plan",
                                         {ErrorCode::kInvalidArgument, "RUN_PLAN_REJECTED",
                                          format_diagnostics(plan.diagnostics()), 0}});
  }
  if (options.late_callback_interval.count() <= 0) {
    return make_unexpected(RunDiagnostic{
        "options",
        {ErrorCode::kInvalidArgument, "RUN_OPTIONS_INVALID",
         "late_callback_interval is " + std::to_string(options.late_callback_interval.count()) +
             " ns; give it a positive length",
         0}});
  }
  std::string place = "plan";
  auto admitted = guarded("RUN_BUILD_THREW", [&]() -> expected<void, Error> {
    WEFTLINE_TRY(check_authoring_records(plan.records()));
    WEFTLINE_TRY(check_supported(plan.records(), place, bound));
    return check_contracts_supported(plan.records(), place);
  });
  if (!admitted) {
    return make_unexpected(RunDiagnostic{std::move(place), std::move(admitted).error()});
  }
  return {};
}

std::span<const SessionStep> materialization_steps() noexcept { return kSteps; }

}  // namespace weftline::runtime
