// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "weftline/graph/embedding.hpp"
#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/graph/handles.hpp"
#include "weftline/graph/port_configurator.hpp"
#include "weftline/graph/scopes.hpp"

namespace weftline {

/// How far a granted restart may go back.
struct RestartGrantOptions {
  /// The stage that the restart begins with; a forward one.
  LifecycleStage from_stage{LifecycleStage::kStart};
};

/// Where a graph is composed. It never runs. Not thread-safe. A refused call throws RuntimeError
/// and changes nothing. After embed() a graph is closed: calls that add to it are GRAPH_CLOSED;
/// parameters and ports can still be set.
class Graph {
 public:
  explicit Graph(std::string name);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  virtual ~Graph();

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
    vertex.name = std::move(name);
    vertex.type_id = type_id<Op>();
    vertex.type_version = type_version<Op>();
    vertex.make = std::move(make);
    vertex.params = ParamSet::defaults<typename Op::Params>();
    return OperatorHandle<Op>(add_vertex(std::move(vertex)));
  }

  /// Connects two ports, of operators or of graphs embedded here; different payload types do not
  /// compile. Throws GRAPH_FLOW_HANDLE_INVALID (a port of another graph or not declared in
  /// setup()), GRAPH_EXPORT_UNBOUND (an exported port that compose() did not export),
  /// GRAPH_FLOW_DUPLICATE, GRAPH_QUEUE_DEPTH_ZERO, TENSOR_CONTRACT_CONFLICT (both ends state
  /// another memory kind, dtype or rank, and neither operator has parameters that could still
  /// change that).
  template <PublishedPayload T>
  FlowHandle add_flow(const Output<T>& source, const Input<T>& target,
                      ConnectionOptions options = {}) {
    return connect({.port = &source}, {.port = &target}, options);
  }
  template <PublishedPayload T>
  FlowHandle add_flow(const Output<T>& source, const GraphInput<T>& target,
                      ConnectionOptions options = {}) {
    return connect({.port = &source}, {.exported = target}, options);
  }
  template <PublishedPayload T>
  FlowHandle add_flow(const GraphOutput<T>& source, const Input<T>& target,
                      ConnectionOptions options = {}) {
    return connect({.exported = source}, {.port = &target}, options);
  }
  template <PublishedPayload T>
  FlowHandle add_flow(const GraphOutput<T>& source, const GraphInput<T>& target,
                      ConnectionOptions options = {}) {
    return connect({.exported = source}, {.exported = target}, options);
  }
  template <PublishedPayload T>
  void add_flow(const Output<T>& source, const ExportInlet<T>& topic) {
    connect_export({.port = &source}, topic.ordinal, topic.graph.lock());
  }
  template <PublishedPayload T>
  void add_flow(const GraphOutput<T>& source, const ExportInlet<T>& topic) {
    connect_export({.exported = source}, topic.ordinal, topic.graph.lock());
  }
  /// Throws GRAPH_FLOW_HANDLE_INVALID and GRAPH_FLOW_DUPLICATE as above. How deep the input's queue
  /// is, the topic says.
  template <PublishedPayload T>
  void add_flow(const ImportOutlet<T>& topic, const Input<T>& target) {
    connect_import(topic.ordinal, topic.graph.lock(), {.port = &target});
  }
  template <PublishedPayload T>
  void add_flow(const ImportOutlet<T>& topic, const GraphInput<T>& target) {
    connect_import(topic.ordinal, topic.graph.lock(), {.exported = target});
  }

