// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "weftline/graph/graph_snapshot.hpp"

namespace weftline {

class Graph;

/// One operator being authored: its own instance (only for naming ports) and how to make more.
/// Private to Graph and its handles.
struct AuthoredVertex {
  std::string path{};
  std::string type_id{};
  std::uint32_t type_version{1};
  std::unique_ptr<OperatorBase> instance{};
  std::string ports{};  ///< What setup() declared on that instance, in words.
  std::function<std::unique_ptr<OperatorBase>()> make{};
  ParamSet params{};
};

/// A weak handle: `source->frames` names a port. Throws GRAPH_HANDLE_STALE once the graph is gone.
template <class Op>
class OperatorHandle {
 public:
  explicit OperatorHandle(std::weak_ptr<AuthoredVertex> vertex) noexcept
      : vertex_(std::move(vertex)) {}
  [[nodiscard]] Op* operator->() const { return static_cast<Op*>(lock()->instance.get()); }
  [[nodiscard]] std::string path() const { return lock()->path; }
  /// Replaces the parameter values for plans compiled from now on. Checks nothing: compile()
  /// reports what the schema does not admit.
  const OperatorHandle& set_params(typename Op::Params params) const {
    lock()->params = ParamSet::given(std::move(params));
    return *this;
  }

 private:
  friend class PartitionHandle;
  [[nodiscard]] std::shared_ptr<AuthoredVertex> lock() const {
    auto vertex = vertex_.lock();
    if (!vertex) {
      throw RuntimeError(
          {ErrorCode::kInvalidArgument, "GRAPH_HANDLE_STALE",
           "this operator handle outlived its graph; keep the graph while you author", 0});
    }
    return vertex;
  }
  std::weak_ptr<AuthoredVertex> vertex_;
};

/// A named lane; operators that no partition names are placed by the compiler.
class PartitionHandle {
 public:
  PartitionHandle(Graph& graph, std::uint32_t index) noexcept : graph_(&graph), index_(index) {}
  /// Throws GRAPH_PARTITION_CONFLICT when the operator is in another partition already.
  template <class Op>
  PartitionHandle& add(const OperatorHandle<Op>& member);

 private:
  Graph* graph_;
  std::uint32_t index_;
};

class ClockHandle {
 public:
  explicit ClockHandle(std::uint32_t index) noexcept : index_(index) {}
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

