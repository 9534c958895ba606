// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session_resources.hpp"

namespace weftline::runtime {

/// One making of a session's resources, as its steps see it.
struct SessionBuild {
  SessionResources& resources;
  const RunOptions& options;
  /// Where ports to other processes come from; null: this machine's channels.
  ChannelBindings* bindings{nullptr};
  /// What is being made: where an error is from.
  std::string place{"session"};
  /// Complete, or as far as the making came.
  std::vector<RunDiagnostic> warnings{};
  std::vector<ThreadPlacementReport> placements{};

  [[nodiscard]] const ExecutionPlan& plan() const noexcept { return resources.plan; }
};

/// Makes one kind of resources.
struct SessionStep {
  std::string_view name;
  expected<void, Error> (*make)(SessionBuild&);
};

/// Makes all of it, step by step. On an error the caller drops the resources; nothing stays behind.
[[nodiscard]] expected<void, Error> build_session(SessionBuild& build);

}  // namespace weftline::runtime
