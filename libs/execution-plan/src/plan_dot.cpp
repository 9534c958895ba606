// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_dot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan_names.hpp"
#include "quantities.hpp"
#include "temporal_render.hpp"
#include "text.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline {
namespace {

/// Colours that differ in lightness, too; streams beyond them share.
constexpr auto kStreamColors = std::to_array<std::string_view>(
    {"#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#80cdc1", "#dfc27d"});
constexpr std::string_view kHostColor = "#f0f0f0";

/// Inside a quoted string of DOT, where a backslash begins an escape.
std::string in_quotes(std::string_view text) {
  std::string out("\"");
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out.append("\"");
}

/// Lines of a label, each of any bytes.
class Label {
 public:
  Label& line(std::string_view text) {
    const std::string clean = in_quotes(one_line(text));
    if (!lines_.empty()) lines_.append("\\n");
    lines_.append(clean, 1, clean.size() - 2);
    return *this;
  }
  [[nodiscard]] std::string to_string() const { return "\"" + lines_ + "\""; }

 private:
  std::string lines_{};
};

std::string vertex_name(VertexId vertex) { return "op" + std::to_string(vertex.value); }

std::string color_of(const OperatorPlanRecord& op) {
  return std::string(op.stream.valid() ? kStreamColors[op.stream.value % kStreamColors.size()]
                                       : kHostColor);
}

/// Of one edge; those without device tensors have none.
enum class Fences : std::uint8_t { kNone = 0, kKept, kLeftOut };

class Dot {
 public:
  explicit Dot(const PlanRecords& records) : plan_(records), fences_(records.payload_edges.size()) {
    for (const FusionDecisionRecord& decision : records.fusion_decisions) {
      if (decision.edge.value >= fences_.size()) continue;
      fences_[decision.edge.value] = decision.fused ? Fences::kLeftOut : Fences::kKept;
    }
  }

  std::string draw() {
    out_.append("digraph ").append(in_quotes(one_line(plan_.graph_name))).append(" {\n");
    out_.append("  rankdir=LR;\n  fontname=\"sans-serif\";\n");
    out_.append("  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n");
    out_.append("  edge [fontname=\"sans-serif\", fontsize=9];\n");
    draw_partitions();
    for (const PayloadEdgePlanRecord& edge : plan_.payload_edges) draw_edge(edge);
    for (const TensorAllocationPlanRecord& pool : plan_.tensor_allocations) draw_pool(pool);
    draw_endpoints();
    return std::move(out_.append("}\n"));
  }

 private:
  void draw_partitions() {
    std::vector<bool> drawn(plan_.operators.size());
    for (const ExecutionPartitionRecord& partition : plan_.execution_partitions) {
      out_.append("  subgraph cluster_").append(std::to_string(partition.id.value));
      out_.append(" {\n    label=").append(Label().line(partition.name).to_string());
      out_.append(";\n    style=rounded;\n");
      for (const VertexId member : partition.members) {
        if (member.value >= drawn.size() || drawn[member.value]) continue;
        drawn[member.value] = true;
        draw_operator(plan_.operators[member.value], "    ");
      }
      out_.append("  }\n");
    }
    for (const OperatorPlanRecord& op : plan_.operators) {
      if (!drawn[op.id.value]) draw_operator(op, "  ");
    }
  }

  void draw_operator(const OperatorPlanRecord& op, std::string_view indent) {
    Label label;
    label.line(op.path).line(op.type_id).line(show_trigger(op));
    if (op.device) {
      label.line(op.device->to_string() +
                 (op.stream.valid() ? ", stream " + std::to_string(op.stream.value) : ""));
    }
    out_.append(indent).append(vertex_name(op.id)).append(" [label=").append(label.to_string());
    out_.append(", fillcolor=\"").append(color_of(op)).append("\"];\n");
  }

  void draw_edge(const PayloadEdgePlanRecord& edge) {
    const Fences fences = fences_[edge.edge.value];
    const auto& source = plan_.operators[edge.source.vertex.value];
    const auto& target = plan_.operators[edge.target.vertex.value];
    Label label;
    label.line(source.outputs[edge.source.port].name + " → " +
               target.inputs[edge.target.port].name);
    label.line("depth " + std::to_string(edge.queue_depth) +
               (edge.queue_policy == QueuePolicy::kDropOldest ? ", drops oldest" : "") +
               (fences == Fences::kKept      ? ", fenced"
                : fences == Fences::kLeftOut ? ", no fence"
                                             : ""));
    out_.append("  ").append(vertex_name(edge.source.vertex)).append(" -> ");
    out_.append(vertex_name(edge.target.vertex)).append(" [label=").append(label.to_string());
    if (edge.queue_policy == QueuePolicy::kDropOldest) out_.append(", style=dashed");
    if (fences == Fences::kLeftOut) out_.append(", penwidth=2.5");
    out_.append("];\n");
  }

  void draw_pool(const TensorAllocationPlanRecord& pool) {
    const std::string name = "pool" + std::to_string(pool.id.value);
    Label label;
    label.line("pool of " + plan_.output_name(pool.output));
    label.line(std::to_string(pool.slot_count) + " × " + show_bytes(pool.slot_bytes));
    label.line(std::string(memory_kind_name(pool.memory_kind)) +
               (pool.device ? " on " + pool.device->to_string() : ""));
    out_.append("  ").append(name).append(" [shape=cylinder, fillcolor=\"white\", label=");
    out_.append(label.to_string()).append("];\n  ").append(name).append(" -> ");
    out_.append(vertex_name(pool.output.vertex)).append(" [style=dotted, arrowhead=none];\n");
  }

  void draw_endpoints() {
    const auto endpoints = plan_.endpoint_catalog.endpoints();
    for (std::size_t index = 0; index < endpoints.size(); ++index) {
      Label label;
      label.line(endpoints[index].name).line(endpoints[index].uri);
      out_.append("  endpoint").append(std::to_string(index));
      out_.append(" [shape=cds, fillcolor=\"white\", label=").append(label.to_string());
      out_.append("];\n");
    }
    for (const ExportEdgePlanRecord& edge : plan_.export_edges) {
      out_.append("  ").append(vertex_name(edge.source.vertex)).append(" -> endpoint");
      out_.append(std::to_string(edge.endpoint.value)).append(";\n");
    }
  }

  const PlanRecords& plan_;
  std::vector<Fences> fences_;
  std::string out_{};
};

}  // namespace

std::string plan_dot(const PlanRecords& records) { return Dot(records).draw(); }

}  // namespace weftline
