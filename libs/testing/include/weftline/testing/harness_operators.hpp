// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/operator.hpp"
#include "weftline/testing/harness_samples.hpp"

// The operators that stand around the one under test. For OperatorTestHarness.

namespace weftline::testing {

/// A finite producer: emits each sample as its time comes, and closes after the last.
template <class T>
class Feeder final : public Operator<> {
 public:
  using Samples = std::shared_ptr<const std::vector<Fed<T>>>;
  explicit Feeder(Samples samples) : samples_(std::move(samples)) {}
  Output<T> out;
  void setup(OperatorSpec& spec) override {
    const std::size_t most = std::max<std::size_t>(samples_->size(), 1);
    spec.output(out, "out").max_emits_per_compute(static_cast<std::uint32_t>(most));
  }
  // A look at each step of the clock: missed ticks fold into one.
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::nanoseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    const std::int64_t now_ns = context.activation_time().timestamp_ns;
    for (; next_ < samples_->size(); ++next_) {
      const Fed<T>& sample = (*samples_)[next_];
      if (sample.options.at.count() > now_ns) return {};
      WEFTLINE_TRY(out.emit(sample.value, emit_options(sample.options, context.clock())));
    }
    return out.close();
  }

  static EmitOptions emit_options(const FeedOptions& options, const ClockRef& clock) {
    EmitOptions emit{.frame_id = options.frame_id, .flags = options.flags};
    if (options.captured) emit.capture_time = clock.at_ns(options.captured->count());
    return emit;
  }

 private:
  const Samples samples_;
  std::size_t next_{0};
};

/// The same for tensors, from a pool in one kind of memory.
class TensorFeeder final : public Operator<> {
 public:
  using Samples = std::shared_ptr<const std::vector<Fed<HostTensor>>>;
  TensorFeeder(Samples samples, MemoryKind kind) : samples_(std::move(samples)), kind_(kind) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override;
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::nanoseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override;

 private:
  const Samples samples_;
  const MemoryKind kind_;
  std::size_t next_{0};
};

/// What one output has emitted. Read when the run is over.
template <class T>
using Collection = std::shared_ptr<std::vector<Sample<T>>>;

template <class T>
class Collector final : public Operator<> {
 public:
  explicit Collector(Collection<T> samples) : samples_(std::move(samples)) {}
  Input<T> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    samples_->push_back(std::move(sample));
    return {};
  }

 private:
  const Collection<T> samples_;
};

/// Copies tensors to the host.
class TensorCollector final : public Operator<> {
 public:
  explicit TensorCollector(Collection<HostTensor> samples) : samples_(std::move(samples)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override;

 private:
  const Collection<HostTensor> samples_;
};

}  // namespace weftline::testing
