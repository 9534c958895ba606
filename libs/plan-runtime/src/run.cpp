// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/run.hpp"

#include <cstdio>
#include <optional>

#include "guarded.hpp"
#include "signal_relay.hpp"

namespace weftline {
namespace {

constexpr int kCompletedStatus = 0;
constexpr int kFailedStatus = 1;
constexpr int kStoppedStatus = 2;

void say(const RunDiagnostic& what) {
  std::fprintf(stderr, "weftline: %s\n", what.to_string().c_str());
}

expected<int, Error> run_guarded(const ExecutionPlan& plan, RunSignalPolicy signals,
                                 const RunOptions& options) {
  std::optional<SignalRelay> relay;
  if (signals == RunSignalPolicy::kManaged) {
    WEFTLINE_ASSIGN(SignalRelay adopted, SignalRelay::adopt());
    relay.emplace(std::move(adopted));
  }
  RunSession session = run_async(plan, options);
  if (relay) WEFTLINE_TRY(relay->serve(session));
  session.wait();
  relay.reset();
  for (const RunDiagnostic& warning : session.warnings()) say(warning);
  for (const RunDiagnostic& diagnostic : session.diagnostics()) say(diagnostic);
  switch (session.termination()) {
    case RunTermination::kCompleted:
      return kCompletedStatus;
    case RunTermination::kStopped:
      return kStoppedStatus;
    default:
      return kFailedStatus;
  }
}

}  // namespace

int run(const ExecutionPlan& plan, RunSignalPolicy signals, const RunOptions& options) {
  int status = kFailedStatus;
  auto ran = runtime::guarded("RUN_THREW", [&]() -> expected<void, Error> {
    WEFTLINE_ASSIGN(status, run_guarded(plan, signals, options));
    return {};
  });
  if (!ran) say({"run", std::move(ran).error()});
  return status;
}

}  // namespace weftline
