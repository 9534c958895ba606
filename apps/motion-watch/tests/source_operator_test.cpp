// SPDX-License-Identifier: Apache-2.0
#include "source_operator.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "synthetic_scene.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/runtime/run_session.hpp"

namespace motion_watch {
namespace {

constexpr std::chrono::seconds kWatchdog{60};
constexpr std::uint64_t kFrames = 200;
constexpr FrameRate kRate{1000, 1};
constexpr std::uint64_t kHeldFor = 100;  // in frames; far more than queues and pools hold

struct Received {
  std::vector<std::uint64_t> ids{};
  bool pixels_match{true};
};

/// Holds its first frame for so long that the source has to drop some, and compares each frame with
/// the scene.
class Reader final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.test.Reader";
  explicit Reader(std::shared_ptr<Received> received) : received_(std::move(received)) {}

  weftline::Input<weftline::Tensor> frames;

  void setup(weftline::OperatorSpec& spec) override {
    spec.input(frames, "frames").expects_tensor(expected_tensor(weftline::MemoryKind::kHost, 3));
  }
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnEach{frames});
  }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto sample, frames.receive());
    const std::uint64_t id = sample.metadata.frame_id.value_or(~std::uint64_t{0});
    if (!sample.metadata.capture)
      return weftline::fail(weftline::ErrorCode::kFailure, "NO_CAPTURE");
    const std::int64_t held_until =
        sample.metadata.capture->timestamp_ns + media_time_ns(kHeldFor, kRate);
    while (received_->ids.empty() && context.clock().now().timestamp_ns < held_until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    received_->ids.push_back(id);
    for (; next_in_scene_ <= id; ++next_in_scene_) (void)scene_.read_into(wanted_);
    received_->pixels_match =
        received_->pixels_match &&
        std::equal(wanted_.begin(), wanted_.end(), sample.data.data_as<std::uint8_t>());
    return {};
  }

 private:
  const std::shared_ptr<Received> received_;
  SyntheticScene scene_{kFrames};
  std::uint64_t next_in_scene_{0};
  std::vector<std::uint8_t> wanted_ =
      std::vector<std::uint8_t>(SyntheticScene::kGeometry.rgb_bytes());
};

}  // namespace

TEST_CASE(
    "in real time a frame without room is dropped and counted, and the next ones keep their "
    "numbers") {
  const auto stats = std::make_shared<RunStats>();
  const auto received = std::make_shared<Received>();
  weftline::Graph graph{"drops"};
  const SourceOptions options{.input = {}, .frames = kFrames, .realtime = true};
  const auto source =
      graph.op<SourceOperator>("source", options, SyntheticScene::kGeometry, kRate,
                               MemoryPlan{weftline::MemoryKind::kHost, weftline::MemoryKind::kHost},
                               stats, std::make_shared<const std::atomic<bool>>(false));
  const auto reader = graph.op<Reader>("reader", received);
  graph.add_flow(source->frames, reader->frames, {.queue_depth = 2});
  graph.partition("source").add(source);
  graph.partition("reader").add(reader);
  graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>("monotonic"));
  const auto plan = weftline::compile(graph);
  plan.require_no_errors();

  const auto session = weftline::run_async(plan);
  REQUIRE(session.wait_until(std::chrono::steady_clock::now() + kWatchdog));
  REQUIRE(session.termination() == weftline::RunTermination::kCompleted);
  CHECK(stats->dropped() >= kHeldFor / 2);
  CHECK(received->pixels_match);
  CHECK(received->ids.front() == 0);
  CHECK(std::ranges::adjacent_find(received->ids, std::greater_equal<>{}) == received->ids.end());
  CHECK(received->ids.back() < kFrames);
  CHECK(stats->captured() == received->ids.size());
  CHECK(stats->captured() + stats->dropped() == kFrames);
}

}  // namespace motion_watch
