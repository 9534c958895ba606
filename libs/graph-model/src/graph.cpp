// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/graph.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "contract_freeze.hpp"
#include "graph_snapshot.hpp"
#include "graph_state.hpp"
#include "weftline/graph/tensor_contract_conflicts.hpp"

namespace weftline {
namespace {

/// "input 0 frames: tensor; output 0 mask: tensor"
std::string describe_ports(const OperatorSpec& spec) {
  std::string text;
  const auto add = [&](std::string_view kind, std::size_t index, const auto& port) {
    text += (text.empty() ? "" : "; ") + std::string(kind) + " " + std::to_string(index) + " " +
            port.name + ": " + port.payload.to_string();
  };
  for (std::size_t index = 0; index < spec.inputs().size(); ++index)
    add("input", index, spec.inputs()[index]);
  for (std::size_t index = 0; index < spec.outputs().size(); ++index)
    add("output", index, spec.outputs()[index]);
  for (std::size_t index = 0; index < spec.sources().size(); ++index) {
    text += (text.empty() ? "" : "; ") + std::string("source ") + std::to_string(index) + " " +
            spec.sources()[index].record.name;
  }
  return text.empty() ? "no ports" : text;
}

}  // namespace

Graph::Graph(std::string name) : state_(std::make_shared<GraphState>(std::move(name))) {
  require_name("a graph's", state_->name);
}

Graph::~Graph() = default;

const std::string& Graph::name() const noexcept { return state_->name; }

std::string Graph::readable_type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : std::string(type.name());
}

std::weak_ptr<AuthoredVertex> Graph::add_vertex(AuthoredVertex authored) {
  require_new_name("an operator's", authored.name);
  auto vertex = std::make_shared<AuthoredVertex>(std::move(authored));
  vertex->instance = vertex->make();
  OperatorSpec spec;
  vertex->instance->setup(spec);
  require_lifecycle_of(spec.lifecycle_callbacks(), *vertex->instance);
  vertex->ports = describe_ports(spec);
  const auto index = static_cast<std::uint32_t>(state_->vertices.size());
  vertex->owner = state_.get();
  vertex->index = index;
  // Parameters, while they are not final, may change what setup() states: compile() compares those.
  const bool final = vertex->params.schema() == nullptr;
  for (const auto& input : spec.inputs()) {
    const PortPlace place{index, input.port->index(), false};
    state_->places[input.port] = place;
    if (final && input.tensor) state_->expected_tensors[place] = *input.tensor;
  }
  for (const auto& output : spec.outputs()) {
    const PortPlace place{index, output.port->index(), true};
    state_->places[output.port] = place;
    if (final && output.tensor) state_->produced_tensors[place] = *output.tensor;
  }
  state_->names.insert(vertex->name);
  state_->vertices.push_back(vertex);
  state_->partition_of.emplace_back();
  return vertex;
}

namespace {

/// What both ends state of their tensors, and differently.
std::string conflicts_between(const AuthoredPort& source, const AuthoredPort& target) {
  const auto& produced = source.graph->produced_tensors;
  const auto& expected_tensors = target.graph->expected_tensors;
  const auto from = produced.find({source.vertex, source.port, true});
  const auto to = expected_tensors.find({target.vertex, target.port, false});
  if (from == produced.end() || to == expected_tensors.end()) return {};
  return tensor_contract_conflicts(from->second, to->second);
}

}  // namespace

FlowHandle Graph::connect(const FlowSource& source, const FlowTarget& target,
                          const ConnectionOptions& options) {
  state_->require_open();
  AuthoredFlow flow{state_->resolve(source), state_->resolve(target), options, {}};
  for (const AuthoredPort& each : flow.targets) {
    const std::string place = state_->path(flow.source) + " -> " + state_->path(each);
    if (state_->connected.contains({flow.source, each})) {
      refuse("GRAPH_FLOW_DUPLICATE", "the same two ports are connected twice: " + place);
    }
    if (const std::string conflicts = conflicts_between(flow.source, each); !conflicts.empty()) {
      refuse("TENSOR_CONTRACT_CONFLICT",
             std::string(place).append(": ").append(conflicts).append(
                 "; state the same on both sides, or put an operator between them that converts"));
    }
    if (options.queue_depth == 0U) {
      refuse("GRAPH_QUEUE_DEPTH_ZERO",
             place +
                 ": a queue of depth 0 can carry nothing; leave queue_depth out to let the "
                 "compiler choose");
    }
  }
  GraphState::mark_connected(source.exported);
  GraphState::mark_connected(target.exported);
  for (const AuthoredPort& each : flow.targets) state_->connected.insert({flow.source, each});
  state_->flows.push_back(std::move(flow));
  return {state_, static_cast<std::uint32_t>(state_->flows.size() - 1)};
}

PortRef Graph::place_of(const PortBase& port) const {
  const AuthoredPort place = state_->place(port);
  return {VertexId{place.vertex}, place.port};
}

PartitionHandle Graph::partition(std::string name) {
  state_->require_open();
  require_name("a partition's", name);
  const auto next = static_cast<std::uint32_t>(state_->partitions.size());
  const auto at = state_->partition_index.try_emplace(name, next).first;
  if (at->second == next) state_->partitions.push_back(std::move(name));
  return {state_, at->second};
}