  /// Makes a G(name, args...), composes it once, and puts it here under `name`, which is new among
  /// the operators and graphs here. It uses the outermost graph's clocks and has none of its own,
  /// nor a partition that includes all (GRAPH_NOT_OUTERMOST). Throws GRAPH_NESTING_TOO_DEEP below
  /// kMaximumGraphNesting levels, and what compose() throws.
  template <std::derived_from<Graph> G, class... Args>
  EmbeddedGraph<G> embed(std::string name, Args&&... args) {
    require_new_name("an embedded graph's", name);
    auto child = std::make_shared<G>(name, std::forward<Args>(args)...);
    attach(child, std::move(name), type_id<G>(), type_version<G>());
    return EmbeddedGraph<G>(child);
  }
  /// Gives inputs of operators here, or of graphs embedded here, one name outside. A name is used
  /// once for inputs, and an input has one name (GRAPH_EXPORT_DUPLICATE); other graphs' ports are
  /// GRAPH_FLOW_HANDLE_INVALID. An exported input that nothing is led to is an error of the plan.
  template <PublishedPayload T, InputLike<T>... More>
  GraphInput<T> export_input(std::string name, const Input<T>& input, const More&... more) {
    return GraphInput<T>(state_,
                         add_exported_input(std::move(name), {target(input), target(more)...}));
  }
  template <PublishedPayload T, InputLike<T>... More>
  GraphInput<T> export_input(std::string name, const GraphInput<T>& input, const More&... more) {
    return GraphInput<T>(state_,
                         add_exported_input(std::move(name), {target(input), target(more)...}));
  }
  template <PublishedPayload T>
  GraphOutput<T> export_output(std::string name, const Output<T>& output) {
    return GraphOutput<T>(state_, add_exported_output(std::move(name), {.port = &output}));
  }
  template <PublishedPayload T>
  GraphOutput<T> export_output(std::string name, const GraphOutput<T>& output) {
    return GraphOutput<T>(state_, add_exported_output(std::move(name), {.exported = output}));
  }

  /// To say more about a port of an operator here than its setup() does. Throws
  /// GRAPH_FLOW_HANDLE_INVALID for any other port.
  template <PublishedPayload T>
  InputPortConfigurator<T> configure(const Input<T>& port) {
    return configurator<InputPortConfigurator<T>>(port, false);
  }
  template <PublishedPayload T>
  OutputPortConfigurator<T> configure(const Output<T>& port) {
    return configurator<OutputPortConfigurator<T>>(port, true);
  }
  /// The same, with the refusal as a value.
  template <PublishedPayload T>
  expected<InputPortConfigurator<T>, Error> try_configure(const Input<T>& port) {
    return caught([&] { return configure(port); });
  }
  template <PublishedPayload T>
  expected<OutputPortConfigurator<T>, Error> try_configure(const Output<T>& port) {
    return caught([&] { return configure(port); });
  }

  /// Declares an endpoint that other processes subscribe to. The URI is "weftline://…"
  /// ("holomq://…" is the same), else GRAPH_TOPIC_URI_INVALID is thrown. It describes the topic and
  /// gives nobody a right to attach.
  template <PublishedPayload T>
  ExportedTopic<T> export_topic(std::string uri, TopicOptions options = {}) {
    return {add_export(std::move(uri), std::move(options), payload_identity<T>()), state_};
  }
  /// Declares an endpoint that another process publishes to. URI as above.
  template <PublishedPayload T>
  ImportedTopic<T> import_topic(std::string uri, TopicOptions options = {}) {
    return {add_import(std::move(uri), std::move(options), payload_identity<T>()), state_};
  }

  /// The partition of that name, made at first use.
  PartitionHandle partition(std::string name);
  /// From now on compile() reports every operator that no partition names. Of the outermost graph
  /// only (GRAPH_NOT_OUTERMOST).
  void require_exact_partitions();
  /// The region of that name, made at first use.
  RegionHandle region(std::string name);

