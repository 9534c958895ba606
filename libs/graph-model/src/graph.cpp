// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/graph.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "contract_freeze.hpp"
#include "weftline/graph/tensor_refinement.hpp"

namespace weftline {
namespace {

[[noreturn]] void refuse(std::string_view token, std::string message) {
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

/// The rest of a URI's form is checked with the endpoint catalog's rules.
void require_topic_uri(const std::string& uri) {
  for (const std::string_view scheme : {"weftline://", "holomq://"}) {
    if (uri.size() > scheme.size() && uri.starts_with(scheme)) return;
  }
  refuse(
      "GRAPH_TOPIC_URI_INVALID",
      "a topic's URI is weftline://<path> or holomq://<path>, not \"" + uri.substr(0, 128) + "\"");
}

void require_topic(bool known) {
  if (known) return;
  refuse("GRAPH_FLOW_HANDLE_INVALID",
         "a flow names a topic that is not one of this graph's: take it from this graph's "
         "import_topic() or export_topic()");
}

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
  return text.empty() ? "no ports" : text;
}

}  // namespace

struct Graph::State {
  struct Place {
    std::uint32_t vertex{0};
    std::uint32_t port{0};
    /// What setup() states of its tensors. Absent where it may depend on parameters that are not
    /// final yet: compile() compares those.
    std::optional<TensorOutputSpec> produced{};
    std::optional<TensorInputSpec> expected_tensor{};
  };
  std::vector<std::shared_ptr<AuthoredVertex>> vertices{};
  std::vector<std::optional<std::uint32_t>> partition_of{};
  std::map<const PortBase*, Place> places{};
  std::vector<FlowSnapshot> flows{};
  std::vector<ExportSnapshot> exports{};
  std::vector<ImportSnapshot> imports{};
  std::shared_ptr<const TopicOwner> topic_owner{std::make_shared<TopicOwner>()};
  std::vector<std::string> partitions{};
  std::vector<ClockSnapshot> clocks{};
  std::optional<std::uint32_t> default_clock{};

  [[nodiscard]] PortRef place(const PortBase& port) const {
    const auto found = places.find(&port);
    if (found == places.end()) {
      refuse("GRAPH_FLOW_HANDLE_INVALID",
             "a flow names a port that is not one of this graph's: take it from a handle of this "
             "graph and declare it in setup()");
    }
    return {VertexId{found->second.vertex}, found->second.port};
  }
  [[nodiscard]] const std::string& path(PortRef port) const {
    return vertices[port.vertex.value]->path;
  }
};

Graph::Graph(std::string name) : name_(std::move(name)), state_(std::make_unique<State>()) {
  require_name("a graph's", name_);
}

Graph::~Graph() = default;

std::string Graph::readable_type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : std::string(type.name());
}

std::weak_ptr<AuthoredVertex> Graph::add_vertex(AuthoredVertex authored) {
  require_name("an operator's", authored.path);
  const bool taken = std::ranges::any_of(
      state_->vertices, [&](const auto& other) { return other->path == authored.path; });
  if (taken) {
    refuse("GRAPH_NAME_DUPLICATE",
           "two operators are called \"" + authored.path + "\"; give each its own name");
  }
  auto vertex = std::make_shared<AuthoredVertex>(std::move(authored));
  vertex->instance = vertex->make();
  OperatorSpec spec;
  vertex->instance->setup(spec);
  vertex->ports = describe_ports(spec);
  const auto index = static_cast<std::uint32_t>(state_->vertices.size());
  const bool final = vertex->params.schema() == nullptr;
  for (const auto& input : spec.inputs()) {
    state_->places[input.port] = {
        index, input.port->index(), {}, final ? input.tensor : std::nullopt};
  }
  for (const auto& output : spec.outputs()) {
    state_->places[output.port] = {
        index, output.port->index(), final ? output.tensor : std::nullopt, {}};
  }
  state_->vertices.push_back(vertex);
  state_->partition_of.emplace_back();
  return vertex;
}

void Graph::connect(const OutputPort& source, const InputPort& target,
                    const ConnectionOptions& options) {
  const FlowSnapshot flow{state_->place(source), state_->place(target), options};
  const bool repeated = std::ranges::any_of(state_->flows, [&](const FlowSnapshot& other) {
    return other.source == flow.source && other.target == flow.target;
  });
  const std::string place = state_->path(flow.source) + " -> " + state_->path(flow.target);
  if (repeated) refuse("GRAPH_FLOW_DUPLICATE", "the same two ports are connected twice: " + place);
  const std::string conflicts = tensor_contract_conflicts(
      state_->places.at(&source).produced, state_->places.at(&target).expected_tensor);
  if (!conflicts.empty()) {
    refuse("TENSOR_CONTRACT_CONFLICT",
           place + ": " + conflicts +
               "; state the same on both sides, or put an operator between them that converts");
  }
  if (options.queue_depth == 0U) {
    refuse("GRAPH_QUEUE_DEPTH_ZERO",
           place +
               ": a queue of depth 0 can carry nothing; leave queue_depth out to let the "
               "compiler choose");
  }
  state_->flows.push_back(flow);
}

