// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test_operators.hpp"

namespace test {

inline constexpr std::array kLifecycleStages{
    weftline::LifecycleStage::kConfigure, weftline::LifecycleStage::kDiscover,
    weftline::LifecycleStage::kAllocate,  weftline::LifecycleStage::kWarmUp,
    weftline::LifecycleStage::kArm,       weftline::LifecycleStage::kStart,
    weftline::LifecycleStage::kStop,      weftline::LifecycleStage::kRelease};

/// What happens at one point of a run: "configure frames", "compute eater 2" (its second
/// activation), and what was passed.
class Points {
 public:
  enum class Act {
    kNothing,
    kUntilCancelled,  ///< Stays there until the run is to end.
    kFail,            ///< A status, an error.
    kThrow,           ///< Where a callback may.
    kThrowInt,
    kSucceed,  ///< Activations only.
  };
  Points(std::string where, Act act) : where_(std::move(where)), act_(act) {}

  /// Passed by one callback after the other, or by activations of several lanes at once.
  [[nodiscard]] Act pass(const std::string& point) {
    const std::lock_guard lock(mutex_);
    passed_.push_back(point);
    if (point != where_) return Act::kNothing;
    reached_ = true;
    changed_.notify_all();
    return act_;
  }
  /// False when the watchdog fired.
  [[nodiscard]] bool wait_until_reached() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kWatchdog, [this] { return reached_; });
  }
  [[nodiscard]] std::vector<std::string> passed() const {
    const std::lock_guard lock(mutex_);
    return passed_;
  }
  /// Operators that passed a stage, in order.
  [[nodiscard]] std::vector<std::string> passed(weftline::LifecycleStage stage) const {
    const std::string prefix = std::string(weftline::lifecycle_stage_name(stage)) + " ";
    std::vector<std::string> names;
    for (const std::string& point : passed()) {
      if (point.starts_with(prefix)) names.push_back(point.substr(prefix.size()));
    }
    return names;
  }

 private:
  const std::string where_;
  const Act act_;
  mutable std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<std::string> passed_{};
  bool reached_{false};
};

/// The points of the run that goes on: a plan outlives it, and has more than one.
using CurrentPoints = std::shared_ptr<Points*>;

/// Has a callback of every stage and passes each point by its name.
class Staged : public Operator<> {
 public:
  Staged(std::string name, CurrentPoints points)
      : name_(std::move(name)), points_(std::move(points)) {}

  weftline::LifecycleStatus stage(weftline::LifecycleContext& context) noexcept {
    const auto act =
        points().pass(std::string(weftline::lifecycle_stage_name(context.stage())) + " " + name_);
    if (act == Points::Act::kUntilCancelled) {
      const auto until = std::chrono::steady_clock::now() + kWatchdog;
      while (!context.cancellation().requested()) {
        if (std::chrono::steady_clock::now() > until) {
          return context.fail({ErrorCode::kTimeout, "TEST_WATCHDOG", {}, 0});
        }
        std::this_thread::yield();
      }
    } else if (act != Points::Act::kNothing) {
      return context.fail({ErrorCode::kFailure, "TEST_FAILS", "as told", 0});
    }
    return weftline::LifecycleStatus::kOk;
  }

 protected:
  void declare_stages(OperatorSpec& spec) {
    for (const auto stage : kLifecycleStages) spec.lifecycle().stage(stage, &Staged::stage);
  }
  expected<void, Error> pass_activation(ExecutionContext& context) {
    const auto act = points().pass("compute " + name_ + " " + std::to_string(++activations_));
    switch (act) {
      case Points::Act::kNothing:
        return {};
      case Points::Act::kUntilCancelled: {
        const auto until = std::chrono::steady_clock::now() + kWatchdog;
        while (!context.stop_requested()) {
          if (std::chrono::steady_clock::now() > until)
            return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG");
          std::this_thread::yield();
        }
        return {};
      }
      case Points::Act::kFail:
        return weftline::fail(ErrorCode::kFailure, "TEST_FAILS", "as told");
      case Points::Act::kThrow:
        throw std::runtime_error("as told");
      case Points::Act::kThrowInt:
        throw 7;  // NOLINT(hicpp-exception-baseclass): whatever a user throws
      case Points::Act::kSucceed:
        context.request_success();
        return {};
    }
    return {};
  }
  [[nodiscard]] Points& points() const noexcept { return **points_; }

 private:
  const std::string name_;
  const CurrentPoints points_;
  int activations_{0};

  // For the concept of a lifecycle's operator: this class could be one by itself.
 public:
  void setup(OperatorSpec& spec) override { declare_stages(spec); }
  expected<void, Error> compute(ExecutionContext& context) override {
    return pass_activation(context);
  }
};

