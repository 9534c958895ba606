// SPDX-License-Identifier: Apache-2.0
#include "boundary_render.hpp"

#include <algorithm>
#include <string_view>

#include "placement_names.hpp"
#include "text_table.hpp"

namespace weftline {
namespace {

using Align = TextTable::Align;

constexpr std::string_view kNone = "-";

void section(std::string& out, std::string_view title, const TextTable& table) {
  out.append("\n").append(title).append("\n").append(table.to_string());
}

std::string show_generations(const PlanRecords& records, const ImportEdgePlanRecord& edge) {
  const auto topic = std::ranges::find_if(records.external_topics, [&](const auto& each) {
    return each.direction == TopicDirection::kImport && each.endpoint_name == edge.endpoint_name;
  });
  return topic == records.external_topics.end() ? std::string(kNone)
                                                : std::to_string(topic->generation_capacity);
}

void render_output_placements(std::string& out, const PlanRecords& records) {
  TextTable table({{"output"}, {"device"}, {"from"}});
  for (const auto& placement : records.tensor_output_placements) {
    table.add_row({records.output_name(placement.output), placement.device.to_string(),
                   std::string(output_placement_name(placement.origin))});
  }
  section(out, "Outputs that pass device memory through", table);
}

void render_green_contexts(std::string& out, const PlanRecords& records) {
  TextTable table({{"id", Align::kRight},
                   {"device"},
                   {"role"},
                   {"partition"},
                   {"SMs", Align::kRight},
                   {"of", Align::kRight}});
  for (const auto& pool : records.green_context_pools) {
    for (const GreenContextPlanId id : pool.resources) {
      if (id.value >= records.green_context_resources.size()) continue;
      const auto& resource = records.green_context_resources[id.value];
      table.add_row({std::to_string(id.value), resource.device.to_string(),
                     std::string(green_context_role_name(resource.role)),
                     resource.partition_name.empty() ? std::string(kNone) : resource.partition_name,
                     std::to_string(resource.sm_count), std::to_string(pool.total_sm_count)});
    }
  }
  section(out, "Green contexts", table);
}

void render_threads(std::string& out, const PlanRecords& records) {
  TextTable table({{"thread"},
                   {"CPUs"},
                   {"policy"},
                   {"priority", Align::kRight},
                   {"waits by"},
                   {"interrupts"}});
  for (const auto& placement : records.partition_placements) {
    const ThreadPlacement& asked = placement.requested;
    table.add_row({"lane " + placement.partition_name,
                   asked.affinity ? asked.affinity->to_string() : std::string("any"),
                   std::string(scheduling_policy_name(asked.scheduling.policy)),
                   std::to_string(asked.scheduling.priority),
                   std::string(wake_mode_name(asked.wake_mode)),
                   std::string(irq_isolation_name(asked.irq_isolation))});
  }
  for (const auto& placement : records.support_thread_placements) {
    table.add_row({std::string(support_thread_role_name(placement.role)),
                   placement.affinity.to_string(), std::string(kNone), std::string(kNone),
                   std::string(kNone), std::string(kNone)});
  }
  section(out, "Threads, as asked for", table);
}

}  // namespace

void render_imports(std::string& out, const PlanRecords& records) {
  if (records.import_edges.empty()) return;
  TextTable table({{"endpoint"},
                   {"to"},
                   {"queue"},
                   {"depth", Align::kRight},
                   {"borrowed", Align::kRight},
                   {"device"},
                   {"generations", Align::kRight}});
  for (const ImportEdgePlanRecord& edge : records.import_edges) {
    table.add_row(
        {edge.endpoint_name, records.input_name(edge.target),
         std::string(queue_policy_name(edge.queue_policy)), std::to_string(edge.queue_depth),
         std::to_string(edge.held_samples) + " of " + std::to_string(edge.max_borrowed_samples),
         edge.device ? edge.device->to_string() : std::string("host"),
         show_generations(records, edge)});
  }
  section(out, "Imports", table);
}

void render_placements(std::string& out, const PlanRecords& records) {
  if (!records.tensor_output_placements.empty()) render_output_placements(out, records);
  if (!records.green_context_pools.empty()) render_green_contexts(out, records);
  if (!records.partition_placements.empty() || !records.support_thread_placements.empty()) {
    render_threads(out, records);
  }
}

}  // namespace weftline
