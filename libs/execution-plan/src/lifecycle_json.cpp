// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

static JsonText vertices(const std::vector<VertexId>& ids) {
  JsonArrayText items;
  for (const VertexId id : ids) items.push_back(json(id));
  return items;
}

static JsonText json(const LifecycleOrderRecord& order) {
  return Object{{"after", json(order.after)}, {"before", json(order.before)}};
}

static JsonText json(const RestartClosureRecord& closure) {
  return Object{{"max_journal_entries", closure.max_journal_entries},
                {"members", vertices(closure.members)},
                {"target", json(closure.target)}};
}

static JsonText json(const RestartGrantRecord& grant) {
  return Object{{"disposition", restart_disposition_name(grant.disposition)},
                {"effective_stage", lifecycle_stage_name(grant.effective_stage)},
                {"journal_entries", grant.journal_entries},
                {"requested_stage", lifecycle_stage_name(grant.requested_stage)},
                {"requester", json(grant.requester)},
                {"target", json(grant.target)},
                {"widening", stage_widening_name(grant.widening)}};
}

static JsonText json(const LifecycleTransactionBounds& bounds) {
  return Object{{"max_closure_operators", bounds.max_closure_operators},
                {"max_journal_entries", bounds.max_journal_entries},
                {"max_pending_requests", bounds.max_pending_requests}};
}

JsonText json(const LifecyclePlanRecord& lifecycle) {
  return Object{{"order", list(lifecycle.order)},
                {"restart_closures", list(lifecycle.restart_closures)},
                {"restart_grants", list(lifecycle.restart_grants)},
                {"start_order", vertices(lifecycle.start_order)},
                {"transactions", optional(lifecycle.transactions)}};
}

}  // namespace weftline
