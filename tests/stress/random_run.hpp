// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "random_operators.hpp"
#include "temporal_operators.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline::stress {

/// A random graph that can run: scalars and tensors in host, pinned and device memory, forks,
/// meetings, tensors handed on, every trigger, selector and policy for missing data, lossy and
/// lossless queues of random depth, one to four lanes, slow, silent, failing and throwing
/// operators, finite and endless sources. The seed says all.
class RandomRun {
 public:
  explicit RandomRun(std::uint32_t seed) : random_(seed) {
    graph_.set_default_clock(graph_.add_clock<RealtimeClock>("clock"));
    options_.devices = capture_device_catalog();
    if (below(3) == 0) {
      options_.cuda_execution.compute_stream_policy = CudaComputeStreamPolicy::kSharedProcessDevice;
    }
    endless_ = below(8) == 0;
    captures_now_ = below(2) == 0;
    const std::uint32_t count = 3 + below(14);
    const std::uint32_t faulty = below(3) == 0 ? below(count) : count;
    const std::uint32_t lanes = below(4);
    for (std::uint32_t number = 0; number < count; ++number) {
      Role role;
      role.ledger = std::make_shared<Ledger>();
      role.shelf = shelf_;
      role.seed = static_cast<std::uint32_t>(random_());
      if (number == faulty) {
        role.fault = static_cast<Fault>(1 + below(3));
        role.fault_at = below(60);
      }
      if (below(6) == 0) role.slow_one_in = 1 + below(40);
      if (below(4) == 0) role.silent_one_in = 1 + below(5);
      if (below(8) == 0) role.closes_at = 1 + below(40);
      add(number, std::move(role), lanes);
    }
  }

  [[nodiscard]] ExecutionPlan compile() const { return weftline::compile(graph_, options_); }

  /// Ends by itself unless a fault or a stop ends it: every source is finite, and no operator waits
  /// for samples of two inputs at once, between which full queues can starve one, or runs by itself
  /// and is not sure to see its last activation.
  [[nodiscard]] bool finite() const noexcept { return !endless_ && !meets_ && !unending_; }
  [[nodiscard]] bool shelves() const noexcept { return shelves_; }
  [[nodiscard]] Shelf& shelf() const noexcept { return *shelf_; }
  [[nodiscard]] Bells& bells() const noexcept { return *bells_; }

  struct Edge {
    std::uint32_t source{0};
    std::uint32_t target{0};
    std::uint32_t input{0};
    bool lossless{false};
  };
  struct Member {
    std::string name{};
    Fault fault{Fault::kNone};
    bool may_miss{false};  ///< A missing sample fails the run.
    std::shared_ptr<const Ledger> ledger{};
  };
  [[nodiscard]] const std::vector<Edge>& edges() const noexcept { return edges_; }
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  [[nodiscard]] const Member& member(std::string_view name) const {
    const auto found = std::ranges::find(members_, name, &Member::name);
    if (found == members_.end()) throw std::runtime_error("no operator " + std::string(name));
    return *found;
  }
  [[nodiscard]] bool reached(Fault fault) const {
    return std::ranges::any_of(members_, [&](const Member& member) {
      return member.fault == fault && member.ledger->fault_reached;
    });
  }

