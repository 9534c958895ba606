// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frame_source.hpp"
#include "run_stats.hpp"
#include "tensor_formats.hpp"
#include "weftline/graph/operator.hpp"

namespace motion_watch {

/// Where frames come from and how fast.
struct SourceOptions {
  std::filesystem::path input{};  ///< Empty: the synthetic scene.
  std::uint64_t frames{0};        ///< At most so many; 0: all of the file (or 300 of the scene).
  bool realtime{false};  ///< One frame per period of the source; else as fast as they are taken.
};

/// Opens what the options name. The error is one line.
tl::expected<std::unique_ptr<FrameSource>, std::string> open_source(const SourceOptions& options);

/// Decodes frames into pooled RGB tensors. A clock drives it: at the source's own rate, or, at full
/// speed, as often as the graph has room. In real time a frame that the graph has no room for is
/// dropped and counted; at full speed it waits.
class SourceOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.Source";

  SourceOperator(SourceOptions options, FrameGeometry geometry, FrameRate rate, MemoryPlan memory,
                 std::shared_ptr<RunStats> stats,
                 std::shared_ptr<const std::atomic<bool>> interrupted)
      : options_(std::move(options)),
        geometry_(geometry),
        rate_(rate),
        memory_(memory),
        stats_(std::move(stats)),
        interrupted_(std::move(interrupted)) {}

  weftline::Output<weftline::Tensor> frames;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override;
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  struct Pending {
    weftline::TensorOutputLoan loan;
    std::int64_t capture_ns;
  };
  /// Reads the next frame. False at the end: then the output is closed.
  weftline::expected<bool, weftline::Error> read_frame(std::span<std::uint8_t> rgb);
  /// Decodes the next frame into `pending_`; leaves it empty when there is no slot or no further
  /// frame.
  weftline::expected<void, weftline::Error> decode_next(weftline::ExecutionContext& context);
  /// Real time: reads past the frames whose ticks went by, the one that waits for room included.
  weftline::expected<void, weftline::Error> drop_missed_frames(weftline::ExecutionContext& context);

  const SourceOptions options_;
  const FrameGeometry geometry_;
  const FrameRate rate_;
  const MemoryPlan memory_;
  const std::shared_ptr<RunStats> stats_;
  const std::shared_ptr<const std::atomic<bool>> interrupted_;
  std::unique_ptr<FrameSource> source_{};
  std::optional<Pending> pending_{};
  std::uint64_t next_frame_{0};
  bool frames_ended_{false};
  std::optional<std::int64_t> first_tick_ns_{};
  std::vector<std::uint8_t> skipped_{};  ///< Where frames go that nobody will see.
};

}  // namespace motion_watch
