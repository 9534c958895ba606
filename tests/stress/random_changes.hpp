// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_operators.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/graph/param_schema.hpp"

// Operators of random runs that are restarted and get new parameters while they run. Every value
// says how many its producer has emitted before it, over all instances, so that each consumer can
// tell a lost, doubled or reordered one, whoever was restarted meanwhile.

namespace weftline::stress {

/// Updated in pairs only: whoever sees one half of an update sees that they do not fit.
struct Knobs {
  std::uint32_t gain{1};
  std::uint32_t gain_times_3{3};
  std::uint32_t buffers{1};
  std::uint32_t buffers_times_5{5};
};
WEFTLINE_PARAM_SCHEMA(
    Knobs, param_schema("stress.Knobs", 1), field<&Knobs::gain>("gain").runtime_mutable(),
    field<&Knobs::gain_times_3>("gain_times_3").runtime_mutable(),
    field<&Knobs::buffers>("buffers").lifecycle_mutable(LifecycleStage::kAllocate),
    field<&Knobs::buffers_times_5>("buffers_times_5").lifecycle_mutable(LifecycleStage::kStart));

/// Which callbacks of the lifecycle fail: on the controller's thread. After one, none fails for so
/// long that what ran before is up again.
class Mishaps {
 public:
  Mishaps(std::uint32_t seed, std::uint32_t one_in) : random_(seed), one_in_(one_in) {}
  /// The first start of each is left alone.
  void add_operator() noexcept { ++to_start_; }
  [[nodiscard]] bool happens(LifecycleStage stage) {
    if (to_start_ > 0) {
      if (stage == LifecycleStage::kStart) --to_start_;
      return false;
    }
    if (one_in_ == 0) return false;
    if (quiet_ > 0) {
      --quiet_;
      return false;
    }
    if (random_() % one_in_ != 0) return false;
    quiet_ = 200;
    return true;
  }

 private:
  std::mt19937 random_;
  const std::uint32_t one_in_;
  std::uint32_t to_start_{0};
  int quiet_{0};
};

/// How one operator behaves, and what its instances share.
struct Part {
  std::uint64_t count{0};        ///< Samples of a source.
  std::uint32_t asks_one_in{0};  ///< Asks for a restart at one activation in so many; 0: never.
  std::string asks_for{};        ///< Whose; empty: its own.
  std::uint32_t seed{0};
  std::shared_ptr<Mishaps> mishaps{};
  // Of the lane, or of the controller while that rests.
  std::uint64_t emitted{0};
  std::array<std::uint64_t, 2> next{};  ///< By input: what has to come.
  // Of the test, too.
  std::mutex mutex{};
  std::optional<NotificationSender> sender{};  ///< Under the mutex.
};

/// What all changing operators have in common.
template <class Derived>
class Changing : public Operator<Knobs> {
 public:
  explicit Changing(std::shared_ptr<Part> part) : part_(std::move(part)), random_(part_->seed) {}

