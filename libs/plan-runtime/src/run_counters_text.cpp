// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/run_counters_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "weftline/core/json.hpp"

namespace weftline {
namespace {

std::string edge_name(const PlanRecords& plan, const PayloadEdgePlanRecord& edge) {
  return plan.output_name(edge.source) + " -> " + plan.input_name(edge.target);
}

const std::string& path_of(const PlanRecords& plan, VertexId vertex) {
  return plan.operators[vertex.value].path;
}

std::string endpoint_name(const PlanRecords& plan, EndpointId endpoint) {
  for (const ExportEdgePlanRecord& edge : plan.export_edges) {
    if (edge.endpoint == endpoint) return edge.endpoint_name;
  }
  for (const ImportEdgePlanRecord& edge : plan.import_edges) {
    if (edge.endpoint == endpoint) return edge.endpoint_name;
  }
  return std::to_string(endpoint.value);
}

std::string_view place_name(SlotPlace place) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"producer", "queue", "consumer", "device", "nobody"});
  return kNames[static_cast<std::size_t>(place)];
}

std::string_view import_state_name(ImportState state) {
  static constexpr auto kNames = std::to_array<std::string_view>({"open", "fenced", "ended"});
  return kNames[static_cast<std::size_t>(state)];
}

// Text.

std::string duration(std::int64_t ns) {
  static constexpr auto kUnits = std::to_array<std::string_view>({"ns", "us", "ms", "s"});
  auto value = static_cast<double>(ns);
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && value >= 1000; ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f" : "%.3g", value);
  return std::string(text.data()).append(" ").append(kUnits[unit]);
}

/// Columns as wide as their widest cell; the first to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Below the last row.
  void note(std::string text) { rows_.push_back({std::move(text)}); }

  void print(std::string& out) const {
    if (rows_.size() == 1) return;
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_) {
      if (row.size() != widths.size()) continue;
      for (std::size_t column = 0; column < row.size(); ++column) {
        widths[column] = std::max(widths[column], row[column].size());
      }
    }
    for (const auto& row : rows_) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        const std::size_t padding =
            row.size() == widths.size() ? widths[column] - row[column].size() : 0;
        if (column > 0) out.append(2 + padding, ' ');
        out += row[column];
        if (column == 0 && row.size() > 1) out.append(padding, ' ');
      }
      out += '\n';
    }
    out += '\n';
  }

 private:
  std::vector<std::vector<std::string>> rows_{};
};

std::string number(std::uint64_t value) { return std::to_string(value); }

std::vector<std::string> with_latency(std::vector<std::string> row,
                                      const std::optional<LatencySummary>& latency) {
  if (!latency) return row;
  for (const std::int64_t ns :
       {latency->p50_ns, latency->p99_ns, latency->p999_ns, latency->max_ns}) {
    row.push_back(latency->count == 0 ? "-" : duration(ns));
  }
  return row;
}

std::vector<std::string> with_heads(std::vector<std::string> heads, bool latencies) {
  if (latencies) heads.insert(heads.end(), {"p50", "p99", "p99.9", "max"});
  return heads;
}

void print_operators(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  const bool latencies = !counters.operators.empty() && counters.operators[0].compute;
  Table table(with_heads({"operator", "activations", "emits", "queue full", "no peer", "no slot",
                          "coalesced", "unaligned", "unread", "discarded"},
                         latencies));
  for (const OperatorCounters& op : counters.operators) {
    table.add(with_latency(
        {path_of(plan, op.vertex) + (op.finished ? " (finished)" : ""), number(op.activations),
         number(op.emits), number(op.refused_emits), number(op.missing_peers),
         number(op.refused_loans), number(op.coalesced_ticks), number(op.unaligned_drops),
         number(op.unread), number(op.discarded)},
        op.compute));
  }
  table.print(out);
}

/// What contracts made of activations and samples; only of operators where they made anything.
void print_contracts(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  Table table({"by contract", "skipped", "late", "timed out", "passed over", "reused"});
  for (const OperatorCounters& op : counters.operators) {
    const std::uint64_t any =
        op.skipped | op.late_starts | op.window_timeouts | op.passed_over | op.reused;
    if (any == 0) continue;
    table.add({path_of(plan, op.vertex), number(op.skipped), number(op.late_starts),
               number(op.window_timeouts), number(op.passed_over), number(op.reused)});
  }
  table.print(out);
}

void print_edges(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  const bool latencies = !counters.edges.empty() && counters.edges[0].latency;
  Table table(with_heads({"edge", "pushed", "dropped", "depth", "most"}, latencies));
  for (std::size_t index = 0; index < counters.edges.size(); ++index) {
    const EdgeCounters& edge = counters.edges[index];
    const PayloadEdgePlanRecord& record = plan.payload_edges[index];
    table.add(with_latency(
        {edge_name(plan, record), number(edge.pushed), number(edge.dropped),
         number(edge.depth) + "/" + number(record.queue_depth), number(edge.depth_high_water)},
        edge.latency));
  }
  table.print(out);
}