 private:
  std::uint32_t index_;
};

/// Where a graph is composed. It never runs. Not thread-safe. A refused call throws RuntimeError
/// and changes nothing.
class Graph {
 public:
  explicit Graph(std::string name);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  /// Adds an operator. `name` is [A-Za-z0-9_-]+ and new here (GRAPH_NAME_INVALID,
  /// GRAPH_NAME_DUPLICATE). Constructor arguments are copied: the factory makes fresh instances
  /// from them for every compilation and run.
  template <class Op, class... Args>
    requires std::derived_from<Op, OperatorBase>
  OperatorHandle<Op> op(std::string name, Args&&... args) {
    auto make = [held = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() {
      return std::apply(
          [](const auto&... each) -> std::unique_ptr<OperatorBase> {
            return std::make_unique<Op>(each...);
          },
          held);
    };
    AuthoredVertex vertex;
    vertex.path = std::move(name);
    vertex.type_id = type_id<Op>();
    vertex.type_version = type_version<Op>();
    vertex.make = std::move(make);
    vertex.params = ParamSet::defaults<typename Op::Params>();
    return OperatorHandle<Op>(add_vertex(std::move(vertex)));
  }

  /// Connects two ports; different payload types do not compile. Throws GRAPH_FLOW_HANDLE_INVALID
  /// (a port of another graph or not declared in setup()), GRAPH_FLOW_DUPLICATE,
  /// GRAPH_QUEUE_DEPTH_ZERO, TENSOR_CONTRACT_CONFLICT (both ends state another memory kind, dtype
  /// or rank, and neither operator has parameters that could still change that).
  template <PublishedPayload T>
  void add_flow(const Output<T>& source, const Input<T>& target, ConnectionOptions options = {}) {
    connect(source, target, options);
  }
  template <PublishedPayload T>
  void add_flow(const Output<T>& source, const ExportInlet<T>& topic) {
    connect_export(source, topic.ordinal, topic.graph.lock());
  }
  /// Throws GRAPH_FLOW_HANDLE_INVALID and GRAPH_FLOW_DUPLICATE as above. How deep the input's queue
  /// is, the topic says.
  template <PublishedPayload T>
  void add_flow(const ImportOutlet<T>& topic, const Input<T>& target) {
    connect_import(topic.ordinal, topic.graph.lock(), target);
  }

  /// Declares an endpoint that other processes subscribe to. The URI is "weftline://…"
  /// ("holomq://…" is the same), else GRAPH_TOPIC_URI_INVALID is thrown. It describes the topic and
  /// gives nobody a right to attach.
  template <PublishedPayload T>
  ExportedTopic<T> export_topic(std::string uri, TopicOptions options = {}) {
    return {add_export(std::move(uri), std::move(options), payload_identity<T>()), topic_owner()};
  }
  /// Declares an endpoint that another process publishes to. URI as above.
  template <PublishedPayload T>
  ImportedTopic<T> import_topic(std::string uri, TopicOptions options = {}) {
    return {add_import(std::move(uri), std::move(options), payload_identity<T>()), topic_owner()};
  }

  /// The partition of that name, made at first use.
  PartitionHandle partition(std::string name);

  template <std::derived_from<Clock> C>
  ClockHandle add_clock(std::string name) {
    return add_clock(std::move(name), [] { return std::unique_ptr<Clock>(std::make_unique<C>()); });
  }
  /// A graph needs a default clock before it can be compiled without errors.
  void set_default_clock(ClockHandle clock);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Replays setup() and contract() on fresh instances and returns plain values. Throws what an
  /// operator's setup() throws, and GRAPH_SETUP_CHANGED when one declares other ports than at op():
  /// ports may not depend on parameters, for flows name them before the parameters are final. Both
  /// see the default parameters where the given ones are not admitted.
  [[nodiscard]] GraphSnapshot snapshot() const;

 private:
  friend class PartitionHandle;
  template <class Op>
  static std::string type_id() {
    if constexpr (requires { Op::kTypeId; }) {
      return std::string(Op::kTypeId);
    } else {
      return readable_type_name(typeid(Op));
    }
  }
  template <class Op>
  static constexpr std::uint32_t type_version() noexcept {
    if constexpr (requires { Op::kTypeVersion; }) {
      return Op::kTypeVersion;
    } else {
      return 1;
    }
  }
  static std::string readable_type_name(const std::type_info& type);

  std::weak_ptr<AuthoredVertex> add_vertex(AuthoredVertex vertex);
  void connect(const OutputPort& source, const InputPort& target, const ConnectionOptions& options);
  void connect_export(const OutputPort& source, std::uint32_t topic,
                      const std::shared_ptr<const TopicOwner>& owner);
  void connect_import(std::uint32_t topic, const std::shared_ptr<const TopicOwner>& owner,
                      const InputPort& target);
  std::uint32_t add_export(std::string uri, TopicOptions options, PayloadIdentity payload);
  std::uint32_t add_import(std::string uri, TopicOptions options, PayloadIdentity payload);
  [[nodiscard]] std::weak_ptr<const TopicOwner> topic_owner() const noexcept;
  ClockHandle add_clock(std::string name, ClockFactory factory);
  void assign_partition(const std::shared_ptr<AuthoredVertex>& vertex, std::uint32_t partition);

  struct State;
  std::string name_;
  std::unique_ptr<State> state_;
};

template <class Op>
PartitionHandle& PartitionHandle::add(const OperatorHandle<Op>& member) {
  graph_->assign_partition(member.lock(), index_);
  return *this;
}

}  // namespace weftline