void Graph::require_exact_partitions() {
  state_->require_open();
  state_->require_outermost("require_exact_partitions()");
  state_->exact_partitions = true;
}

RegionHandle Graph::region(std::string name) {
  state_->require_open();
  require_name("a region's", name);
  const auto next = static_cast<std::uint32_t>(state_->regions.size());
  const auto at = state_->region_index.try_emplace(name, next).first;
  if (at->second == next) state_->regions.push_back({.name = std::move(name)});
  return {state_, at->second};
}

ClockHandle Graph::add_clock(std::string name, ClockFactory factory) {
  state_->require_open();
  state_->require_outermost("a clock");
  require_name("a clock's", name);
  if (state_->clock_names.contains(name)) {
    refuse("GRAPH_NAME_DUPLICATE",
           "two clocks are called \"" + name + "\"; give each its own name");
  }
  const std::unique_ptr<Clock> sample = factory();
  const bool independent = sample->independent_progress();
  const bool driven = sample->driver() != nullptr;
  state_->clock_names.insert(name);
  state_->clocks.push_back({std::move(name), std::move(factory), independent, driven});
  return {state_, static_cast<std::uint32_t>(state_->clocks.size() - 1)};
}

void Graph::set_default_clock(const ClockHandle& clock) {
  state_->require_open();
  state_->default_clock = state_->own(clock);
}

void Graph::lifecycle_after(const OperatorRef& after, const OperatorRef& before) {
  state_->require_open();
  const AuthoredOperator last = state_->own_or_below(after);
  const AuthoredOperator first = state_->own_or_below(before);
  if (first.graph == last.graph && first.vertex == last.vertex) {
    refuse("LIFECYCLE_ORDER_SELF", "operator " + after.path() + " can't start after itself");
  }
  state_->order.emplace_back(first, last);
}

void Graph::add_grant(const OperatorRef* requester, const OperatorRef& target,
                      const RestartGrantOptions& options) {
  state_->require_open();
  AuthoredGrant grant{.target = state_->own_or_below(target), .from_stage = options.from_stage};
  if (requester != nullptr) grant.requester = state_->own_or_below(*requester);
  if (!is_lifecycle_forward_stage(options.from_stage)) {
    refuse("LIFECYCLE_STAGE_INVALID", "a restart of " + target.path() + " can't begin with stage " +
                                          std::string(lifecycle_stage_name(options.from_stage)) +
                                          "; give a stage from kConfigure to kStart");
  }
  state_->grants.push_back(grant);
}

void Graph::grant_restart(const OperatorRef& requester, const OperatorRef& target,
                          RestartGrantOptions options) {
  add_grant(&requester, target, options);
}

void Graph::allow_external_restart(const OperatorRef& target, RestartGrantOptions options) {
  add_grant(nullptr, target, options);
}

VertexSnapshot Graph::snapshot_of(const AuthoredVertex& authored, std::string path) {
  VertexSnapshot vertex;
  vertex.path = std::move(path);
  vertex.type_id = authored.type_id;
  vertex.type_version = authored.type_version;
  vertex.params = authored.params;
  vertex.factory = [make = authored.make, params = authored.params.values()] {
    auto instance = make();
    instance->adopt_params(params);
    return instance;
  };
  const auto instance = authored.params.findings().empty() ? vertex.factory() : authored.make();
  OperatorSpec spec;
  instance->setup(spec);
  if (const std::string ports = describe_ports(spec); ports != authored.ports) {
    refuse("GRAPH_SETUP_CHANGED", "operator " + vertex.path + ": setup() declared [" +
                                      authored.ports + "] when it was added and [" + ports +
                                      "] with its parameters set; declare the same ports always");
  }
  for (const auto& input : spec.inputs()) {
    vertex.inputs.push_back({.name = input.name,
                             .payload = input.payload,
                             .tensor = input.tensor,
                             .expected_rate = input.expected_rate,
                             .retained_samples = input.retained_samples});
  }
  for (const auto& output : spec.outputs()) {
    if (output.derivations.any()) {
      vertex.derivations.push_back({output.port->index(), output.derivations});
    }
    vertex.outputs.push_back(
        {output.name, output.payload, output.tensor, output.rate, output.max_emits_per_compute});
  }
  freeze_contract(instance->contract(), spec, vertex);
  return vertex;
}

GraphSnapshot Graph::snapshot() const {
  state_->require_outermost("a snapshot");
  const FlatGraphs flat(*state_);
  GraphSnapshot snapshot;
  flat.add_structure(snapshot);
  for (const FlatGraphs::Place& place : flat.places()) {
    for (const auto& authored : place.graph->vertices) {
      VertexSnapshot vertex = snapshot_of(*authored, place.prefix + authored->name);
      vertex.authored_partition = place.partition;
      if (const auto own = place.graph->partition_of[authored->index]) {
        vertex.authored_partition = place.first_partition + *own;
      }
      snapshot.vertices.push_back(std::move(vertex));
    }
  }
  return snapshot;
}

}  // namespace weftline
