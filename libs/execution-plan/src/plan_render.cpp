// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "boundary_render.hpp"
#include "derivation_render.hpp"
#include "plan_names.hpp"
#include "quantities.hpp"
#include "render_sections.hpp"
#include "temporal_render.hpp"
#include "text.hpp"
#include "text_table.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

using Align = TextTable::Align;

constexpr std::string_view kNone = "-";

template <class Tag>
std::string show(Id<Tag> id) {
  return id.valid() ? std::to_string(id.value) : std::string(kNone);
}

std::string show(const std::optional<DeviceId>& device) {
  return device ? device->to_string() : "host";
}

std::string show_count(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string show_decision(const PlanRecords& records, VertexId vertex) {
  if (vertex.value >= records.partition_decisions.size()) return std::string(kNone);
  const PartitionDecisionRecord& decision = records.partition_decisions[vertex.value];
  if (decision.vertex != vertex) return std::string(kNone);
  return std::string(partition_decision_name(decision.kind)) + ": " + decision.reason;
}

void section(std::string& out, std::string_view title, const TextTable& table) {
  out.append("\n").append(title).append("\n").append(table.to_string());
}

void render_summary(std::string& out, const PlanRecords& records) {
  std::uint64_t bytes = 0;
  for (const auto& pool : records.tensor_allocations) bytes += pool.total_bytes();
  out.append("Plan of ").append(one_line(records.graph_name));
  out.append(records.ok() ? ": accepted\n" : ": rejected\n");
  out.append("  ").append(plan_digest(records)).append("\n  ");
  out.append(show_count(records.operators.size(), "operator")).append(", ");
  out.append(show_count(records.execution_partitions.size(), "partition")).append(", ");
  out.append(show_count(records.payload_edges.size(), "edge")).append(", ");
  out.append(show_count(records.cuda_compute_streams.size(), "stream")).append(", ");
  out.append(show_count(records.tensor_allocations.size(), "pool"));
  if (bytes != 0) out.append(" with ").append(show_bytes(bytes));
  out.append(", ").append(show_count(records.endpoint_catalog.endpoints().size(), "endpoint"));
  if (records.profile_manifest.effective != Profile::kDevelopment) {
    out.append(", profile ").append(profile_name(records.profile_manifest.effective));
  }
  out.append("\n");
}

void render_partitions(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight},
                   {"name"},
                   {"origin"},
                   {"operator"},
                   {"type"},
                   {"trigger"},
                   {"device"},
                   {"stream", Align::kRight},
                   {"placed by"}});
  for (const auto& partition : records.execution_partitions) {
    bool first = true;
    for (const VertexId member : partition.members) {
      const OperatorPlanRecord& record = records.operators[member.value];
      const bool head = std::exchange(first, false);
      table.add_row({head ? show(partition.id) : "", head ? partition.name : "",
                     head ? std::string(partition_origin_name(partition.origin)) : "", record.path,
                     record.type_id + " v" + std::to_string(record.type_version),
                     show_trigger(record), show(record.device), show(record.stream),
                     show_decision(records, member)});
    }
  }
  section(out, "Partitions", table);
}

/// Why an edge has the depth that rates and contract chose.
std::string show_recipe(const QueueSizingRecipeRecord& recipe) {
  const auto show_fraction = [](const std::optional<Rational>& value) {
    return value ? value->to_string() : std::string(kNone);
  };
  std::string text = show_fraction(recipe.rate) + " samples/s over " +
                     show_fraction(recipe.horizon) + " s, times " + recipe.headroom.to_string();
  text.append(", at least ").append(std::to_string(recipe.hard_floor));
  return text.append("; at most ").append(std::to_string(recipe.admitted_depth));
}

std::string show_value(const ParamFieldPlanRecord& field) {
  if (field.sensitive) return "(sensitive)";
  const std::string* string = field.value.as_string();
  std::string text = string != nullptr ? *string : field.value.dump();
  if (!field.unit.empty()) text.append(" ").append(field.unit);
  return text;
}

std::string show_mutability(const ParamFieldPlanRecord& field) {
  std::string text(param_mutability_name(field.mutability));
  if (field.stage) text.append(" from ").append(lifecycle_stage_name(*field.stage));
  return text;
}

bool has_parameters(const OperatorPlanRecord& record) {
  return record.parameters && !record.parameters->fields.empty();
}

void render_parameters(std::string& out, const PlanRecords& records) {
  TextTable table({{"operator"}, {"parameter"}, {"type"}, {"value"}, {"may change"}});
  for (const OperatorPlanRecord& record : records.operators) {
    const auto& parameters = record.parameters;
    if (!parameters) continue;
    bool first = true;
    for (const ParamFieldPlanRecord& field : parameters->fields) {
      table.add_row({std::exchange(first, false) ? record.path : "", field.path, field.type,
                     show_value(field), show_mutability(field)});
    }
  }
  section(out, "Parameters", table);
}

