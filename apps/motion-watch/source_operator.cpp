// SPDX-License-Identifier: Apache-2.0
#include "source_operator.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "synthetic_scene.hpp"
#include "video_source.hpp"

namespace motion_watch {

using weftline::Error;
using weftline::ErrorCode;
using weftline::expected;

namespace {

constexpr std::uint64_t kSyntheticFrames = 300;
/// The tick of a source that runs at full speed: ticks that come while the graph has no room fold
/// into one.
constexpr std::chrono::microseconds kFullSpeedPeriod{1};

}  // namespace

tl::expected<std::unique_ptr<FrameSource>, std::string> open_source(const SourceOptions& options) {
  if (options.input.empty()) {
    return std::make_unique<SyntheticScene>(options.frames == 0 ? kSyntheticFrames
                                                                : options.frames);
  }
  auto video = VideoSource::open(options.input);
  if (!video) return tl::make_unexpected(std::move(video).error());
  return std::make_unique<VideoSource>(std::move(*video));
}

void SourceOperator::setup(weftline::OperatorSpec& spec) {
  auto output = spec.output(frames, "frames")
                    .produces_tensor(pooled(memory_.host_side, 3, geometry_.rgb_bytes()));
  if (options_.realtime) {
    output.nominal_rate(weftline::Rate::per(static_cast<std::uint64_t>(rate_.num),
                                            static_cast<std::uint64_t>(rate_.den)));
  }
}

weftline::Contract SourceOperator::contract() const {
  const std::chrono::nanoseconds period =
      options_.realtime
          ? std::chrono::nanoseconds(std::max<std::int64_t>(1, media_time_ns(1, rate_)))
          : kFullSpeedPeriod;
  return weftline::Contract().trigger(weftline::OnClock{.period = period});
}

void SourceOperator::start(weftline::LifecycleContext&) {
  auto source = open_source(options_);
  if (!source) {
    throw weftline::RuntimeError({ErrorCode::kNotFound, "MOTION_WATCH_INPUT", source.error(), 0});
  }
  source_ = std::move(*source);
}

expected<void, Error> SourceOperator::compute(weftline::ExecutionContext& context) {
  if (!pending_) {
    const bool enough = options_.frames != 0 && next_frame_ == options_.frames;
    if (enough || interrupted_->load(std::memory_order_relaxed)) return frames.close();
    WEFTLINE_TRY(decode_next(context));
    if (!pending_) return {};
  }
  auto emitted = frames.emit(
      std::move(pending_->loan),
      {.capture_time = context.clock().at_ns(pending_->capture_ns), .frame_id = next_frame_});
  if (!emitted && weftline::is_retryable(emitted.error().code)) {
    // No room. A file can wait: the loan is still ours, and the runtime calls again when there is
    // room. A camera can't.
    if (!options_.realtime) return {};
    stats_->frame_dropped();
    emitted = {};
  } else if (emitted) {
    stats_->frame_captured();
  }
  pending_.reset();
  ++next_frame_;
  return emitted;
}

expected<void, Error> SourceOperator::decode_next(weftline::ExecutionContext& context) {
  const auto shape = rgb_shape(geometry_);
  auto loan = frames.allocate_tensor({.shape = shape, .dtype = kByte});
  if (!loan) {
    // All slots are out: the same as a full queue. In real time the frame is still used up, below.
    if (loan.error().code == ErrorCode::kResourceExhausted) return {};
    return weftline::forward_error(std::move(loan));
  }
  const std::int64_t capture_ns = context.clock().now().timestamp_ns;
  tl::expected<bool, std::string> read = false;
  WEFTLINE_TRY(loan->write_host_and_commit([&](void* data, std::uint64_t bytes) {
    read = source_->read_into({static_cast<std::uint8_t*>(data), static_cast<std::size_t>(bytes)});
  }));
  if (!read) {
    stats_->source_failed(read.error());
    return weftline::fail(ErrorCode::kCodecError, "MOTION_WATCH_INPUT", read.error());
  }
  if (!*read) return frames.close();
  pending_.emplace(Pending{std::move(*loan), capture_ns});
  return {};
}

}  // namespace motion_watch
