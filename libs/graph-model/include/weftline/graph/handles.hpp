// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/graph/operator.hpp"

namespace weftline {

struct GraphState;

// What the calls of a Graph return: weak handles, cheap to copy. One that outlived its graph throws
// GRAPH_HANDLE_STALE, one of another graph GRAPH_HANDLE_FOREIGN, and nothing is changed.

/// One operator being authored: its own instance (only for naming ports) and how to make more.
/// Private to Graph and its handles.
struct AuthoredVertex {
  std::string name{};
  std::string type_id{};
  std::uint32_t type_version{1};
  std::unique_ptr<OperatorBase> instance{};
  std::string ports{};  ///< What setup() declared on that instance, in words.
  std::function<std::unique_ptr<OperatorBase>()> make{};
  ParamSet params{};
  const GraphState* owner{nullptr};
  std::uint32_t index{0};
};

/// An operator of some graph, without its type.
class OperatorRef {
 public:
  /// From the outermost graph on: "fusion/detect".
  [[nodiscard]] std::string path() const;

 protected:
  explicit OperatorRef(std::weak_ptr<AuthoredVertex> vertex) noexcept
      : vertex_(std::move(vertex)) {}
  [[nodiscard]] std::shared_ptr<AuthoredVertex> lock() const;

 private:
  friend struct GraphState;
  std::weak_ptr<AuthoredVertex> vertex_;
};

/// `source->frames` names a port.
template <class Op>
class OperatorHandle : public OperatorRef {
 public:
  explicit OperatorHandle(std::weak_ptr<AuthoredVertex> vertex) noexcept
      : OperatorRef(std::move(vertex)) {}
  [[nodiscard]] Op* operator->() const { return static_cast<Op*>(lock()->instance.get()); }
  /// Replaces the parameter values for plans compiled from now on. Checks nothing: compile()
  /// reports what the schema does not admit.
  const OperatorHandle& set_params(typename Op::Params params) const {
    lock()->params = ParamSet::given(std::move(params));
    return *this;
  }
};

/// A flow, to say more about it. A flow into an exported port stands for all flows that it leads
/// to. What is said twice counts as said last.
class FlowHandle {
 public:
  FlowHandle(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : graph_(std::move(graph)), index_(index) {}
  FlowHandle& queue_policy(QueuePolicy policy);
  /// Exact; 1 or more (GRAPH_QUEUE_DEPTH_ZERO).
  FlowHandle& queue_depth(std::uint32_t depth);
  /// A logical name of what flows here, for people. Of the form of an operator's name; flows of one
  /// output may share it, of two may not (GRAPH_TOPIC_NAME_CONFLICT). Inside an embedded graph it
  /// becomes "graph/name".
  FlowHandle& topic_name(std::string alias);

 private:
  std::weak_ptr<GraphState> graph_;
  std::uint32_t index_;
};

class ClockHandle {
 public:
  ClockHandle(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : graph_(std::move(graph)), index_(index) {}
  /// Among the clocks of its graph.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

 private:
  friend struct GraphState;
  std::weak_ptr<GraphState> graph_;
  std::uint32_t index_;
};

}  // namespace weftline