void render_edges(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight},
                   {"from"},
                   {"to"},
                   {"payload"},
                   {"queue"},
                   {"depth", Align::kRight},
                   {"chosen"},
                   {"lanes"}});
  for (const auto& edge : records.payload_edges) {
    const auto& source = records.operators[edge.source.vertex.value];
    table.add_row(
        {show(edge.edge), records.output_name(edge.source), records.input_name(edge.target),
         source.outputs[edge.source.port].payload.to_string(),
         std::string(queue_policy_name(edge.queue_policy)), std::to_string(edge.queue_depth),
         std::string(depth_origin_name(edge.depth_origin)),
         edge.crosses_partitions ? "between" : "same"});
    if (!edge.topic_name.empty()) table.add_note("named " + edge.topic_name);
    const bool automatic = edge.depth_origin == QueueDepthOrigin::kAutomatic;
    if (automatic && edge.edge.value < records.queue_sizing_recipes.size()) {
      table.add_note(show_recipe(records.queue_sizing_recipes[edge.edge.value]));
    }
    if (edge.edge.value < records.edge_selections.size()) {
      const auto& selection = records.edge_selections[edge.edge.value];
      if (selection.origin == TemporalRecordOrigin::kAuthored) {
        table.add_note(show_selection(selection));
      }
    }
  }
  section(out, "Edges", table);
}

void render_streams(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight}, {"device"}, {"partition"}});
  for (const auto& stream : records.cuda_compute_streams) {
    table.add_row({show(stream.id), stream.device.to_string(),
                   stream.partition.valid()
                       ? records.execution_partitions[stream.partition.value].name
                       : "all"});
    if (stream.green_context.valid()) {
      table.add_note("in green context " + show(stream.green_context));
    }
  }
  section(out, "Streams", table);
}

void render_fusion(std::string& out, const PlanRecords& records) {
  TextTable table({{"edge", Align::kRight}, {"fences"}, {"because"}});
  for (const auto& decision : records.fusion_decisions) {
    table.add_row({show(decision.edge), decision.fused ? "left out" : "kept", decision.reason});
  }
  section(out, "Fences", table);
}

std::string show_contributor(const PoolCapacityContributorRecord& contributor) {
  std::string reasons;
  for (const TensorSlotClaimReason reason : contributor.reasons) {
    reasons.append(reasons.empty() ? "" : ", ").append(claim_reason_name(reason));
  }
  return std::to_string(contributor.maximum_distinct_slots) + " for " + contributor.contributor +
         " (" + reasons + ")";
}

void render_pools(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight},
                   {"output"},
                   {"memory"},
                   {"device"},
                   {"slot bytes", Align::kRight},
                   {"slots", Align::kRight},
                   {"total", Align::kRight},
                   {"max rank", Align::kRight},
                   {"release streams", Align::kRight}});
  for (const auto& pool : records.tensor_allocations) {
    table.add_row({show(pool.id), records.output_name(pool.output),
                   std::string(memory_kind_name(pool.memory_kind)), show(pool.device),
                   std::to_string(pool.slot_bytes), std::to_string(pool.slot_count),
                   show_bytes(pool.total_bytes()), std::to_string(pool.max_rank),
                   std::to_string(pool.max_release_streams)});
    if (pool.active_slot_count != pool.slot_count) {
      table.add_note(std::to_string(pool.active_slot_count) + " at the rates of the start");
    }
    for (const auto& contributor : pool.contributors) table.add_note(show_contributor(contributor));
  }
  section(out, "Pools", table);
}

void render_endpoints(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight},
                   {"name"},
                   {"uri"},
                   {"payload"},
                   {"peer"},
                   {"depth", Align::kRight},
                   {"from"}});
  const auto endpoints = records.endpoint_catalog.endpoints();
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const EndpointRecord& endpoint = endpoints[i];
    std::string sources;
    for (const auto& edge : records.export_edges) {
      if (edge.endpoint.value != i) continue;
      sources.append(sources.empty() ? "" : ", ").append(records.output_name(edge.source));
    }
    table.add_row({std::to_string(i), endpoint.name, endpoint.uri, endpoint.payload.to_string(),
                   std::string(peer_requirement_name(endpoint.peer)),
                   std::to_string(endpoint.queue_depth),
                   sources.empty() ? std::string(kNone) : sources});
  }
  section(out, "Endpoints", table);
}

}  // namespace

std::string render_plan(const PlanRecords& records) {
  std::string out;
  render_summary(out, records);
  render_graph_instances(out, records);
  if (!records.execution_partitions.empty()) render_partitions(out, records);
  render_regions(out, records);
  if (std::ranges::any_of(records.operators, has_parameters)) render_parameters(out, records);
  render_port_configurations(out, records);
  if (!records.payload_edges.empty()) render_edges(out, records);
  if (!records.cuda_compute_streams.empty()) render_streams(out, records);
  if (!records.fusion_decisions.empty()) render_fusion(out, records);
  if (!records.tensor_allocations.empty()) render_pools(out, records);
  render_derivations(out, records);
  render_placements(out, records);
  if (!records.endpoint_catalog.empty()) render_endpoints(out, records);
  render_imports(out, records);
  render_lifecycle(out, records);
  if (!records.diagnostics.empty()) {
    out.append("\nDiagnostics\n").append(format_diagnostics(records.diagnostics));
  }
  return out;
}

}  // namespace weftline