void Graph::connect_export(const OutputPort& source, std::uint32_t topic,
                           const std::shared_ptr<const TopicOwner>& owner) {
  require_topic(owner == state_->topic_owner && topic < state_->exports.size());
  state_->exports[topic].sources.push_back(state_->place(source));
}

void Graph::connect_import(std::uint32_t topic, const std::shared_ptr<const TopicOwner>& owner,
                           const InputPort& target) {
  require_topic(owner == state_->topic_owner && topic < state_->imports.size());
  const PortRef port = state_->place(target);
  std::vector<PortRef>& targets = state_->imports[topic].targets;
  if (std::ranges::find(targets, port) != targets.end()) {
    refuse("GRAPH_FLOW_DUPLICATE", "the same input takes twice from one topic: " +
                                       state_->imports[topic].uri + " -> " + state_->path(port));
  }
  targets.push_back(port);
}

std::weak_ptr<const TopicOwner> Graph::topic_owner() const noexcept { return state_->topic_owner; }

std::uint32_t Graph::add_import(std::string uri, TopicOptions options, PayloadIdentity payload) {
  require_topic_uri(uri);
  state_->imports.push_back({std::move(uri), std::move(options), std::move(payload), {}});
  return static_cast<std::uint32_t>(state_->imports.size() - 1);
}

std::uint32_t Graph::add_export(std::string uri, TopicOptions options, PayloadIdentity payload) {
  require_topic_uri(uri);
  state_->exports.push_back({std::move(uri), std::move(options), std::move(payload), {}});
  return static_cast<std::uint32_t>(state_->exports.size() - 1);
}

PartitionHandle Graph::partition(std::string name) {
  require_name("a partition's", name);
  auto& names = state_->partitions;
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) names.push_back(std::move(name));
  return {*this, index};
}

void Graph::assign_partition(const std::shared_ptr<AuthoredVertex>& vertex,
                             std::uint32_t partition) {
  const auto found = std::ranges::find(state_->vertices, vertex);
  if (found == state_->vertices.end()) {
    refuse("GRAPH_HANDLE_FOREIGN", "operator " + vertex->path + " belongs to another graph");
  }
  auto& assigned = state_->partition_of[static_cast<std::size_t>(found - state_->vertices.begin())];
  if (assigned && *assigned != partition) {
    refuse("GRAPH_PARTITION_CONFLICT", "operator " + vertex->path + " is in partition \"" +
                                           state_->partitions[*assigned] + "\" already, not in \"" +
                                           state_->partitions[partition] +
                                           "\"; an operator has one lane");
  }
  assigned = partition;
}

ClockHandle Graph::add_clock(std::string name, ClockFactory factory) {
  require_name("a clock's", name);
  const auto same_name = [&](const ClockSnapshot& other) { return other.name == name; };
  if (std::ranges::any_of(state_->clocks, same_name)) {
    refuse("GRAPH_NAME_DUPLICATE",
           "two clocks are called \"" + name + "\"; give each its own name");
  }
  const bool independent = factory()->independent_progress();
  state_->clocks.push_back({std::move(name), std::move(factory), independent});
  return ClockHandle(static_cast<std::uint32_t>(state_->clocks.size() - 1));
}

void Graph::set_default_clock(ClockHandle clock) {
  if (clock.index() >= state_->clocks.size()) {
    refuse("GRAPH_HANDLE_FOREIGN",
           "the default clock must be one that this graph's add_clock() made");
  }
  state_->default_clock = clock.index();
}

GraphSnapshot Graph::snapshot() const {
  GraphSnapshot snapshot;
  snapshot.name = name_;
  snapshot.flows = state_->flows;
  snapshot.exports = state_->exports;
  snapshot.imports = state_->imports;
  snapshot.partitions = state_->partitions;
  snapshot.clocks = state_->clocks;
  snapshot.default_clock = state_->default_clock;
  for (std::size_t index = 0; index < state_->vertices.size(); ++index) {
    const AuthoredVertex& authored = *state_->vertices[index];
    VertexSnapshot vertex;
    vertex.path = authored.path;
    vertex.type_id = authored.type_id;
    vertex.type_version = authored.type_version;
    vertex.params = authored.params;
    vertex.authored_partition = state_->partition_of[index];
    vertex.factory = [make = authored.make, params = authored.params.values()] {
      auto instance = make();
      instance->adopt_params(params);
      return instance;
    };
    const auto instance = authored.params.findings().empty() ? vertex.factory() : authored.make();
    OperatorSpec spec;
    instance->setup(spec);
    if (const std::string ports = describe_ports(spec); ports != authored.ports) {
      refuse("GRAPH_SETUP_CHANGED", "operator " + authored.path + ": setup() declared [" +
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
    snapshot.vertices.push_back(std::move(vertex));
  }
  return snapshot;
}

}  // namespace weftline