 private:
  template <class T>
  struct End {
    const Output<T>* port{nullptr};
    std::uint32_t member{0};  ///< Whose output it is.
    std::uint32_t number{0};  ///< What its values carry.
    MemoryKind kind{MemoryKind::kHost};
  };

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  template <class T>
  const T& any(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  void add(std::uint32_t number, Role role, std::uint32_t lanes) {
    role.output = number;
    const std::string name =
        std::string(1, static_cast<char>('a' + below(26))) + std::to_string(number);
    members_.push_back({.name = name, .fault = role.fault, .ledger = role.ledger});
    const std::uint32_t kind = number == 0 ? 0 : number == 1 ? 1 : below(13);
    if (kind == 0 || (kind > 1 && scalars_.empty())) {
      as_source(role);
      put(name, lanes, graph_.op<ScalarSource>(name, role), scalars_, {.number = number});
    } else if (kind == 1) {
      as_source(role);
      const MemoryKind memory = any_memory();
      put(name, lanes, graph_.op<TensorSource>(name, role, memory), tensors_,
          {.number = number, .kind = memory});
    } else if (kind <= 4) {
      add_scalar_relay(name, std::move(role), lanes);
    } else if (kind == 5) {
      const auto from = any(scalars_);
      const ConnectionOptions edge = connection();
      role.inputs = {role_of(from, edge, true)};
      const auto sink = graph_.op<ScalarSink>(name, role);
      graph_.add_flow(*from.port, sink->in, edge);
      finish(sink, lanes);
    } else if (kind <= 7) {
      add_tensor_relay(name, std::move(role), lanes);
    } else if (kind <= 11) {
      if (kind == 11) {
        add_temporal<Tensor>(name, std::move(role), lanes, tensors_);
      } else {
        add_temporal<std::uint64_t>(name, std::move(role), lanes, scalars_);
      }
    } else {
      const auto from = any(tensors_);
      const ConnectionOptions edge = connection();
      role.inputs = {role_of(from, edge, true)};
      hold(role);
      const auto sink = graph_.op<TensorSink>(name, role);
      graph_.add_flow(*from.port, sink->in, edge);
      finish(sink, lanes);
    }
  }

  void as_source(Role& role) {
    role.period = std::chrono::microseconds(1 + below(20));
    role.count = endless_ && below(2) == 0 ? 0 : 1 + below(300);
    role.silent_one_in = 0;
    role.captures_now = captures_now_;
  }
  void hold(Role& role) {
    if (below(3) == 0) role.retained = 1 + below(3);
    role.shelves = role.retained > 0 && below(3) == 0;
    shelves_ = shelves_ || role.shelves;
  }

  void add_scalar_relay(const std::string& name, Role role, std::uint32_t lanes) {
    const auto when = static_cast<ScalarRelay::When>(below(8) == 0 ? 2 : below(2));
    const bool aligned = when == ScalarRelay::When::kAligned;
    const std::uint32_t inputs = when == ScalarRelay::When::kEach ? 1
                                 : aligned                        ? 2 + below(2)
                                                                  : 1 + below(3);
    meets_ = meets_ || aligned;
    std::vector<std::pair<End<std::uint64_t>, ConnectionOptions>> flows;
    for (std::uint32_t input = 0; input < inputs; ++input) {
      flows.emplace_back(any(scalars_), connection());
      role.inputs.push_back(
          role_of(flows.back().first, flows.back().second, when != ScalarRelay::When::kAligned));
    }
    const auto relay = graph_.op<ScalarRelay>(name, role, when);
    for (std::uint32_t input = 0; input < inputs; ++input) {
      graph_.add_flow(*flows[input].first.port, relay->in[input], flows[input].second);
    }
    put(name, lanes, relay, scalars_, {.number = role.output});
  }

  void add_tensor_relay(const std::string& name, Role role, std::uint32_t lanes) {
    const auto from = any(tensors_);
    const ConnectionOptions edge = connection();
    role.inputs = {role_of(from, edge, true)};
    hold(role);
    // What is handed on keeps its source's count only if all of it comes here.
    const bool hands_on = role.inputs[0].lossless && below(3) == 0;
    const std::optional<MemoryKind> pool =
        hands_on ? std::nullopt : std::optional<MemoryKind>(any_memory());
    if (hands_on) role.silent_one_in = 0;
    const auto relay = graph_.op<TensorRelay>(name, role, pool);
    graph_.add_flow(*from.port, relay->in, edge);
    put(name, lanes, relay, tensors_,
        {.number = hands_on ? from.number : role.output, .kind = pool.value_or(from.kind)});
  }

  template <class T>
  void add_temporal(const std::string& name, Role role, std::uint32_t lanes,
                    const std::vector<End<T>>& ends) {
    using Kind = TemporalRecordTriggerKind;
    testing::RandomContract contract = testing::random_contract(random_);
    // Each costs a processor.
    while (contract.trigger.kind == Kind::kSpin && std::exchange(spins_, true)) {
      contract = testing::random_contract(random_);
    }
    stretch(contract, 1'000 + below(20'000));
    auto& selections = contract.selections;
    const bool by_itself = contract.trigger.inputs.empty();
    if (by_itself && below(4) != 0) role.closes_at = 1 + below(40);
    if (by_itself && selections.empty() && below(2) == 0) {
      contract.trigger.complete_after_computes = 1 + below(40);
    }
    const bool ends_itself = role.closes_at != 0 || contract.trigger.complete_after_computes;
    const bool skips = std::ranges::any_of(selections, [](const EdgeSelectionRecord& each) {
      return !each.triggering && (each.missing == MissingDataKind::kSkip ||
                                  each.missing == MissingDataKind::kReuseLast);
    });
    if (by_itself && (!ends_itself || skips)) unending_ = true;
    members_.back().may_miss = std::ranges::any_of(
        selections, [](const auto& each) { return each.missing == MissingDataKind::kFail; });

    const bool all_lossy = below(2) == 0;
    std::vector<std::pair<End<T>, ConnectionOptions>> flows;
    for (const EdgeSelectionRecord& each : selections) {
      ConnectionOptions edge = connection();
      const bool waits = !each.triggering || contract.trigger.kind == Kind::kAligned;
      if (waits && all_lossy) edge.queue_policy = QueuePolicy::kDropOldest;
      // What a selector leaves at the head of a queue is there besides what comes.
      if (edge.queue_depth == 1U) edge.queue_depth = 2;
      meets_ = meets_ || (waits && edge.queue_policy == QueuePolicy::kBlocking);
      flows.emplace_back(any(ends), edge);
      role.inputs.push_back(role_of(flows.back().first, edge, false));
    }
    Readiness readiness{.bells = bells_};
    if (contract.trigger.kind == Kind::kReadable) readiness.bell = bells_->add_bell();
    if (contract.trigger.kind == Kind::kSpin) readiness.flag = bells_->add_flag();
    const auto relay = graph_.op<TemporalRelay<T>>(name, role, contract, readiness);
    relay.set_params({.mark = role.seed});
    for (std::size_t input = 0; input < flows.size(); ++input) {
      graph_.add_flow(*flows[input].first.port, relay->in[input], flows[input].second);
    }
    put(name, lanes, relay, scalars_, {.number = role.output});
  }