 protected:
  /// In setup().
  static void declare_stages(OperatorSpec& spec) {
    for (const LifecycleStage stage :
         {LifecycleStage::kConfigure, LifecycleStage::kAllocate, LifecycleStage::kArm,
          LifecycleStage::kStart, LifecycleStage::kStop, LifecycleStage::kRelease}) {
      spec.lifecycle().stage(stage, &Derived::pass);
    }
  }
  LifecycleStatus act(LifecycleContext& context) noexcept {
    const LifecycleStage stage = context.stage();
    const Knobs& knobs = context.params<Knobs>();
    const bool whole = stage >= LifecycleStage::kAllocate && stage < LifecycleStage::kStart;
    if (knobs.gain_times_3 != 3 * knobs.gain) return wrong(context, "gain");
    if (!whole && stage != LifecycleStage::kStop && stage != LifecycleStage::kRelease &&
        knobs.buffers_times_5 != 5 * knobs.buffers) {
      return wrong(context, "buffers");
    }
    const bool forward = is_lifecycle_forward_stage(stage);
    return forward && part_->mishaps->happens(stage) ? LifecycleStatus::kFatalFailure
                                                     : LifecycleStatus::kOk;
  }
  /// At the begin of compute().
  expected<void, Error> change(ExecutionContext& context) {
    const Knobs& knobs = context.params<Knobs>();
    if (knobs.gain_times_3 != 3 * knobs.gain || knobs.buffers_times_5 != 5 * knobs.buffers) {
      return fail(ErrorCode::kFailure, "STRESS_PARAMS_TORN");
    }
    if (part_->asks_one_in == 0 || random_() % part_->asks_one_in != 0) return {};
    const auto asked = context.request_restart({.target = part_->asks_for, .reason = "stress"});
    if (asked || asked.error().token == "RESTART_SESSION_ENDING" ||
        asked.error().token == "RESTART_PENDING_FULL") {
      return {};
    }
    return make_unexpected(asked.error());
  }
  expected<void, Error> check(std::size_t input, std::uint64_t value) {
    std::uint64_t& next = part_->next[input];
    if (value == next++) return {};
    return fail(ErrorCode::kFailure, "STRESS_SAMPLE_WRONG",
                "input " + std::to_string(input) + " received " + std::to_string(value) +
                    " where " + std::to_string(next - 1) + " was due");
  }

  const std::shared_ptr<Part> part_;
  std::mt19937 random_;

 private:
  static LifecycleStatus wrong(LifecycleContext& context, const char* what) {
    return context.fail(
        {ErrorCode::kFailure, "STRESS_PARAMS_TORN",
         std::string(what) + " at " + std::string(lifecycle_stage_name(context.stage())), 0});
  }
};

class ChangingSource final : public Changing<ChangingSource> {
 public:
  using Changing::Changing;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(5)});
  }
  LifecycleStatus pass(LifecycleContext& context) noexcept { return act(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    if (part_->emitted == part_->count) return out.close();
    const auto time = context.clock().at_ns(static_cast<std::int64_t>(part_->emitted));
    auto emitted = out.emit(part_->emitted, {.capture_time = time});
    if (emitted) ++part_->emitted;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }
};

/// Emits one for each notification of a thread of the test.
class ChangingCalled final : public Changing<ChangingCalled> {
 public:
  using Changing::Changing;
  Output<std::uint64_t> out;
  NotificationSourceRef calls;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.output(out, "out");
    spec.notification_source(calls, "calls").capacity(4);
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnNotified{calls}); }
  LifecycleStatus pass(LifecycleContext& context) noexcept {
    if (context.stage() == LifecycleStage::kArm) {
      auto sender = context.notification_sender(calls);
      if (!sender) return context.fail(std::move(sender).error());
      const std::lock_guard lock(part_->mutex);
      part_->sender.emplace(std::move(*sender));
    }
    return act(context);
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    if (part_->emitted == part_->count) return out.close();
    auto emitted = out.emit(part_->emitted);
    if (emitted) ++part_->emitted;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }
};

