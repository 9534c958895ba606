// SPDX-License-Identifier: Apache-2.0
#include "run_report.hpp"

#include <algorithm>
#include <cstdio>

namespace motion_watch {
namespace {

template <class... Values>
std::string line(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }
double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

void describe_plan(const weftline::ExecutionPlan& plan, const weftline::RunCounters& counters,
                   ReportData& report) {
  const auto& records = plan.records();
  for (const auto& operation : plan.operators()) {
    report.nodes.push_back({operation.path,
                            plan.execution_partitions()[operation.partition.value].name,
                            operation.device ? operation.device->to_string() : "host"});
  }
  for (std::size_t index = 0; index < plan.payload_edges().size(); ++index) {
    const auto& edge = plan.payload_edges()[index];
    const auto& source = plan.operators()[edge.source.vertex.value];
    const auto& target = plan.operators()[edge.target.vertex.value];
    ReportEdge row;
    row.from_node = source.path;
    row.from_port = source.outputs[edge.source.port].name;
    row.to_node = target.path;
    row.to_port = target.inputs[edge.target.port].name;
    row.payload = source.outputs[edge.source.port].payload.name;
    row.depth = edge.queue_depth;
    row.policy = edge.queue_policy == weftline::QueuePolicy::kBlocking ? "blocking" : "drop-oldest";
    row.high_water = counters.edges[index].depth_high_water;
    report.edges.push_back(std::move(row));
  }
  for (std::size_t index = 0; index < plan.tensor_allocations().size(); ++index) {
    const auto& pool = plan.tensor_allocations()[index];
    report.pools.push_back({records.output_name(pool.output),
                            std::string(weftline::memory_kind_name(pool.memory_kind)),
                            pool.device ? pool.device->to_string() : "host", pool.slot_bytes,
                            pool.slot_count, pool.total_bytes(),
                            counters.pools[index].usage.in_use_high_water});
  }
  for (std::size_t index = 0; index < records.export_edges.size(); ++index) {
    const auto& edge = records.export_edges[index];
    const auto* endpoint = plan.endpoint_catalog().find(edge.endpoint_name);
    const auto& counter = counters.exports[index];
    report.endpoints.push_back(
        {edge.endpoint_name, true, plan.operators()[edge.source.vertex.value].path,
         endpoint->payload.name,
         endpoint->peer == weftline::PeerRequirement::kOptional ? "optional" : "required",
         counter.published + counter.without_recipient, counter.published});
  }
  for (const auto& diagnostic : plan.diagnostics()) {
    report.diagnostics.push_back(
        {diagnostic.severity == weftline::DiagnosticSeverity::kError ? "error" : "warning",
         diagnostic.token, diagnostic.place, diagnostic.message});
  }
  report.facts.push_back({"plan", plan.digest()});
}

std::string summary_table(const ReportData& report) {
  const auto& run = report.run;
  std::string text;
  text += line("frames   %llu in %.2f s, %.1f frames/s, %llu dropped\n",
               static_cast<unsigned long long>(run.frames), run.seconds,
               run.seconds > 0 ? static_cast<double>(run.frames) / run.seconds : 0.0,
               static_cast<unsigned long long>(run.drops));
  const auto& latency = report.latency;
  text += line(
      "latency  p50 %.2f ms, p90 %.2f, p99 %.2f, p99.9 %.2f, max %.2f (capture to last sink)\n",
      ms(latency.p50_ns), ms(latency.p90_ns), ms(latency.p99_ns), ms(latency.p999_ns),
      ms(latency.max_ns));
  for (const auto& endpoint : report.endpoints) {
    text += line("topic    %s: %llu events, %llu with a recipient\n", endpoint.name.c_str(),
                 static_cast<unsigned long long>(endpoint.samples),
                 static_cast<unsigned long long>(endpoint.delivered));
  }
  text += line("\n%-36s %6s %6s  %s\n", "edge", "depth", "most", "policy");
  for (const auto& edge : report.edges) {
    const std::string name =
        edge.from_node + "." + edge.from_port + " > " + edge.to_node + "." + edge.to_port;
    text +=
        line("%-36s %6llu %6llu  %s\n", name.c_str(), static_cast<unsigned long long>(edge.depth),
             static_cast<unsigned long long>(edge.high_water), edge.policy.c_str());
  }
  text += line("\n%-20s %-12s %-12s %6s %6s %10s\n", "pool", "memory", "device", "slots", "most",
               "MiB");
  std::uint64_t total = 0;
  for (const auto& pool : report.pools) {
    total += pool.declared_bytes.value_or(0);
    text += line("%-20s %-12s %-12s %6llu %6llu %10.2f\n", pool.name.c_str(), pool.kind.c_str(),
                 pool.device.c_str(), static_cast<unsigned long long>(pool.slots),
                 static_cast<unsigned long long>(pool.slots_high_water),
                 mib(pool.declared_bytes.value_or(0)));
  }
  text += line("%-20s %-12s %-12s %6s %6s %10.2f\n", "total", "", "", "", "", mib(total));
  return text;
}

}  // namespace motion_watch
