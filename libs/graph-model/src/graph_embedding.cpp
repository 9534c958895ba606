// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph_state.hpp"

namespace weftline {

void Graph::require_new_name(std::string_view what, const std::string& name) const {
  state_->require_open();
  require_name(what, name);
  if (!state_->names.contains(name)) return;
  refuse("GRAPH_NAME_DUPLICATE", "two operators or graphs of " + state_->name + " are called \"" +
                                     name + "\"; give each its own name");
}

void Graph::attach(const std::shared_ptr<Graph>& child, std::string name, std::string child_type,
                   std::uint32_t child_version) {
  GraphState& inner = *child->state_;
  const std::uint32_t level = state_->level + 1;
  const auto require_levels = [&] {
    if (level + inner.levels_below <= kMaximumGraphNesting) return;
    refuse("GRAPH_NESTING_TOO_DEEP",
           "graph " + name + " would be the " + std::to_string(level + inner.levels_below) +
               "th level of embedded graphs, the limit is " + std::to_string(kMaximumGraphNesting) +
               "; does it embed itself?");
  };
  require_levels();
  inner.name = name;
  inner.parent = state_.get();
  inner.level = level;
  // A constructor does not know yet that its graph is embedded.
  if (!inner.clocks.empty()) inner.require_outermost("a clock");
  if (inner.include_all) inner.require_outermost("a partition that includes all");
  if (inner.exact_partitions) inner.require_outermost("require_exact_partitions()");
  child->compose();
  // It may have reached for this graph.
  require_new_name("an embedded graph's", name);
  inner.index_in_parent = static_cast<std::uint32_t>(state_->instances.size());
  inner.closed = true;
  inner.has_partitions = !inner.partitions.empty() ||
                         std::ranges::any_of(inner.instances, [](const AuthoredInstance& each) {
                           return GraphState::of(*each.graph).has_partitions;
                         });
  state_->instances.push_back({child, std::move(child_type), child_version, {}});
  state_->names.insert(std::move(name));
  state_->levels_below = std::max(state_->levels_below, inner.levels_below + 1);
}

namespace {

void require_exportable(const GraphState& graph, const std::string& name, bool is_output,
                        const std::vector<AuthoredPort>& ports) {
  const std::string direction = is_output ? "output" : "input";
  if (graph.exported_names.contains({is_output, name})) {
    refuse("GRAPH_EXPORT_DUPLICATE", "two exported " + direction + "s of graph " + graph.name +
                                         " are called \"" + name + "\"; give each its own name");
  }
  std::set<AuthoredPort> once;
  for (const AuthoredPort& port : ports) {
    if (once.insert(port).second && !graph.exported_ports.contains({is_output, port})) continue;
    std::string message = "an ";
    message.append(direction).append(" of operator ").append(graph.path(port));
    message.append(" is exported twice, last as \"").append(name).append("\"; one name a port");
    refuse("GRAPH_EXPORT_DUPLICATE", message);
  }
}

std::uint32_t add_exported(GraphState& graph, std::string name, bool is_output,
                           std::vector<AuthoredPort> ports) {
  graph.exported_names.insert({is_output, name});
  for (const AuthoredPort& port : ports) graph.exported_ports.insert({is_output, port});
  graph.exported.push_back({std::move(name), is_output, std::move(ports)});
  return static_cast<std::uint32_t>(graph.exported.size() - 1);
}

}  // namespace

std::uint32_t Graph::add_exported_input(std::string name,
                                        std::initializer_list<FlowTarget> targets) {
  state_->require_open();
  require_name("an exported input's", name);
  std::vector<AuthoredPort> ports;
  for (const FlowTarget& target : targets) {
    const auto resolved = state_->resolve(target);
    ports.insert(ports.end(), resolved.begin(), resolved.end());
  }
  require_exportable(*state_, name, false, ports);
  for (const FlowTarget& target : targets) GraphState::mark_connected(target.exported);
  return add_exported(*state_, std::move(name), false, std::move(ports));
}

std::uint32_t Graph::add_exported_output(std::string name, const FlowSource& source) {
  state_->require_open();
  require_name("an exported output's", name);
  std::vector<AuthoredPort> ports{state_->resolve(source)};
  require_exportable(*state_, name, true, ports);
  GraphState::mark_connected(source.exported);
  return add_exported(*state_, std::move(name), true, std::move(ports));
}

}  // namespace weftline