/// Hands on what comes in, and looks at a side input where it has one.
class ChangingRelay final : public Changing<ChangingRelay> {
 public:
  ChangingRelay(std::shared_ptr<Part> part, bool looks_aside)
      : Changing(std::move(part)), side_(looks_aside) {}
  Input<std::uint64_t> in;
  Input<std::uint64_t> side;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.input(in, "in");
    if (side_) spec.input(side, "side");
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override {
    Contract contract;
    contract.trigger(OnEach{in});
    if (side_) contract.select(side, DrainAll{8}, Absent{});
    return contract;
  }
  LifecycleStatus pass(LifecycleContext& context) noexcept { return act(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_TRY(this->check(0, sample.data));
    if (side_ && !side.is_missing()) {
      WEFTLINE_ASSIGN(const auto batch, side.receive_batch());
      for (const auto& each : batch) WEFTLINE_TRY(this->check(1, each.data));
    }
    return out.emit(sample.data, {.capture_time = sample.metadata.capture});
  }

 private:
  const bool side_;
};

class ChangingSink final : public Changing<ChangingSink> {
 public:
  using Changing::Changing;
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.input(in, "in");
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  LifecycleStatus pass(LifecycleContext& context) noexcept { return act(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return this->check(0, sample.data);
  }
};

/// Tensors in device memory, of which it may hold one that nobody took.
class ChangingTensors final : public Changing<ChangingTensors> {
 public:
  using Changing::Changing;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.output(out, "out").produces_tensor(pool_in(MemoryKind::kCudaDevice));
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(5)});
  }
  LifecycleStatus pass(LifecycleContext& context) noexcept { return act(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    if (part_->emitted == part_->count) return out.close();
    if (!loan_) {
      auto loan = out.allocate_tensor({.shape = kShape, .dtype = kU64});
      if (!loan) {
        const bool none_free = loan.error().code == ErrorCode::kResourceExhausted;
        return none_free ? expected<void, Error>{} : forward_error(std::move(loan));
      }
      WEFTLINE_TRY(write_pattern(*loan, context.cuda_stream(), part_->emitted));
      loan_.emplace(std::move(*loan));
    }
    auto emitted = out.emit(std::move(*loan_));
    if (!emitted && is_retryable(emitted.error().code)) return {};
    loan_.reset();
    if (emitted) ++part_->emitted;
    return emitted;
  }

 private:
  std::optional<TensorOutputLoan> loan_{};
};

