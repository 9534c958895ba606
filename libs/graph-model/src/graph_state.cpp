// SPDX-License-Identifier: Apache-2.0
#include "graph_state.hpp"

#include <algorithm>
#include <cctype>

namespace weftline {

void refuse(std::string_view token, std::string message) {
  throw RuntimeError({ErrorCode::kInvalidArgument, token, std::move(message), 0});
}

void require_name(std::string_view what, const std::string& name) {
  const bool readable =
      !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
      });
  if (!readable) {
    refuse("GRAPH_NAME_INVALID", std::string(what) + " name is 1 to 128 of [A-Za-z0-9_-], not \"" +
                                     name.substr(0, 128) + "\"");
  }
}

std::shared_ptr<GraphState> GraphState::lock(const std::weak_ptr<GraphState>& graph) {
  auto state = graph.lock();
  if (!state) {
    refuse("GRAPH_HANDLE_STALE", "this handle outlived its graph; keep the graph while you author");
  }
  return state;
}

void GraphState::require_open() const {
  if (!closed) return;
  refuse("GRAPH_CLOSED", "graph " + name +
                             " is embedded and composed already; add to it in its compose(), or "
                             "to the graph around it");
}

void GraphState::require_outermost(std::string_view what) const {
  if (parent == nullptr) return;
  refuse("GRAPH_NOT_OUTERMOST", "graph " + name + " is embedded in " + parent->name + "; " +
                                    std::string(what) + " belongs to the outermost graph");
}

std::string GraphState::prefix() const {
  std::vector<const GraphState*> chain;
  for (const GraphState* graph = this; graph->parent != nullptr; graph = graph->parent) {
    chain.push_back(graph);
  }
  std::string text;
  for (auto graph = chain.rbegin(); graph != chain.rend(); ++graph) {
    text.append((*graph)->name).append("/");
  }
  return text;
}

std::string GraphState::path_of(std::string_view local) const { return prefix().append(local); }

std::string GraphState::path(AuthoredPort port) const {
  return port.graph->path_of(port.graph->vertices[port.vertex]->name);
}

AuthoredPort GraphState::place(const PortBase& port) const {
  const auto found = places.find(&port);
  if (found == places.end()) {
    refuse("GRAPH_FLOW_HANDLE_INVALID",
           "a port is not one of this graph's operators: take it from a handle of this graph and "
           "declare it in setup(); an embedded graph's ports must be exported");
  }
  return {this, found->second.vertex, found->second.port};
}

const AuthoredExport& GraphState::exported_here(const ExportedPortRef& port) const {
  if (!port.bound_) {
    refuse("GRAPH_EXPORT_UNBOUND",
           "an exported port is used that compose() did not export: assign what export_input() or "
           "export_output() returns to the member");
  }
  const auto owner = lock(port.graph_);
  if (owner->parent != this) {
    refuse("GRAPH_FLOW_HANDLE_INVALID", "an exported port belongs to graph " + owner->name +
                                            ", which is not embedded in " + name);
  }
  return owner->exported[port.index_];
}

AuthoredPort GraphState::resolve(const FlowSource& source) const {
  if (source.port != nullptr) return place(*source.port);
  return exported_here(source.exported).ports.front();
}

std::vector<AuthoredPort> GraphState::resolve(const FlowTarget& target) const {
  if (target.port != nullptr) return {place(*target.port)};
  return exported_here(target.exported).ports;
}

void GraphState::mark_connected(const ExportedPortRef& port) {
  if (port.bound_) lock(port.graph_)->exported[port.index_].connected = true;
}

namespace {

[[noreturn]] void refuse_foreign(const std::string& path, const std::string& graph) {
  refuse("GRAPH_HANDLE_FOREIGN", path + " does not belong to graph " + graph);
}

}  // namespace

std::uint32_t GraphState::own(const OperatorRef& handle) const {
  const auto vertex = handle.lock();
  if (vertex->owner != this)
    refuse_foreign("operator " + vertex->owner->path_of(vertex->name), name);
  return vertex->index;
}

AuthoredOperator GraphState::own_or_below(const OperatorRef& handle) const {
  const auto vertex = handle.lock();
  const GraphState* graph = vertex->owner;
  while (graph != nullptr && graph != this) graph = graph->parent;
  if (graph == nullptr) refuse_foreign("operator " + vertex->owner->path_of(vertex->name), name);
  return {vertex->owner, vertex->index};
}

std::uint32_t GraphState::own(const EmbeddedGraphRef& handle) const {
  const GraphState& graph = of(*handle.lock());
  if (graph.parent != this) refuse_foreign("graph " + graph.name, name);
  return graph.index_in_parent;
}

std::uint32_t GraphState::own(const ClockHandle& handle) const {
  if (lock(handle.graph_).get() != this) {
    refuse("GRAPH_HANDLE_FOREIGN",
           "the default clock must be one that this graph's add_clock() made");
  }
  return handle.index_;
}

}  // namespace weftline
