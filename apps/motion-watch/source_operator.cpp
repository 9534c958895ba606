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
  if (options_.realtime) WEFTLINE_TRY(drop_missed_frames(context));
  if (!pending_ && !frames_ended_) WEFTLINE_TRY(decode_next(context));
  if (!pending_) return {};
  auto emitted = frames.emit(
      std::move(pending_->loan),
      {.capture_time = context.clock().at_ns(pending_->capture_ns), .frame_id = next_frame_});
  // No room: the loan is still ours, and the runtime calls again when there is room.
  if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
  if (emitted) stats_->frame_captured();
  pending_.reset();
  ++next_frame_;
  return emitted;
}

expected<bool, Error> SourceOperator::read_frame(std::span<std::uint8_t> rgb) {
  const bool enough = options_.frames != 0 && next_frame_ == options_.frames;
  if (!enough && !interrupted_->load(std::memory_order_relaxed)) {
    const auto read = source_->read_into(rgb);
    if (!read) {
      stats_->source_failed(read.error());
      return weftline::fail(ErrorCode::kCodecError, "MOTION_WATCH_INPUT", read.error());
    }
    if (*read) return true;
  }
  frames_ended_ = true;
  WEFTLINE_TRY(frames.close());
  return false;
}

expected<void, Error> SourceOperator::decode_next(weftline::ExecutionContext& context) {
  const auto shape = rgb_shape(geometry_);
  auto loan = frames.allocate_tensor({.shape = shape, .dtype = kByte});
  if (!loan) {
    // All slots are out: the same as a full queue.
    if (loan.error().code == ErrorCode::kResourceExhausted) return {};
    return weftline::forward_error(std::move(loan));
  }
  const std::int64_t capture_ns = context.clock().now().timestamp_ns;
  bool more = false;
  WEFTLINE_TRY(
      loan->write_host_and_commit([&](void* data, std::uint64_t bytes) -> expected<void, Error> {
        WEFTLINE_ASSIGN(
            more, read_frame({static_cast<std::uint8_t*>(data), static_cast<std::size_t>(bytes)}));
        return {};
      }));
  if (more) pending_.emplace(Pending{std::move(*loan), capture_ns});
  return {};
}

expected<void, Error> SourceOperator::drop_missed_frames(weftline::ExecutionContext& context) {
  const std::int64_t tick_ns = context.activation_time().timestamp_ns;
  if (!first_tick_ns_) first_tick_ns_ = tick_ns;
  while (media_time_ns(next_frame_ + 1, rate_) <= tick_ns - *first_tick_ns_ && !frames_ended_) {
    if (!pending_) {
      skipped_.resize(geometry_.rgb_bytes());
      WEFTLINE_ASSIGN(const bool more, read_frame(skipped_));
      if (!more) break;
    }
    pending_.reset();
    stats_->frame_dropped();
    ++next_frame_;
  }
  return {};
}

}  // namespace motion_watch
