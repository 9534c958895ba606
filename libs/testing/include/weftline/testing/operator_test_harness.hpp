// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <any>
#include <concepts>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weftline/testing/harness_operators.hpp"
#include "weftline/testing/harness_run.hpp"

namespace weftline::testing {

/// Runs one operator in a small real graph: finite producers feed its inputs, collectors take what
/// it emits, and a clock stands still unless the harness advances it. One lane runs all of it, so a
/// run gives the same each time as far as the operator does.
///
///     OperatorTestHarness<Scale> harness;
///     harness.set_params({.factor = 3}).feed(&Scale::in, {1, 2, 4}).collect(&Scale::out);
///     const auto run = harness.run();
///     run->termination                    // RunTermination::kCompleted
///     harness.collected(&Scale::out)      // samples of 3, 6 and 12, with their metadata
///
/// What is wrong in a call throws RuntimeError there: HARNESS_PORT_NOT_DECLARED (setup() does not
/// declare the member), HARNESS_PORT_TWICE (fed or collected twice), HARNESS_FEED_ORDER (a sample
/// earlier than the one before it), HARNESS_NOT_COLLECTED. Used by one thread. Cold: it allocates.
template <class Op>
class OperatorTestHarness {
 public:
  /// The arguments of Op's constructor.
  template <class... Args>
  explicit OperatorTestHarness(Args&&... args)
      : operator_(graph_.graph().template op<Op>(kOperatorUnderTest, std::forward<Args>(args)...)) {
  }

  OperatorTestHarness& set_params(typename Op::Params params) {
    operator_.set_params(std::move(params));
    return *this;
  }

  /// Emits these samples in order and then ends the stream; none at all ends it at once. All of
  /// them fit into the queue.
  template <PublishedPayload T>
    requires(!std::same_as<T, Tensor>)
  OperatorTestHarness& feed(Input<T> Op::*input, std::vector<Fed<T>> samples) {
    const auto held = hold(samples);
    connect(input, graph_.graph().template op<Feeder<T>>(feeder_name(input), held), held->size());
    return *this;
  }
  /// The same for a tensor input. Memory that is a device's needs use_device() before.
  OperatorTestHarness& feed(Input<Tensor> Op::*input, std::vector<Fed<HostTensor>> samples,
                            MemoryKind kind = MemoryKind::kHost) {
    const auto held = hold(samples);
    const std::string name = feeder_name(input);
    connect(input, graph_.graph().template op<TensorFeeder>(name, held, kind), held->size());
    if (is_device_resident(kind)) graph_.add_feeder_on_device(name);
    return *this;
  }

  /// Keeps what the output emits, for collected(). An output without it emits to nobody.
  template <PublishedPayload T>
    requires(!std::same_as<T, Tensor>)
  OperatorTestHarness& collect(Output<T> Op::*output) {
    return collect_by<Collector<T>, T>(output);
  }
  OperatorTestHarness& collect(Output<Tensor> Op::*output) {
    return collect_by<TensorCollector, HostTensor>(output);
  }

  /// Where the operator's own tensor outputs in device memory are, and tensors fed in such memory.
  OperatorTestHarness& use_device(DeviceId device) {
    graph_.use_device(device);
    return *this;
  }
  /// Lets the operator restart itself, from this stage on at the earliest
  /// (ExecutionContext::request_restart()). The clock stands still until that is over.
  OperatorTestHarness& permit_restart(RestartGrantOptions grant = {}) {
    graph_.graph().grant_restart(operator_, operator_, grant);
    graph_.options().lifecycle_transactions.emplace();
    return *this;
  }

  /// Compiles and runs it, once; returns when the run has ended. See HarnessGraph::run for what is
  /// refused.
  [[nodiscard]] expected<TestOutcome, Error> run(const TestRunOptions& options = {}) {
    return graph_.run(options);
  }

  /// What the run has emitted there.
  template <PublishedPayload T>
    requires(!std::same_as<T, Tensor>)
  [[nodiscard]] const std::vector<Sample<T>>& collected(Output<T> Op::*output) {
    return *collection<T>(output);
  }
  [[nodiscard]] const std::vector<Sample<HostTensor>>& collected(Output<Tensor> Op::*output) {
    return *collection<HostTensor>(output);
  }

 private:
  [[noreturn]] static void refuse(const char* token, std::string message) {
    throw RuntimeError({ErrorCode::kInvalidArgument, token, std::move(message), 0});
  }

  template <class T>
  std::shared_ptr<const std::vector<Fed<T>>> hold(std::vector<Fed<T>>& samples) {
    const auto earlier = [](const Fed<T>& a, const Fed<T>& b) {
      return a.options.at < b.options.at;
    };
    if (!std::ranges::is_sorted(samples, earlier)) {
      refuse("HARNESS_FEED_ORDER", "a sample is fed earlier than the one before it; sort them");
    }
    for (const Fed<T>& sample : samples) graph_.add_time(sample.options.at);
    return std::make_shared<const std::vector<Fed<T>>>(std::move(samples));
  }

  template <class Port>
  const auto& declared(Port Op::*member) {
    const auto& port = operator_.operator->()->*member;
    if (!port.declared()) {
      refuse("HARNESS_PORT_NOT_DECLARED",
             "setup() declares no such port; declare the member there with spec.input() or "
             "spec.output()");
    }
    return port;
  }
  void use(const std::string& name) {
    if (!used_.insert(name).second) {
      refuse("HARNESS_PORT_TWICE",
             name + " is fed or collected already; give all samples in one call");
    }
  }

  template <class T>
  std::string feeder_name(Input<T> Op::*input) {
    std::string name = "feed-" + graph_.input_name(declared(input).index());
    use(name);
    return name;
  }
  template <class T, class Handle>
  void connect(Input<T> Op::*input, const Handle& feeder, std::size_t samples) {
    const auto depth = static_cast<std::uint32_t>(std::max<std::size_t>(samples, 1));
    graph_.graph().add_flow(feeder->out, declared(input), {.queue_depth = depth});
  }

  template <class CollectorOp, class Kept, class T>
  OperatorTestHarness& collect_by(Output<T> Op::*output) {
    const auto& port = declared(output);
    const std::string name = "collect-" + graph_.output_name(port.index());
    use(name);
    const auto kept = std::make_shared<std::vector<Sample<Kept>>>();
    graph_.graph().add_flow(port, graph_.graph().template op<CollectorOp>(name, kept)->in);
    collections_[port.index()] = kept;
    return *this;
  }
  template <class Kept, class T>
  Collection<Kept> collection(Output<T> Op::*output) {
    const std::uint32_t port = declared(output).index();
    const auto found = collections_.find(port);
    if (found == collections_.end()) {
      refuse("HARNESS_NOT_COLLECTED",
             graph_.output_name(port) + " was not collected; call collect() before run()");
    }
    return std::any_cast<Collection<Kept>>(found->second);
  }

  HarnessGraph graph_{};
  OperatorHandle<Op> operator_;
  std::set<std::string> used_{};
  std::map<std::uint32_t, std::any> collections_{};
};

}  // namespace weftline::testing