std::string holding_text(const SlotHolding& slot, std::int64_t now_ns) {
  std::string text = "  slot " + number(slot.slot) + ": " + number(slot.handles) +
                     (slot.handles == 1 ? " handle" : " handles");
  for (const SlotHolder& holder : slot.holders) {
    text.append("; ").append(place_name(holder.place)).append(" ").append(holder.name);
    text.append(", ").append(duration(std::max<std::int64_t>(now_ns - holder.since_ns, 0)));
  }
  return text;
}

void print_pools(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  Table table(
      {"pool", "slots", "in use", "most", "retiring", "lost", "loans", "refused", "host waits"});
  for (const PoolCounters& pool : counters.pools) {
    const TensorPoolUsage& usage = pool.usage;
    const PortRef output = plan.tensor_allocations[pool.pool.value].output;
    table.add({plan.output_name(output), number(usage.slot_count), number(usage.in_use),
               number(usage.in_use_high_water), number(usage.retiring), number(usage.quarantined),
               number(usage.loans), number(usage.refusals), number(usage.host_waits.total())});
    for (const SlotHolding& slot : pool.held) {
      table.note(holding_text(slot, counters.read_at.timestamp_ns));
    }
  }
  table.print(out);
}

void print_lanes(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  Table table({"lane", "parks", "wakes", "spin wakes", "device polls", "voluntary switches"});
  for (const LaneCounters& lane : counters.lanes) {
    table.add({plan.execution_partitions[lane.partition.value].name, number(lane.parks),
               number(lane.wakes), number(lane.spin_wakes), number(lane.device_polls),
               number(lane.voluntary_switches)});
  }
  table.print(out);
}

void print_boundaries(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  Table exports({"export", "subscribers", "published", "without recipient"});
  for (const ExportCounters& arm : counters.exports) {
    exports.add({endpoint_name(plan, arm.endpoint), number(arm.subscribers), number(arm.published),
                 number(arm.without_recipient)});
  }
  exports.print(out);
  Table imports({"import", "received", "generation", "state"});
  for (const ImportCounters& import : counters.imports) {
    imports.add({endpoint_name(plan, import.endpoint), number(import.received),
                 number(import.generation), std::string(import_state_name(import.state))});
  }
  imports.print(out);
}

void print_restarts(std::string& out, const RestartCounters& restarts) {
  const std::uint64_t all = restarts.committed + restarts.rolled_back + restarts.failed_stopped +
                            restarts.rejected + restarts.coalesced;
  if (all == 0) return;
  Table table({"restarts", "rolled back", "failed", "rejected", "taken along", "last took"});
  table.add({number(restarts.committed), number(restarts.rolled_back),
             number(restarts.failed_stopped), number(restarts.rejected), number(restarts.coalesced),
             duration(static_cast<std::int64_t>(restarts.last_duration_ns))});
  table.print(out);
}

void print_paths(std::string& out, const PlanRecords& plan, const RunCounters& counters) {
  Table table(with_heads({"from source to sink", "samples"}, true));
  for (const PathCounters& path : counters.paths) {
    table.add(with_latency({path_of(plan, path.source) + " -> " + path_of(plan, path.sink),
                            number(path.latency.count)},
                           path.latency));
  }
  table.print(out);
}

// JSON.

JsonValue json(const std::optional<LatencySummary>& latency) {
  if (!latency) return nullptr;
  return JsonValue::Object{{"count", latency->count},   {"max_ns", latency->max_ns},
                           {"min_ns", latency->min_ns}, {"p50_ns", latency->p50_ns},
                           {"p90_ns", latency->p90_ns}, {"p999_ns", latency->p999_ns},
                           {"p99_ns", latency->p99_ns}, {"total_ns", latency->total_ns}};
}

JsonValue json(const PlanRecords& plan, const OperatorCounters& op) {
  return JsonValue::Object{{"activations", op.activations},
                           {"coalesced_ticks", op.coalesced_ticks},
                           {"compute", json(op.compute)},
                           {"discarded", op.discarded},
                           {"emits", op.emits},
                           {"finished", op.finished},
                           {"late_starts", op.late_starts},
                           {"missing_peers", op.missing_peers},
                           {"operator", path_of(plan, op.vertex)},
                           {"passed_over", op.passed_over},
                           {"refused_emits", op.refused_emits},
                           {"refused_loans", op.refused_loans},
                           {"reused", op.reused},
                           {"skipped", op.skipped},
                           {"unaligned_drops", op.unaligned_drops},
                           {"unread", op.unread},
                           {"window_timeouts", op.window_timeouts}};
}

JsonValue json(const PlanRecords& plan, const PayloadEdgePlanRecord& record,
               const EdgeCounters& edge) {
  return JsonValue::Object{{"capacity", record.queue_depth},
                           {"depth", edge.depth},
                           {"depth_high_water", edge.depth_high_water},
                           {"dropped", edge.dropped},
                           {"latency", json(edge.latency)},
                           {"pushed", edge.pushed},
                           {"source", plan.output_name(record.source)},
                           {"target", plan.input_name(record.target)}};
}