  /// `after` starts when `before` has started, and stops before it. Of operators here or in graphs
  /// embedded here at any depth (else GRAPH_HANDLE_FOREIGN); not the same one
  /// (LIFECYCLE_ORDER_SELF). A loop is an error of the plan. Without such orders operators start by
  /// path.
  void lifecycle_after(const OperatorRef& after, const OperatorRef& before);
  /// Lets `requester` restart `target` and all that start after it, in a plan whose options enable
  /// restart transactions. Throws LIFECYCLE_STAGE_INVALID for a stage of teardown.
  void grant_restart(const OperatorRef& requester, const OperatorRef& target,
                     RestartGrantOptions options = {});
  /// The same for whoever controls the session.
  void allow_external_restart(const OperatorRef& target, RestartGrantOptions options = {});

  /// Each run makes its own C from copies of `args`.
  template <std::derived_from<Clock> C, class... Args>
    requires std::constructible_from<C, const Args&...>
  ClockHandle add_clock(std::string name, const Args&... args) {
    return add_clock(std::move(name), ClockFactory([args...]() -> std::unique_ptr<Clock> {
                       return std::make_unique<C>(args...);
                     }));
  }
  /// A graph needs a default clock before it can be compiled without errors; embedded graphs use
  /// the outermost one's and have none (GRAPH_NOT_OUTERMOST).
  void set_default_clock(const ClockHandle& clock);

  [[nodiscard]] const std::string& name() const noexcept;
  /// Replays setup() and contract() on fresh instances and returns plain values. Throws what an
  /// operator's setup() throws, and GRAPH_SETUP_CHANGED when one declares other ports than at op():
  /// ports may not depend on parameters, for flows name them before the parameters are final. Both
  /// see the default parameters where the given ones are not admitted. Embedded graphs are part of
  /// it, flat; one of them has no snapshot of its own (GRAPH_NOT_OUTERMOST).
  [[nodiscard]] GraphSnapshot snapshot() const;

 protected:
  /// The body of a reusable graph, called by embed(). It depends on constructor arguments alone.
  virtual void compose() {}

 private:
  friend struct GraphState;
  template <PublishedPayload T>
  static FlowTarget target(const Input<T>& input) {
    return {.port = &input};
  }
  template <PublishedPayload T>
  static FlowTarget target(const GraphInput<T>& input) {
    return {.exported = input};
  }
  template <class Call>
  static auto caught(Call call) -> expected<decltype(call()), Error> {
    try {
      return call();
    } catch (const RuntimeError& error) {
      return make_unexpected(error.error());
    }
  }
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

  template <class Configurator>
  Configurator configurator(const PortBase& port, bool is_output) {
    const PortRef at = place_of(port);
    return Configurator(state_, at.vertex.value, at.port, is_output);
  }

  std::weak_ptr<AuthoredVertex> add_vertex(AuthoredVertex vertex);
  FlowHandle connect(const FlowSource& source, const FlowTarget& target,
                     const ConnectionOptions& options);
  void connect_export(const FlowSource& source, std::uint32_t topic,
                      const std::shared_ptr<const GraphState>& owner);
  void connect_import(std::uint32_t topic, const std::shared_ptr<const GraphState>& owner,
                      const FlowTarget& target);
  std::uint32_t add_export(std::string uri, TopicOptions options, PayloadIdentity payload);
  std::uint32_t add_import(std::string uri, TopicOptions options, PayloadIdentity payload);
  ClockHandle add_clock(std::string name, ClockFactory factory);
  void require_new_name(std::string_view what, const std::string& name) const;
  void attach(const std::shared_ptr<Graph>& child, std::string name, std::string child_type,
              std::uint32_t child_version);
  std::uint32_t add_exported_input(std::string name, std::initializer_list<FlowTarget> targets);
  std::uint32_t add_exported_output(std::string name, const FlowSource& source);
  [[nodiscard]] PortRef place_of(const PortBase& port) const;
  static VertexSnapshot snapshot_of(const AuthoredVertex& authored, std::string path);
  void add_grant(const OperatorRef* requester, const OperatorRef& target,
                 const RestartGrantOptions& options);

  std::shared_ptr<GraphState> state_;
};

}  // namespace weftline
