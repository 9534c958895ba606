// SPDX-License-Identifier: Apache-2.0
#include "session_build.hpp"

#include <array>

#include "authoring_admission.hpp"
#include "contract_support.hpp"
#include "session_channels.hpp"
#include "session_devices.hpp"
#include "session_operators.hpp"
#include "session_pools.hpp"
#include "session_threads.hpp"

namespace weftline::runtime {
namespace {

/// In the order of making. The order of SessionResources' members is the same.
constexpr std::array kSteps{SessionStep{"clocks", make_clocks},
                            SessionStep{"devices", make_devices},
                            SessionStep{"streams", make_streams},
                            SessionStep{"pools", make_pools},
                            SessionStep{"observation", make_observation},
                            SessionStep{"lanes", make_lanes},
                            SessionStep{"exports", make_exports},
                            SessionStep{"operators", make_operators},
                            SessionStep{"edges", make_edges},
                            SessionStep{"imports", make_imports},
                            SessionStep{"threads", make_threads}};

}  // namespace

expected<void, Error> build_session(SessionBuild& build) {
  WEFTLINE_TRY(check_contracts_supported(build.plan().records(), build.place));
  build.place = "plan";
  WEFTLINE_TRY(check_authoring_records(build.plan().records()));
  for (const SessionStep& step : kSteps) WEFTLINE_TRY(step.make(build));
  return {};
}

}  // namespace weftline::runtime
