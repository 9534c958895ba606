// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weftline/graph/graph.hpp"

namespace weftline {

[[noreturn]] void refuse(std::string_view token, std::string message);

/// Throws GRAPH_NAME_INVALID unless it is 1 to 128 of [A-Za-z0-9_-].
void require_name(std::string_view what, const std::string& name);

/// A port of an operator in some graph of a tree of embedded graphs.
struct AuthoredPort {
  const GraphState* graph{nullptr};
  std::uint32_t vertex{0};
  std::uint32_t port{0};
  friend bool operator==(const AuthoredPort&, const AuthoredPort&) noexcept = default;
  friend bool operator<(const AuthoredPort& a, const AuthoredPort& b) noexcept {
    if (a.graph != b.graph) return std::less<>{}(a.graph, b.graph);
    return std::pair(a.vertex, a.port) < std::pair(b.vertex, b.port);
  }
};

/// An operator in some graph of the tree.
struct AuthoredOperator {
  const GraphState* graph{nullptr};
  std::uint32_t vertex{0};
};

/// One call of add_flow(); several edges when the target is an exported input.
struct AuthoredFlow {
  AuthoredPort source{};
  std::vector<AuthoredPort> targets{};
  ConnectionOptions options{};
  std::string topic_name{};
};

struct AuthoredTopic {
  std::string uri{};
  TopicOptions options{};
  PayloadIdentity payload{};
  std::vector<AuthoredPort> ports{};  ///< Outputs that it exports, or inputs that take from it.
};

struct AuthoredExport {
  std::string name{};
  bool is_output{false};
  std::vector<AuthoredPort> ports{};
  bool connected{false};
};

struct AuthoredInstance {
  std::shared_ptr<Graph> graph{};
  std::string type_id{};
  std::uint32_t type_version{0};
  std::optional<std::uint32_t> partition{};  ///< Of the graph around it.
};

struct AuthoredRegion {
  std::string name{};
  std::vector<std::uint32_t> vertices{};
  std::vector<std::uint32_t> instances{};
  std::vector<RegionConstraint> constraints{};
  std::optional<Profile> profile{};
};

struct AuthoredGrant {
  std::optional<AuthoredOperator> requester{};
  AuthoredOperator target{};
  LifecycleStage from_stage{LifecycleStage::kStart};
};

/// Where a port is, by its graph.
struct PortPlace {
  std::uint32_t vertex{0};
  std::uint32_t port{0};
  bool is_output{false};
  friend auto operator<=>(const PortPlace&, const PortPlace&) noexcept = default;
};

/// What one graph holds. Shared by the graph with nobody: handles are weak.
struct GraphState {
  explicit GraphState(std::string graph_name) : name(std::move(graph_name)) {}

  std::string name;
  /// The graph that this one is embedded in, which owns it; null for the outermost.
  GraphState* parent{nullptr};
  std::uint32_t level{0};         ///< 0: outermost.
  std::uint32_t levels_below{0};  ///< Of graphs embedded here.
  std::uint32_t index_in_parent{0};
  bool closed{false};
  bool has_partitions{false};  ///< Here or below.

  std::set<std::string, std::less<>> names{};  ///< Of operators and embedded graphs.
  std::vector<std::shared_ptr<AuthoredVertex>> vertices{};
  std::vector<std::optional<std::uint32_t>> partition_of{};
  std::map<const PortBase*, PortPlace> places{};
  /// What setup() states of tensors, where no parameter can change it any more.
  std::map<PortPlace, TensorOutputSpec> produced_tensors{};
  std::map<PortPlace, TensorInputSpec> expected_tensors{};

  std::vector<AuthoredFlow> flows{};
  std::set<std::pair<AuthoredPort, AuthoredPort>> connected{};
  std::map<std::string, AuthoredPort, std::less<>> topic_names{};
  std::vector<AuthoredTopic> exports{};
  std::vector<AuthoredTopic> imports{};
  std::set<std::pair<std::uint32_t, AuthoredPort>> imported{};  ///< By import.

  std::vector<AuthoredInstance> instances{};
  std::vector<AuthoredExport> exported{};
  std::set<std::pair<bool, std::string>> exported_names{};
  std::set<std::pair<bool, AuthoredPort>> exported_ports{};

  std::map<PortPlace, PortOverrideSnapshot> overrides{};

  std::vector<std::string> partitions{};
  std::map<std::string, std::uint32_t, std::less<>> partition_index{};
  std::optional<std::uint32_t> include_all{};
  bool exact_partitions{false};
  std::vector<AuthoredRegion> regions{};
  std::map<std::string, std::uint32_t, std::less<>> region_index{};

  std::vector<ClockSnapshot> clocks{};
  std::set<std::string, std::less<>> clock_names{};
  std::optional<std::uint32_t> default_clock{};

  std::vector<std::pair<AuthoredOperator, AuthoredOperator>> order{};  ///< before, after
  std::vector<AuthoredGrant> grants{};

  /// Throws GRAPH_HANDLE_STALE.
  static std::shared_ptr<GraphState> lock(const std::weak_ptr<GraphState>& graph);
  static std::shared_ptr<AuthoredVertex> lock(const OperatorRef& handle) { return handle.lock(); }
  /// Throws GRAPH_CLOSED.
  void require_open() const;
  /// Throws GRAPH_NOT_OUTERMOST.
  void require_outermost(std::string_view what) const;

  /// "fusion/detect" of the operator or graph `local` here.
  [[nodiscard]] std::string path_of(std::string_view local) const;
  /// "fusion/" ; empty for the outermost.
  [[nodiscard]] std::string prefix() const;
  [[nodiscard]] std::string path(AuthoredPort port) const;

  /// Throws GRAPH_FLOW_HANDLE_INVALID for a port of another graph.
  [[nodiscard]] AuthoredPort place(const PortBase& port) const;
  [[nodiscard]] AuthoredPort resolve(const FlowSource& source) const;
  [[nodiscard]] std::vector<AuthoredPort> resolve(const FlowTarget& target) const;
  /// Remembers that something leads there.
  static void mark_connected(const ExportedPortRef& port);

  /// Throw GRAPH_HANDLE_FOREIGN.
  [[nodiscard]] std::uint32_t own(const OperatorRef& handle) const;
  [[nodiscard]] AuthoredOperator own_or_below(const OperatorRef& handle) const;
  [[nodiscard]] std::uint32_t own(const EmbeddedGraphRef& handle) const;
  [[nodiscard]] std::uint32_t own(const ClockHandle& handle) const;

  /// Of an embedded graph.
  [[nodiscard]] static GraphState& of(const Graph& graph) { return *graph.state_; }

 private:
  /// Null unless it is bound; throws for one of a graph that is not embedded here.
  [[nodiscard]] const AuthoredExport& exported_here(const ExportedPortRef& port) const;
};

}  // namespace weftline
