// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "plan_names.hpp"
#include "render_sections.hpp"
#include "text_table.hpp"

namespace weftline {
namespace {

using Align = TextTable::Align;

void section(std::string& out, std::string_view title, const TextTable& table) {
  out.append("\n").append(title).append("\n").append(table.to_string());
}

void note_exports(TextTable& table, const PlanRecords& records, std::string_view direction,
                  const std::vector<ExportedPortRecord>& ports) {
  const bool is_output = direction == "output";
  for (const ExportedPortRecord& exported : ports) {
    std::string text(direction);
    text.append(" ").append(exported.name).append(" is ");
    bool first = true;
    for (const PortRef port : exported.ports) {
      text.append(first ? "" : ", ");
      text.append(is_output ? records.output_name(port) : records.input_name(port));
      first = false;
    }
    table.add_note(std::move(text));
  }
}

}  // namespace

void render_graph_instances(std::string& out, const PlanRecords& records) {
  if (records.graph_instances.empty()) return;
  TextTable table({{"id", Align::kRight}, {"path"}, {"type"}, {"operators", Align::kRight}});
  for (const GraphInstancePlanRecord& instance : records.graph_instances) {
    table.add_row({std::to_string(instance.id.value), instance.path,
                   instance.type_id + " v" + std::to_string(instance.type_version),
                   std::to_string(instance.members.size())});
    note_exports(table, records, "input", instance.inputs);
    note_exports(table, records, "output", instance.outputs);
  }
  section(out, "Embedded graphs", table);
}

void render_regions(std::string& out, const PlanRecords& records) {
  if (records.regions.empty()) return;
  TextTable table({{"id", Align::kRight},
                   {"name"},
                   {"operators", Align::kRight},
                   {"constraints"},
                   {"profile"}});
  for (const RegionRecord& region : records.regions) {
    std::string constraints;
    for (const RegionConstraint constraint : region.constraints) {
      constraints.append(constraints.empty() ? "" : ", ");
      constraints.append(region_constraint_name(constraint));
    }
    table.add_row({std::to_string(region.id.value), region.name,
                   std::to_string(region.members.size()),
                   constraints.empty() ? "-" : std::move(constraints),
                   region.profile ? std::string(profile_name(*region.profile)) : "-"});
  }
  section(out, "Regions", table);
}

/// Only what the graph says beside setup(): the rest stands at the ports.
void render_port_configurations(std::string& out, const PlanRecords& records) {
  TextTable table({{"port"}, {"fact"}, {"value"}, {"instead of"}});
  bool any = false;
  for (const PortConfigurationRecord& each : records.port_configurations) {
    if (each.layer != PortConfigurationLayer::kGraph) continue;
    any = true;
    table.add_row({each.is_output ? records.output_name(each.port) : records.input_name(each.port),
                   std::string(port_fact_name(each.fact)), each.value,
                   each.replaced.value_or("-")});
  }
  if (any) section(out, "Configured ports", table);
}

}  // namespace weftline
