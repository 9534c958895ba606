// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "plan_names.hpp"
#include "render_sections.hpp"
#include "text_table.hpp"

namespace weftline {
namespace {

using Align = TextTable::Align;

std::string path_of(const PlanRecords& records, VertexId vertex) {
  return vertex.value < records.operators.size() ? records.operators[vertex.value].path : "?";
}

void section(std::string& out, std::string_view title, const TextTable& table) {
  out.append("\n").append(title).append("\n").append(table.to_string());
}

std::string stage_text(const RestartGrantRecord& grant) {
  std::string text(lifecycle_stage_name(grant.effective_stage));
  if (grant.widening == LifecycleStageWidening::kNone) return text;
  text.append(", not ").append(lifecycle_stage_name(grant.requested_stage));
  return text.append(": ").append(stage_widening_name(grant.widening));
}

std::string closure_size(const PlanRecords& records, VertexId target) {
  const auto& closures = records.lifecycle.restart_closures;
  const auto found = std::ranges::lower_bound(closures, target, {}, &RestartClosureRecord::target);
  const bool known = found != closures.end() && found->target == target;
  return known ? std::to_string(found->members.size()) : "-";
}

}  // namespace

void render_lifecycle(std::string& out, const PlanRecords& records) {
  const LifecyclePlanRecord& lifecycle = records.lifecycle;
  if (!lifecycle.order.empty()) {
    TextTable table({{"operator"}, {"starts after"}});
    for (const LifecycleOrderRecord& order : lifecycle.order) {
      table.add_row({path_of(records, order.after), path_of(records, order.before)});
    }
    section(out, "Start order", table);
  }
  if (lifecycle.restart_grants.empty()) return;
  TextTable table({{"operator"},
                   {"restarted by"},
                   {"is"},
                   {"from stage"},
                   {"restarts", Align::kRight},
                   {"journal entries", Align::kRight}});
  for (const RestartGrantRecord& grant : lifecycle.restart_grants) {
    table.add_row({path_of(records, grant.target),
                   grant.requester.valid() ? path_of(records, grant.requester) : "(outside)",
                   std::string(restart_disposition_name(grant.disposition)), stage_text(grant),
                   closure_size(records, grant.target), std::to_string(grant.journal_entries)});
  }
  section(out, "Restart grants", table);
}

}  // namespace weftline
