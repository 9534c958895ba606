// SPDX-License-Identifier: Apache-2.0
#include "run_observation.hpp"

#include <algorithm>

namespace weftline::runtime {
namespace {

/// The operators that `sink` gets samples of, itself not included.
std::vector<bool> ancestors(const PlanRecords& plan, VertexId sink) {
  std::vector<bool> found(plan.operators.size());
  std::vector<VertexId> open{sink};
  while (!open.empty()) {
    const VertexId vertex = open.back();
    open.pop_back();
    for (const PayloadEdgePlanRecord& edge : plan.payload_edges) {
      const VertexId source = edge.source.vertex;
      if (edge.target.vertex != vertex || found[source.value]) continue;
      found[source.value] = true;
      open.push_back(source);
    }
  }
  return found;
}

bool is_sink(const PlanRecords& plan, VertexId vertex) {
  return std::ranges::none_of(plan.payload_edges,
                              [&](const auto& edge) { return edge.source.vertex == vertex; });
}

std::unique_ptr<OperatorProbe::Latencies> make_latencies(const PlanRecords& plan,
                                                         const OperatorPlanRecord& record) {
  auto latencies = std::make_unique<OperatorProbe::Latencies>();
  for (std::size_t input = 0; input < record.inputs.size(); ++input) {
    latencies->inputs.push_back(std::make_unique<LatencyHistogram>());
  }
  if (!is_sink(plan, record.id)) return latencies;
  const std::vector<bool> before = ancestors(plan, record.id);
  latencies->from_sources.resize(plan.operators.size());
  for (const OperatorPlanRecord& source : plan.operators) {
    // What runs for an input is no source: its samples have come from one.
    if (!before[source.id.value] || !source.trigger.inputs.empty()) continue;
    latencies->from_sources[source.id.value] = std::make_unique<LatencyHistogram>();
  }
  return latencies;
}

std::unique_ptr<OperatorProbe::NvtxNames> make_names(const OperatorPlanRecord& record) {
  auto names = std::make_unique<OperatorProbe::NvtxNames>();
  names->compute = nvtx::register_name(record.path);
  for (const auto& input : record.inputs) {
    names->inputs.push_back(nvtx::register_name(record.path + "." + input.name));
  }
  for (const auto& output : record.outputs) {
    names->outputs.push_back(nvtx::register_name(record.path + "." + output.name));
  }
  return names;
}

}  // namespace

RunObservation::RunObservation(const PlanRecords& plan, const ObserveOptions& options)
    : plan_(plan), stamps_samples_(options.latencies) {
  if (options.trace_events > 0) {
    for (std::size_t lane = 0; lane < plan.execution_partitions.size(); ++lane) {
      traces_.push_back(std::make_unique<TraceRing>(options.trace_events));
    }
    controller_trace_ = std::make_unique<TraceRing>(options.trace_events);
  }
  for (const OperatorPlanRecord& record : plan.operators) {
    OperatorProbe::Options probe{.vertex = record.id,
                                 .stream = record.stream,
                                 .outputs = record.outputs.size(),
                                 .trace = trace_of(record.partition)};
    if (options.latencies) probe.latencies = make_latencies(plan, record);
    if (options.nvtx && nvtx::available()) probe.nvtx = make_names(record);
    probes_.push_back(std::make_unique<OperatorProbe>(std::move(probe)));
  }
}

void RunObservation::read(RunCounters& counters) const {
  if (!stamps_samples_) return;
  for (const OperatorPlanRecord& record : plan_.operators) {
    const OperatorProbe::Latencies& latencies = *probes_[record.id.value]->latencies();
    counters.operators[record.id.value].compute = latencies.compute.summary();
    for (std::size_t source = 0; source < latencies.from_sources.size(); ++source) {
      if (!latencies.from_sources[source]) continue;
      counters.paths.push_back({.source = VertexId{static_cast<std::uint32_t>(source)},
                                .sink = record.id,
                                .latency = latencies.from_sources[source]->summary()});
    }
  }
  for (std::size_t index = 0; index < counters.edges.size(); ++index) {
    const PortRef target = plan_.payload_edges[index].target;
    const auto& inputs = probes_[target.vertex.value]->latencies()->inputs;
    counters.edges[index].latency = inputs[target.port]->summary();
  }
}

RunTrace RunObservation::trace() const {
  RunTrace trace;
  for (std::size_t lane = 0; lane < traces_.size(); ++lane) {
    trace.lanes.emplace_back();
    trace.lanes.back().partition = plan_.execution_partitions[lane].id;
    trace.lanes.back().overwritten = traces_[lane]->read(trace.lanes.back().events);
  }
  if (controller_trace_) {
    trace.controller.overwritten = controller_trace_->read(trace.controller.events);
  }
  return trace;
}

}  // namespace weftline::runtime