/// Device tensors from a pool; closes after `kFrames`.
class StagedFrames final : public Staged {
 public:
  static constexpr int kFrames = 3;
  using Staged::Staged;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.output(out, "out")
        .produces_tensor({.representation = {.memory_kind = weftline::MemoryKind::kCudaDevice,
                                             .dtype = DLDataType{kDLUInt, 8, 1},
                                             .rank = 1},
                          .bounds = weftline::tensor_bounds(16),
                          .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (sent_ == kFrames) return out.close();
    static constexpr std::array<std::int64_t, 1> kShape{16};
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = DLDataType{kDLUInt, 8, 1}});
    if (!loan) return {};
    WEFTLINE_TRY(pass_activation(context));
    WEFTLINE_TRY(loan->write_and_commit(context.cuda_stream(), [&](void* data,
                                                                   std::uint64_t bytes) {
      return context.cuda_stream().device()->fill(context.cuda_stream(), data, std::byte{7}, bytes);
    }));
    auto emitted = out.emit(std::move(*loan));
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++sent_;
    return emitted;
  }

 private:
  int sent_{0};
};

/// Keeps what it got last, so that a stop finds a slot in its hands.
class StagedEater final : public Staged {
 public:
  using Staged::Staged;
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.input(in, "in").retains(1);
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    kept_ = std::move(sample.data);
    return pass_activation(context);
  }

 private:
  Tensor kept_;
};

/// Numbers for an export and an edge; closes after `kNumbers`.
class StagedNumbers final : public Staged {
 public:
  static constexpr std::uint64_t kNumbers = 5;
  using Staged::Staged;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.output(out, "out");
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (sent_ == kNumbers) return out.close();
    auto emitted = out.emit(sent_);
    if (!emitted) {
      return weftline::is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
    }
    ++sent_;
    return pass_activation(context);
  }

 private:
  std::uint64_t sent_{0};
};

class StagedSink final : public Staged {
 public:
  using Staged::Staged;
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.input(in, "in");
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(in.receive());
    return pass_activation(context);
  }
};

inline const std::array<std::string, 4> kStagedNames{"eater", "frames", "numbers", "sink"};

/// What a staged graph has besides.
struct StagedBorders {
  bool import{false};  ///< Of "told", whose numbers go to a sink in a lane of its own.
  /// Of the emulated device, some are set apart for "frames". 0: none are.
  std::uint32_t sms{0};
  [[nodiscard]] weftline::DeviceOptions devices() const {
    weftline::DeviceOptions options;
    if (sms > 0) options.emulated.sm_count = sms;
    if (sms > 0) options.emulated.sm_granularity = 2;
    return options;
  }
};

/// frames -> eater on an emulated device, numbers -> sink and an export without a peer, in three
/// lanes. Ends by itself, an import with its producer.
inline weftline::ExecutionPlan staged_plan(const CurrentPoints& points,
                                           const StagedBorders& borders = {}) {
  weftline::Graph graph{"staged"};
  use_realtime_clock(graph);
  const auto frames = graph.op<StagedFrames>("frames", "frames", points);
  const auto eater = graph.op<StagedEater>("eater", "eater", points);
  const auto numbers = graph.op<StagedNumbers>("numbers", "numbers", points);
  const auto sink = graph.op<StagedSink>("sink", "sink", points);
  graph.add_flow(frames->out, eater->in);
  graph.add_flow(numbers->out, sink->in);
  weftline::TopicOptions topic;
  topic.endpoint_name = "numbers";
  topic.attach = {.peer = weftline::PeerRequirement::kOptional};
  graph.add_flow(numbers->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", topic).input());
  graph.partition("a").add(frames);
  graph.partition("b").add(eater);
  graph.partition("c").add(numbers).add(sink);
  if (borders.import) {
    topic.endpoint_name = "told";
    const auto told = graph.op<StagedSink>("told", "told", points);
    graph.add_flow(graph.import_topic<std::uint64_t>("weftline://told", topic).output(), told->in);
    graph.partition("d").add(told);
  }
  constexpr weftline::DeviceId kDevice{weftline::DeviceKind::kEmulated, 0};
  weftline::CompileOptions options;
  options.devices = weftline::capture_device_catalog(borders.devices());
  options.deployment.bind_tensor_output_device(
      {.operator_path = "frames", .output_port = "out", .device = kDevice});
  if (borders.sms > 0) {
    options.deployment.bind_green_context(
        {.partition = "a", .device = kDevice, .sm_count = borders.sms / 2});
  }
  auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

/// Whether what came up was taken down: kStop of just those that had started, kRelease of just
/// those that were configured, each once and in reverse. `failed` did not come through its stage.
inline std::string taken_down_wrongly(const Points& points, const std::string& failed) {
  using weftline::LifecycleStage;
  const auto reverse_of = [&](LifecycleStage up, LifecycleStage down) {
    std::vector<std::string> came_up = points.passed(up);
    if (!came_up.empty() && std::string(lifecycle_stage_name(up)) + " " + came_up.back() == failed)
      came_up.pop_back();
    std::ranges::reverse(came_up);
    return came_up == points.passed(down)
               ? std::string()
               : std::string(lifecycle_stage_name(down)) + " is not " +
                     std::string(lifecycle_stage_name(up)) + " in reverse\n";
  };
  return reverse_of(LifecycleStage::kStart, LifecycleStage::kStop) +
         reverse_of(LifecycleStage::kConfigure, LifecycleStage::kRelease);
}

}  // namespace test
