// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "contact_sheet.hpp"
#include "frame_source.hpp"
#include "run_stats.hpp"
#include "source_operator.hpp"
#include "weftline/compile/compile.hpp"

namespace motion_watch {

/// All that the graph depends on.
struct JobOptions {
  SourceOptions source{};
  FrameGeometry geometry{};
  FrameRate rate{};
  std::optional<weftline::DeviceId> device{};  ///< Absent: host.
  std::chrono::milliseconds attach_wait{0};  ///< How long to wait for a recorder; it may stay away.
};

/// What the running operators share with the program around them.
struct JobState {
  explicit JobState(FrameGeometry geometry)
      : sheet(std::make_shared<ContactSheet>(geometry.half())) {}
  std::shared_ptr<RunStats> stats{std::make_shared<RunStats>()};
  std::shared_ptr<ContactSheet> sheet;
  /// Set to end the source early; everything on its way is finished.
  std::shared_ptr<std::atomic<bool>> interrupted{std::make_shared<std::atomic<bool>>(false)};
};

inline constexpr std::string_view kEventsEndpoint = "events";

/// Composes and compiles motion-watch:
///
///     source ──> gray ──> motion ──> boxes ──> event ──> topic "events"
///        │                  │          │
///        └──────> overlay <─┴──────────┘    frame, mask and boxes of one capture time
///                    └──> preview           and the mask again
///
/// in four partitions: source, detect (gray, motion, boxes), preview, events.
weftline::ExecutionPlan compile_job(const JobOptions& options, const JobState& state,
                                    const weftline::DeviceCatalog& devices);

}  // namespace motion_watch