JsonValue json(const SlotHolding& slot) {
  JsonValue::Array holders;
  for (const SlotHolder& holder : slot.holders) {
    holders.push_back(JsonValue::Object{
        {"name", holder.name}, {"place", place_name(holder.place)}, {"since_ns", holder.since_ns}});
  }
  return JsonValue::Object{
      {"handles", slot.handles}, {"holders", std::move(holders)}, {"slot", slot.slot}};
}

JsonValue json(const HostWaits& waits) {
  return JsonValue::Object{{"copy_to_host", waits.copy_to_host},
                           {"null_consumer_stream", waits.null_consumer_stream},
                           {"streamless_consumer", waits.streamless_consumer},
                           {"synchronize_for_host", waits.synchronize_for_host}};
}

JsonValue json(const PlanRecords& plan, const PoolCounters& pool) {
  JsonValue::Array held;
  for (const SlotHolding& slot : pool.held) held.push_back(json(slot));
  const TensorPoolUsage& usage = pool.usage;
  return JsonValue::Object{
      {"held", std::move(held)},
      {"host_waits", json(usage.host_waits)},
      {"in_use", usage.in_use},
      {"in_use_high_water", usage.in_use_high_water},
      {"loans", usage.loans},
      {"output", plan.output_name(plan.tensor_allocations[pool.pool.value].output)},
      {"quarantined", usage.quarantined},
      {"refusals", usage.refusals},
      {"retiring", usage.retiring},
      {"returns", usage.returns},
      {"slot_count", usage.slot_count}};
}

JsonValue json(const PlanRecords& plan, const LaneCounters& lane) {
  return JsonValue::Object{{"device_polls", lane.device_polls},
                           {"lane", plan.execution_partitions[lane.partition.value].name},
                           {"parks", lane.parks},
                           {"spin_wakes", lane.spin_wakes},
                           {"voluntary_switches", lane.voluntary_switches},
                           {"wakes", lane.wakes}};
}

JsonValue json(const PlanRecords& plan, const ExportCounters& arm) {
  return JsonValue::Object{{"endpoint", endpoint_name(plan, arm.endpoint)},
                           {"published", arm.published},
                           {"subscribers", arm.subscribers},
                           {"without_recipient", arm.without_recipient}};
}

JsonValue json(const PlanRecords& plan, const ImportCounters& import) {
  return JsonValue::Object{{"endpoint", endpoint_name(plan, import.endpoint)},
                           {"generation", import.generation},
                           {"received", import.received},
                           {"state", import_state_name(import.state)}};
}

JsonValue json(const RestartCounters& restarts) {
  return JsonValue::Object{{"coalesced", restarts.coalesced},
                           {"committed", restarts.committed},
                           {"failed_stopped", restarts.failed_stopped},
                           {"last_duration_ns", restarts.last_duration_ns},
                           {"rejected", restarts.rejected},
                           {"rolled_back", restarts.rolled_back}};
}

JsonValue json(const PlanRecords& plan, const PathCounters& path) {
  return JsonValue::Object{{"latency", json(std::optional(path.latency))},
                           {"sink", path_of(plan, path.sink)},
                           {"source", path_of(plan, path.source)}};
}

template <class Record>
JsonValue array(const PlanRecords& plan, const std::vector<Record>& records) {
  JsonValue::Array values;
  for (const Record& record : records) values.push_back(json(plan, record));
  return values;
}

}  // namespace

std::string render_run_counters(const PlanRecords& plan, const RunCounters& counters) {
  std::string out;
  print_operators(out, plan, counters);
  print_contracts(out, plan, counters);
  print_edges(out, plan, counters);
  print_paths(out, plan, counters);
  print_pools(out, plan, counters);
  print_lanes(out, plan, counters);
  print_boundaries(out, plan, counters);
  print_restarts(out, counters.restarts);
  return out;
}

std::string run_counters_json(const PlanRecords& plan, const RunCounters& counters) {
  JsonValue::Array edges;
  for (std::size_t index = 0; index < counters.edges.size(); ++index) {
    edges.push_back(json(plan, plan.payload_edges[index], counters.edges[index]));
  }
  return JsonValue(JsonValue::Object{{"edges", std::move(edges)},
                                     {"exports", array(plan, counters.exports)},
                                     {"imports", array(plan, counters.imports)},
                                     {"lanes", array(plan, counters.lanes)},
                                     {"operators", array(plan, counters.operators)},
                                     {"paths", array(plan, counters.paths)},
                                     {"pools", array(plan, counters.pools)},
                                     {"read_at_ns", counters.read_at.timestamp_ns},
                                     {"restarts", json(counters.restarts)},
                                     {"schema", kRunCountersSchema},
                                     {"version", kRunCountersVersion}})
      .dump();
}

}  // namespace weftline
