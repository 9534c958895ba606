// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/port.hpp"

namespace weftline {

struct GraphState;

// What a graph says about a port of one of its operators, beside what setup() says. Weak: throws
// GRAPH_HANDLE_STALE once the graph is gone. A fact may be said again, but not differently
// (PORT_OVERRIDE_CONFLICT); a refused call changes nothing. Which layer wins is for compile() to
// say: numbers of the graph replace those of setup(), tensor facts may only narrow them.

/// A port by its graph; for Graph and the configurators.
class PortConfiguratorBase {
 public:
  PortConfiguratorBase(std::weak_ptr<GraphState> graph, std::uint32_t vertex, std::uint32_t port,
                       bool is_output) noexcept
      : graph_(std::move(graph)), vertex_(vertex), port_(port), is_output_(is_output) {}

 protected:
  void set_queue_depth(std::uint32_t depth);
  void set_max_emits_per_compute(std::uint32_t count);
  void set_late_joiner_history_depth(std::uint32_t depth);
  void set_expects_tensor(const TensorInputSpec& spec);
  void set_produces_tensor(const TensorOutputSpec& spec);
  void set_diagnostic_alias(std::string alias);

 private:
  std::weak_ptr<GraphState> graph_;
  std::uint32_t vertex_;
  std::uint32_t port_;
  bool is_output_;
};

template <PublishedPayload T>
class InputPortConfigurator final : public PortConfiguratorBase {
 public:
  using PortConfiguratorBase::PortConfiguratorBase;
  /// Of the queue in front of it; exact, 1 or more (GRAPH_QUEUE_DEPTH_ZERO). A flow that gives
  /// another depth is an error of the plan.
  InputPortConfigurator& queue_depth(std::uint32_t depth) {
    set_queue_depth(depth);
    return *this;
  }
  /// Facts that setup() leaves open; those that it states can't be changed.
  InputPortConfigurator& expects_tensor(const TensorInputSpec& spec)
    requires std::same_as<T, Tensor>
  {
    set_expects_tensor(spec);
    return *this;
  }
  /// Shown beside the port's name in diagnostics. Of the form of an operator's name.
  InputPortConfigurator& diagnostic_alias(std::string alias) {
    set_diagnostic_alias(std::move(alias));
    return *this;
  }
};

template <PublishedPayload T>
class OutputPortConfigurator final : public PortConfiguratorBase {
 public:
  using PortConfiguratorBase::PortConfiguratorBase;
  /// Replaces what setup() says; 1 or more (PORT_EMITS_ZERO).
  OutputPortConfigurator& max_emits_per_compute(std::uint32_t count) {
    set_max_emits_per_compute(count);
    return *this;
  }
  /// Samples kept for peers of an exported topic that attach later: 1 to kMaximumQueueDepth
  /// (PORT_HISTORY_INVALID). Pools get as many slots more. An output that is not exported is an
  /// error of the plan.
  OutputPortConfigurator& late_joiner_history_depth(std::uint32_t depth) {
    set_late_joiner_history_depth(depth);
    return *this;
  }
  /// Facts that setup() leaves open, and lower bounds. A pool that setup() declares stays one,
  /// whatever `storage` says here; where setup() says nothing of tensors, all of this counts.
  OutputPortConfigurator& produces_tensor(const TensorOutputSpec& spec)
    requires std::same_as<T, Tensor>
  {
    set_produces_tensor(spec);
    return *this;
  }
  /// Shown beside the port's name in diagnostics. Of the form of an operator's name.
  OutputPortConfigurator& diagnostic_alias(std::string alias) {
    set_diagnostic_alias(std::move(alias));
    return *this;
  }
};

}  // namespace weftline
