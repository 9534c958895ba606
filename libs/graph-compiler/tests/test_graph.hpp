// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile_snapshot.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/core/time.hpp"

namespace weftline {

inline constexpr DeviceId kEmulated0{DeviceKind::kEmulated, 0};
inline constexpr DeviceId kEmulated1{DeviceKind::kEmulated, 1};
inline constexpr DeviceId kCuda7{DeviceKind::kCuda, 7};
inline constexpr DLDataType kUInt8{kDLUInt, 8, 1};
inline constexpr DLDataType kFloat32{kDLFloat, 32, 1};

/// A pool of 1,000-byte images of rank 2.
inline TensorOutputSpec pool_in(MemoryKind kind) {
  return {.representation = {.memory_kind = kind, .dtype = kUInt8, .rank = 2},
          .bounds = tensor_bounds(1'000),
          .storage = TensorOutputStorage::kRuntimePool};
}

inline TensorInputSpec takes(MemoryKind kind) { return {.representation = {.memory_kind = kind}}; }

/// Images as those of pool_in(), crossing processes.
inline TensorBoundaryContract boundary(MemoryKind kind) {
  return {.memory_kind = kind, .dtype = kUInt8, .rank = 2, .max_byte_span = 1'000};
}

/// Composes what the compiler gets, by names: "camera.frames". Ports carry uint32 until they are
/// made tensors. It is not Graph: nothing is refused, so that the compiler's own checks are
/// reached.
class TestGraph {
 public:
  explicit TestGraph(std::string name = "test") {
    graph_.name = std::move(name);
    graph_.clocks.push_back({"clock", [] { return std::make_unique<RealtimeClock>(); }, true});
    graph_.default_clock = 0;
    options.devices.devices = {{.id = kEmulated0}, {.id = kEmulated1}};
    options.devices.host_cpu_count = 4;
  }

  /// An operator without inputs ticks each millisecond; others have an empty contract.
  TestGraph& op(std::string path, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs) {
    VertexSnapshot vertex;
    vertex.path = std::move(path);
    vertex.type_id = "test::Op";
    vertex.type_version = 1;
    for (const auto& name : inputs)
      vertex.inputs.push_back({.name = name, .payload = payload_identity<std::uint32_t>()});
    for (const auto& name : outputs) {
      vertex.outputs.push_back({.name = name, .payload = payload_identity<std::uint32_t>()});
    }
    if (inputs.empty()) {
      vertex.trigger = {.kind = TemporalRecordTriggerKind::kClock, .period_ns = 1'000'000};
    }
    graph_.vertices.push_back(std::move(vertex));
    return *this;
  }
  TestGraph& source(std::string path) { return op(std::move(path), {}, {"out"}); }
  TestGraph& relay(std::string path) { return op(std::move(path), {"in"}, {"out"}); }
  TestGraph& sink(std::string path) { return op(std::move(path), {"in"}, {}); }

  TestGraph& flow(std::string_view from, std::string_view to, ConnectionOptions connection = {}) {
    graph_.flows.push_back({output_ref(from), input_ref(to), connection});
    return *this;
  }
  /// Makes the output one of tensors, described by `spec`.
  TestGraph& tensor_output(std::string_view name, TensorOutputSpec spec) {
    OutputPortRecord& port = output(name);
    port.payload = payload_identity<Tensor>();
    port.tensor = spec;
    return *this;
  }
  TestGraph& tensor_input(std::string_view name, TensorInputSpec spec = {}) {
    InputPortRecord& port = input(name);
    port.payload = payload_identity<Tensor>();
    port.tensor = spec;
    return *this;
  }
  /// Leaves to the derivation what it derives.
  TestGraph& derive(std::string_view name, TensorOutputDerivations derivations) {
    const PortRef ref = output_ref(name);
    VertexSnapshot& owner = graph_.vertices[ref.vertex.value];
    if (auto& spec = owner.outputs[ref.port].tensor) {
      if (derivations.byte_span) spec->bounds.max_byte_span.reset();
      if (derivations.memory_kind) spec->representation.memory_kind.reset();
    }
    owner.derivations.push_back({ref.port, std::move(derivations)});
    return *this;
  }
  template <class P>
  TestGraph& params(std::string_view path, P values) {
    vertex(path).params = ParamSet::given(std::move(values));
    return *this;
  }
  TestGraph& nominal(std::string_view name, Rate rate) {
    output(name).rate = {.kind = PortRateKind::kFixedNominal, .rate = rate};
    return *this;
  }
  TestGraph& selectable(std::string_view name, Rate initial, std::optional<Rate> maximum) {
    output(name).rate = {
        .kind = PortRateKind::kLifecycleNominal, .rate = initial, .maximum = maximum};
    return *this;
  }
  TestGraph& follows(std::string_view name, RateRatio ratio, std::uint32_t input_index = 0) {
    output(name).rate = {
        .kind = PortRateKind::kFollowsInput, .follows_input = input_index, .ratio = ratio};
    return *this;
  }
  TestGraph& accumulates(std::string_view name, Horizon horizon) {
    input(name).accumulates_over = horizon;
    return *this;
  }
  TestGraph& trigger(std::string_view path, TemporalTriggerPlanRecord record) {
    vertex(path).trigger = std::move(record);
    return *this;
  }
  /// The contract selects from the input; which one it is, is filled in.
  TestGraph& select(std::string_view name, InputSelectionSnapshot selection) {
    const PortRef ref = input_ref(name);
    selection.input = ref.port;
    graph_.vertices[ref.vertex.value].contract.selections.push_back(std::move(selection));
    return *this;
  }
  TestGraph& readiness(std::string_view path, SourceSnapshot source) {
    vertex(path).contract.sources.push_back(std::move(source));
    return *this;
  }
  TestGraph& place(std::string_view path, const std::string& partition) {
    auto& names = graph_.partitions;
    const auto found = std::ranges::find(names, partition);
    vertex(path).authored_partition = static_cast<std::uint32_t>(found - names.begin());
    if (found == names.end()) names.push_back(partition);
    return *this;
  }
  TestGraph& topic(std::string uri, const std::vector<std::string>& sources,
                   TopicOptions topic_options = {}) {
    ExportSnapshot topic{
        std::move(uri), std::move(topic_options), payload_identity<std::uint32_t>(), {}};
    if (!sources.empty()) topic.payload = output(sources.front()).payload;
    for (const auto& name : sources) topic.sources.push_back(output_ref(name));
    graph_.exports.push_back(std::move(topic));
    return *this;
  }
  /// Carries what its first target takes.
  TestGraph& import(std::string uri, const std::vector<std::string>& targets,
                    TopicOptions topic_options = {}) {
    ImportSnapshot topic{
        std::move(uri), std::move(topic_options), payload_identity<std::uint32_t>(), {}};
    if (!targets.empty()) topic.payload = input(targets.front()).payload;
    for (const auto& name : targets) topic.targets.push_back(input_ref(name));
    graph_.imports.push_back(std::move(topic));
    return *this;
  }
  TestGraph& bind_import(std::string endpoint, DeviceId device) {
    options.deployment.bind_imported_topic_device({std::move(endpoint), device});
    return *this;
  }
  TestGraph& bind(std::string path, std::string port, DeviceId device) {
    options.deployment.bind_tensor_output_device({std::move(path), std::move(port), device});
    return *this;
  }

  VertexSnapshot& vertex(std::string_view path) { return graph_.vertices[vertex_index(path)]; }
  OutputPortRecord& output(std::string_view name) {
    const PortRef ref = output_ref(name);
    return graph_.vertices[ref.vertex.value].outputs[ref.port];
  }
  InputPortRecord& input(std::string_view name) {
    const PortRef ref = input_ref(name);
    return graph_.vertices[ref.vertex.value].inputs[ref.port];
  }
  GraphSnapshot& snapshot() { return graph_; }

  [[nodiscard]] ExecutionPlan compile() const { return compile_snapshot(graph_, options); }
  /// All diagnostics, a line each.
  [[nodiscard]] std::string diagnostics() const {
    const ExecutionPlan plan = compile();
    std::string lines;
    for (const Diagnostic& diagnostic : plan.diagnostics()) {
      lines.append(format_diagnostic(diagnostic)).append("\n");
    }
    return lines;
  }

  CompileOptions options{};

 private:
  [[nodiscard]] std::size_t vertex_index(std::string_view path) const {
    const auto found = std::ranges::find(graph_.vertices, path, &VertexSnapshot::path);
    if (found == graph_.vertices.end()) throw std::logic_error("no operator " + std::string(path));
    return static_cast<std::size_t>(found - graph_.vertices.begin());
  }
  template <class Port>
  [[nodiscard]] PortRef ref(std::string_view name, std::vector<Port> VertexSnapshot::*ports) const {
    const std::size_t dot = name.find('.');
    const std::size_t index = vertex_index(name.substr(0, dot));
    const auto& list = graph_.vertices[index].*ports;
    const auto found = std::ranges::find(list, name.substr(dot + 1), &Port::name);
    if (found == list.end()) throw std::logic_error("no port " + std::string(name));
    return {VertexId{static_cast<std::uint32_t>(index)},
            static_cast<std::uint32_t>(found - list.begin())};
  }
  [[nodiscard]] PortRef output_ref(std::string_view name) const {
    return ref(name, &VertexSnapshot::outputs);
  }
  [[nodiscard]] PortRef input_ref(std::string_view name) const {
    return ref(name, &VertexSnapshot::inputs);
  }

  GraphSnapshot graph_{};
};

/// The record of one operator of a plan.
inline const OperatorPlanRecord& find_op(const ExecutionPlan& plan, std::string_view path) {
  const auto found = std::ranges::find(plan.operators(), path, &OperatorPlanRecord::path);
  if (found == plan.operators().end()) throw std::logic_error("no operator " + std::string(path));
  return *found;
}

}  // namespace weftline