/// Reads them, and keeps the last one.
class ChangingTensorSink final : public Changing<ChangingTensorSink> {
 public:
  using Changing::Changing;
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override {
    declare_stages(spec);
    spec.input(in, "in").retains(1);
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  LifecycleStatus pass(LifecycleContext& context) noexcept { return act(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(change(context));
    WEFTLINE_ASSIGN(auto sample, in.receive());
    std::array<std::uint64_t, kCount> words{};
    WEFTLINE_TRY(sample.data.copy_to_host(words.data(), sizeof words, context.cuda_stream()));
    kept_ = std::move(sample.data);
    for (const std::uint64_t word : words) {
      if (word != words[0]) return fail(ErrorCode::kFailure, "STRESS_TENSOR_TORN");
    }
    return this->check(0, words[0]);
  }

 private:
  Tensor kept_{};
};

/// A random graph of these, in one to four lanes, with random orders of start and grants to the
/// outside, to operators for themselves and for one another. The seed says all.
class RandomChanges {
 public:
  struct Flow {
    std::shared_ptr<const Part> source{};
    std::shared_ptr<const Part> target{};
    std::size_t input{0};
  };

  explicit RandomChanges(std::uint32_t seed)
      : random_(seed),
        mishaps_(std::make_shared<Mishaps>(static_cast<std::uint32_t>(random_()),
                                           below(2) == 0 ? 0 : 20 + below(200))) {
    graph_.set_default_clock(graph_.add_clock<RealtimeClock>("clock"));
    options_.devices = capture_device_catalog();
    options_.lifecycle_transactions.emplace();
    options_.lifecycle_transactions->max_pending_requests = 1 + below(6);
    lanes_ = below(4);
    const std::uint32_t lines = 1 + below(3);
    for (std::uint32_t line = 0; line < lines; ++line) add_line(line);
    if (below(2) == 0) add_tensors();
    relate();
  }

  [[nodiscard]] ExecutionPlan compile() const { return weftline::compile(graph_, options_); }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] const std::vector<Flow>& flows() const noexcept { return flows_; }
  /// Those that wait to be notified.
  [[nodiscard]] const std::vector<std::shared_ptr<Part>>& called() const noexcept {
    return called_;
  }

 private:
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  std::shared_ptr<Part> part() {
    auto made = std::make_shared<Part>();
    made->seed = static_cast<std::uint32_t>(random_());
    made->mishaps = mishaps_;
    made->count = 50 + below(1'000);
    parts_.push_back(made);
    mishaps_->add_operator();
    return made;
  }
  template <class Op, class... Args>
  auto add(const std::string& name, const std::shared_ptr<Part>& part, Args... args) {
    const auto handle = graph_.op<Op>(name, part, args...);
    refs_.push_back(handle);
    paths_.push_back(name);
    if (lanes_ > 0 && below(3) > 0) {
      graph_.partition("lane-" + std::to_string(below(lanes_))).add(handle);
    }
    return handle;
  }
  ConnectionOptions connection() { return {.queue_depth = 1 + below(8)}; }

  struct End {
    std::shared_ptr<Part> part{};
    const Output<std::uint64_t>* port{nullptr};
  };

  void add_line(std::uint32_t line) {
    const std::string name = "line" + std::to_string(line) + "-";
    End end{part()};
    if (below(3) == 0) {
      called_.push_back(end.part);
      end.port = &add<ChangingCalled>(name + "called", end.part)->out;
    } else {
      end.port = &add<ChangingSource>(name + "source", end.part)->out;
    }
    const std::uint32_t relays = below(4);
    for (std::uint32_t relay = 0; relay < relays; ++relay) {
      // A side input of an earlier line, whose queue must not stop that line: it is deep enough.
      const bool side = !ends_.empty() && below(3) == 0;
      const auto own = part();
      const auto handle = add<ChangingRelay>(name + std::to_string(relay), own, side);
      graph_.add_flow(*end.port, handle->in, connection());
      flows_.push_back({end.part, own, 0});
      if (side) {
        const End& other = ends_[below(ends_.size())];
        graph_.add_flow(*other.port, handle->side, {.queue_depth = 2'000});
      }
      // What a relay emits is its source's count.
      end = {end.part, &handle->out};
    }
    const auto own = part();
    graph_.add_flow(*end.port, add<ChangingSink>(name + "sink", own)->in, connection());
    flows_.push_back({end.part, own, 0});
    ends_.push_back(end);
  }

  void add_tensors() {
    const auto source = part();
    const auto sink = part();
    const auto from = add<ChangingTensors>("tensors", source);
    options_.deployment.bind_tensor_output_device({.operator_path = "tensors",
                                                   .output_port = "out",
                                                   .device = DeviceId{DeviceKind::kEmulated, 0}});
    graph_.add_flow(from->out, add<ChangingTensorSink>("tensor-sink", sink)->in, connection());
    flows_.push_back({source, sink, 0});
  }

  LifecycleStage stage() {
    constexpr std::array<LifecycleStage, 4> kStages{LifecycleStage::kConfigure,
                                                    LifecycleStage::kAllocate, LifecycleStage::kArm,
                                                    LifecycleStage::kStart};
    return kStages[below(kStages.size())];
  }

  void relate() {
    for (std::size_t later = 1; later < refs_.size(); ++later) {
      if (below(3) == 0) graph_.lifecycle_after(refs_[later], refs_[below(later)]);
    }
    for (std::size_t index = 0; index < refs_.size(); ++index) {
      graph_.allow_external_restart(refs_[index], {.from_stage = stage()});
      if (below(3) != 0) continue;
      const std::size_t target = below(2) == 0 ? index : below(refs_.size());
      graph_.grant_restart(refs_[index], refs_[target], {.from_stage = stage()});
      parts_[index]->asks_for = target == index ? std::string() : paths_[target];
      parts_[index]->asks_one_in = 20 + below(500);
    }
  }

  std::mt19937 random_;
  Graph graph_{"changes"};
  CompileOptions options_{};
  std::shared_ptr<Mishaps> mishaps_;
  std::uint32_t lanes_{0};
  std::vector<OperatorRef> refs_{};
  std::vector<std::string> paths_{};
  std::vector<std::shared_ptr<Part>> parts_{};  ///< As the paths.
  std::vector<End> ends_{};
  std::vector<Flow> flows_{};
  std::vector<std::shared_ptr<Part>> called_{};
};

}  // namespace weftline::stress
