// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

static JsonValue vertices(const std::vector<VertexId>& ids) {
  JsonValue::Array items;
  items.reserve(ids.size());
  for (const VertexId id : ids) items.push_back(json(id));
  return items;
}

static JsonValue json(const LifecycleOrderRecord& order) {
  return Object{{"after", json(order.after)}, {"before", json(order.before)}};
}

static JsonValue json(const RestartClosureRecord& closure) {
  return Object{{"max_journal_entries", closure.max_journal_entries},
                {"members", vertices(closure.members)},
                {"target", json(closure.target)}};
}

static JsonValue json(const RestartGrantRecord& grant) {
  return Object{{"disposition", restart_disposition_name(grant.disposition)},
                {"effective_stage", lifecycle_stage_name(grant.effective_stage)},
                {"journal_entries", grant.journal_entries},
                {"requested_stage", lifecycle_stage_name(grant.requested_stage)},
                {"requester", json(grant.requester)},
                {"target", json(grant.target)},
                {"widening", stage_widening_name(grant.widening)}};
}

static JsonValue json(const LifecycleTransactionBounds& bounds) {
  return Object{{"max_closure_operators", bounds.max_closure_operators},
                {"max_journal_entries", bounds.max_journal_entries},
                {"max_pending_requests", bounds.max_pending_requests}};
}

JsonValue json(const LifecyclePlanRecord& lifecycle) {
  return Object{{"order", list(lifecycle.order)},
                {"restart_closures", list(lifecycle.restart_closures)},
                {"restart_grants", list(lifecycle.restart_grants)},
                {"start_order", vertices(lifecycle.start_order)},
                {"transactions", optional(lifecycle.transactions)}};
}

}  // namespace weftline