  /// Makes a contract's times so many times longer.
  static void stretch(testing::RandomContract& contract, std::int64_t times) {
    TemporalTriggerPlanRecord& trigger = contract.trigger;
    for (std::int64_t* length :
         {&trigger.period_ns, &trigger.phase_ns, &trigger.window_ns, &trigger.max_wait_ns}) {
      *length *= times;
    }
    for (EdgeSelectionRecord& each : contract.selections) {
      each.lookbehind_ns *= times;
      each.lookahead_ns *= times;
      if (each.max_age_ns) *each.max_age_ns *= times;
    }
  }

  ConnectionOptions connection() {
    ConnectionOptions options;
    if (below(3) != 0) options.queue_depth = 1 + below(8);
    if (below(4) == 0) options.queue_policy = QueuePolicy::kDropOldest;
    return options;
  }
  MemoryKind any_memory() {
    constexpr std::array<MemoryKind, 4> kKinds{MemoryKind::kHost, MemoryKind::kCudaDevice,
                                               MemoryKind::kCudaDevice, MemoryKind::kCudaManaged};
    return kKinds[below(kKinds.size())];
  }

  /// Notes the edge to the newest member.
  template <class T>
  InputRole role_of(const End<T>& from, const ConnectionOptions& edge, bool takes_all) {
    const bool lossless = takes_all && edge.queue_policy == QueuePolicy::kBlocking;
    const auto target = static_cast<std::uint32_t>(members_.size() - 1);
    std::uint32_t input = 0;
    for (const Edge& other : edges_) input += other.target == target ? 1 : 0;
    edges_.push_back({from.member, target, input, lossless});
    return {from.number, lossless};
  }

  template <class Handle, class T>
  void put(const std::string& name, std::uint32_t lanes, const Handle& handle,
           std::vector<End<T>>& ends, End<T> end) {
    end.port = &handle->out;
    end.member = static_cast<std::uint32_t>(members_.size() - 1);
    if constexpr (std::is_same_v<T, Tensor>) {
      if (end.number == end.member && is_device_resident(end.kind)) {
        options_.deployment.bind_tensor_output_device(
            {.operator_path = name,
             .output_port = "out",
             .device = DeviceId{DeviceKind::kEmulated, 0}});
      }
    }
    ends.push_back(end);
    finish(handle, lanes);
  }
  template <class Handle>
  void finish(const Handle& handle, std::uint32_t lanes) {
    if (lanes > 0 && below(3) > 0) {
      graph_.partition("lane-" + std::to_string(below(lanes))).add(handle);
    }
  }

  std::mt19937 random_;
  Graph graph_{"random"};
  CompileOptions options_{};
  bool endless_{false};
  bool meets_{false};
  bool shelves_{false};
  bool captures_now_{false};
  bool unending_{false};  ///< Some operator may never see its last activation.
  bool spins_{false};
  std::shared_ptr<Shelf> shelf_{std::make_shared<Shelf>()};
  std::shared_ptr<Bells> bells_{std::make_shared<Bells>()};
  std::vector<End<std::uint64_t>> scalars_{};
  std::vector<End<Tensor>> tensors_{};
  std::vector<Edge> edges_{};
  std::vector<Member> members_{};
};

}  // namespace weftline::stress
