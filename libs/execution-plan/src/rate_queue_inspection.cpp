// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/rate_queue_inspection.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "plan_names.hpp"
#include "text.hpp"
#include "weftline/core/json.hpp"

namespace weftline {
namespace {

using Object = JsonValue::Object;

struct Pool {
  const ProviderAllocationPlanRecord* allocation{nullptr};
  std::string output{};
  std::optional<PoolGenerationRecord> generation{};
};

/// What both formats show.
struct Facts {
  const PayloadEdgePlanRecord& edge;
  const QueueSizingRecipeRecord& recipe;
  const AccumulationHorizonPlanRecord& horizon;
  const RateGenerationRecord& generation;
  std::string source{};
  std::string target{};
  std::vector<HardFloorContributorRecord> floor{};
  std::optional<EdgeGenerationRecord> active{};
  std::vector<Pool> pools{};
  std::optional<std::string> paste{};
};

std::vector<Pool> pools_on(const PlanRecords& plan, EdgeId edge,
                           const RateGenerationRecord& generation) {
  std::vector<Pool> pools;
  for (const PoolCapacityDependencyRecord& each : plan.pool_capacity_dependencies) {
    if (each.edge != edge) continue;
    Pool pool{.allocation = &plan.provider_allocation_plans[each.pool.value],
              .output = plan.output_name(plan.tensor_allocations[each.pool.value].output)};
    if (each.pool.value < generation.pools.size()) {
      pool.generation = generation.pools[each.pool.value];
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

Facts gather(const PlanRecords& plan, EdgeId id, const RateGenerationRecord& generation) {
  const PayloadEdgePlanRecord& edge = plan.payload_edges[id.value];
  Facts facts{.edge = edge,
              .recipe = plan.queue_sizing_recipes[id.value],
              .horizon = plan.accumulation_horizons[id.value],
              .generation = generation,
              .source = plan.output_name(edge.source),
              .target = plan.input_name(edge.target),
              .pools = pools_on(plan, id, generation)};
  for (const auto& each : plan.hard_floor_contributors) {
    if (each.edge == id) facts.floor.push_back(each);
  }
  if (id.value < generation.edges.size()) facts.active = generation.edges[id.value];
  if (facts.active && edge.depth_origin == QueueDepthOrigin::kAutomatic) {
    facts.paste =
        "ConnectionOptions{.queue_depth = " + std::to_string(facts.active->active_depth) + "}";
  }
  return facts;
}

JsonValue json(const std::optional<Rational>& value) {
  return value ? JsonValue(value->to_string()) : JsonValue();
}

JsonValue known(std::uint64_t value) { return value == 0 ? JsonValue() : JsonValue(value); }

JsonValue json(const std::optional<std::uint64_t>& value) {
  return value ? JsonValue(*value) : JsonValue();
}

JsonValue generation_json(const PlanRecords& plan, const RateGenerationRecord& generation) {
  JsonValue::Array selections;
  for (const LifecycleRateSelection& each : generation.selections) {
    selections.push_back(Object{{"output", valid_utf8(plan.output_name(each.output))},
                                {"samples", each.rate.samples},
                                {"seconds", each.rate.seconds}});
  }
  JsonValue rejection;
  if (generation.rejection) {
    rejection = Object{{"message", valid_utf8(generation.rejection->message)},
                       {"token", valid_utf8(generation.rejection->token)}};
  }
  return Object{{"number", generation.rate_generation},
                {"rejection", std::move(rejection)},
                {"selections", std::move(selections)},
                {"status", generation.rejection ? "rejected" : "published"}};
}

JsonValue recipe_json(const Facts& facts) {
  JsonValue::Array floor;
  for (const HardFloorContributorRecord& each : facts.floor) {
    floor.push_back(Object{{"entries", each.entries},
                           {"group", each.group},
                           {"reason", hard_floor_reason_name(each.reason)},
                           {"scenario", each.scenario}});
  }
  const QueueSizingRecipeRecord& recipe = facts.recipe;
  return Object{{"admitted_ceiling", json(recipe.admitted_ceiling)},
                {"admitted_depth", known(recipe.admitted_depth)},
                {"depth_origin", depth_origin_name(facts.edge.depth_origin)},
                {"evidence", sizing_evidence_name(recipe.evidence)},
                {"hard_floor", recipe.hard_floor},
                {"hard_floor_contributors", std::move(floor)},
                {"headroom", recipe.headroom.to_string()},
                {"horizon_basis", horizon_basis_name(facts.horizon.basis)},
                {"horizon_seconds", json(recipe.horizon)},
                {"maximum_rate", json(recipe.maximum_rate)},
                {"rate_basis", rate_basis_name(recipe.rate_basis)}};
}

JsonValue active_json(const Facts& facts) {
  const EdgeGenerationRecord active = facts.active.value_or(EdgeGenerationRecord{});
  const auto& size = active.size;
  return Object{{"depth", known(active.active_depth)},
                {"nominal_arrivals", size ? JsonValue(size->nominal_arrivals) : JsonValue()},
                {"rate", json(active.rate)},
                {"recommendation", size ? JsonValue(size->recommendation) : JsonValue()}};
}

JsonValue pool_json(const Pool& pool) {
  const ProviderAllocationPlanRecord& allocation = *pool.allocation;
  const std::uint64_t active = pool.generation ? pool.generation->active_entries : 0;
  return Object{
      {"active_bytes", known(allocation.entry_bytes * active)},
      {"active_entries", known(active)},
      {"admitted_bytes", known(allocation.admitted_bytes())},
      {"admitted_entries", known(allocation.admitted_entries)},
      {"entry_bytes", known(allocation.entry_bytes)},
      {"output", valid_utf8(pool.output)},
      {"pool", allocation.pool.value},
      {"reserved_bytes", pool.generation ? json(pool.generation->reserved_bytes) : JsonValue()}};
}

std::string render_json(const PlanRecords& plan, const Facts& facts) {
  JsonValue::Array pools;
  for (const Pool& pool : facts.pools) pools.push_back(pool_json(pool));
  return JsonValue(
             Object{{"active", active_json(facts)},
                    {"edge", Object{{"id", facts.edge.edge.value},
                                    {"queue_policy", queue_policy_name(facts.edge.queue_policy)},
                                    {"source", valid_utf8(facts.source)},
                                    {"target", valid_utf8(facts.target)}}},
                    {"generation", generation_json(plan, facts.generation)},
                    {"paste", facts.paste ? JsonValue(*facts.paste) : JsonValue()},
                    {"pools", std::move(pools)},
                    {"recipe", recipe_json(facts)},
                    {"schema", kRateQueueInspectionSchema},
                    {"version", kRateQueueInspectionVersion}})
      .dump(2);
}

constexpr std::string_view kUnavailable = "unavailable";

std::string show(const std::optional<Rational>& value, std::string_view unit) {
  if (!value) return std::string(kUnavailable);
  return value->to_string().append(unit);
}

std::string show(std::uint64_t value) {
  return value == 0 ? std::string(kUnavailable) : std::to_string(value);
}

class Lines {
 public:
  explicit Lines(std::string title) : out_(std::move(title)) { out_.append("\n"); }
  void add(std::string_view name, const std::string& value) {
    constexpr std::size_t kColumn = 12;
    out_.append("  ").append(name);
    out_.append(kColumn - std::min(kColumn - 1, name.size()), ' ').append(value).append("\n");
  }
  [[nodiscard]] std::string take() && { return std::move(out_); }

 private:
  std::string out_;
};

std::string show_floor(const Facts& facts) {
  std::string text = std::to_string(facts.recipe.hard_floor);
  std::string_view separator = " (";
  for (const HardFloorContributorRecord& each : facts.floor) {
    text.append(std::exchange(separator, ", ")).append(hard_floor_reason_name(each.reason));
    text.append(" ").append(std::to_string(each.entries));
  }
  return facts.floor.empty() ? text : text.append(")");
}

std::string show_pool(const Pool& pool) {
  const ProviderAllocationPlanRecord& allocation = *pool.allocation;
  const std::uint64_t active = pool.generation ? pool.generation->active_entries : 0;
  const std::optional<std::uint64_t> reserved =
      pool.generation ? pool.generation->reserved_bytes : std::nullopt;
  return one_line(pool.output) + ": " + show(allocation.entry_bytes) + " bytes x " + show(active) +
         " = " + show(allocation.entry_bytes * active) + " active, x " +
         show(allocation.admitted_entries) + " = " + show(allocation.admitted_bytes()) +
         " admitted; reserved " +
         (reserved ? std::to_string(*reserved) : std::string(kUnavailable));
}

std::string render_text(const PlanRecords& plan, const Facts& facts) {
  Lines lines("Edge " + std::to_string(facts.edge.edge.value) + ": " + one_line(facts.source) +
              " -> " + one_line(facts.target) + ", " +
              std::string(queue_policy_name(facts.edge.queue_policy)));
  const RateGenerationRecord& generation = facts.generation;
  lines.add("generation", std::to_string(generation.rate_generation) +
                              (generation.rejection ? ", rejected" : ", published"));
  for (const LifecycleRateSelection& each : generation.selections) {
    lines.add("selected", one_line(plan.output_name(each.output)) + " at " +
                              std::to_string(each.rate.samples) + "/" +
                              std::to_string(each.rate.seconds) + " samples/s");
  }
  if (generation.rejection) {
    lines.add("rejected", one_line(std::string(generation.rejection->token) + ": " +
                                   generation.rejection->message));
  }
  const QueueSizingRecipeRecord& recipe = facts.recipe;
  const EdgeGenerationRecord active = facts.active.value_or(EdgeGenerationRecord{});
  lines.add("rate", show(active.rate, " samples/s") + " (" +
                        std::string(rate_basis_name(recipe.rate_basis)) + "), at most " +
                        show(recipe.maximum_rate, " samples/s"));
  lines.add("horizon", show(recipe.horizon, " s") + " (" +
                           std::string(horizon_basis_name(facts.horizon.basis)) + ")");
  lines.add("evidence", std::string(sizing_evidence_name(recipe.evidence)));
  if (active.size) {
    lines.add("arrivals", std::to_string(active.size->nominal_arrivals) + ", times " +
                              recipe.headroom.to_string() + " = " +
                              std::to_string(active.size->recommendation));
  }
  lines.add("hard floor", show_floor(facts));
  lines.add("depth", show(active.active_depth) + " (" +
                         std::string(depth_origin_name(facts.edge.depth_origin)) + "), at most " +
                         show(recipe.admitted_depth));
  if (facts.paste) lines.add("paste", *facts.paste);
  for (const Pool& pool : facts.pools) {
    lines.add("pool " + std::to_string(pool.allocation->pool.value), show_pool(pool));
  }
  return std::move(lines).take();
}

expected<const RateGenerationRecord*, Error> find_generation(const RateGenerationSnapshot& snapshot,
                                                             std::uint64_t generation) {
  std::string known_ones;
  for (const RateGenerationRecord* each : {snapshot.published(), snapshot.last_rejected()}) {
    if (!each) continue;
    if (each->rate_generation == generation) return each;
    known_ones.append(known_ones.empty() ? "" : " and ");
    known_ones.append(std::to_string(each->rate_generation));
  }
  return fail(ErrorCode::kNotFound, "RATE_GENERATION_UNKNOWN",
              "the snapshot has no rate generation " + std::to_string(generation) + ", but " +
                  (known_ones.empty() ? "none" : known_ones));
}

}  // namespace

expected<std::string, Error> render_rate_queue_inspection(const PlanRecords& plan,
                                                          const RateGenerationSnapshot& snapshot,
                                                          std::uint64_t generation, EdgeId edge,
                                                          RateQueueInspectionFormat format) {
  WEFTLINE_ASSIGN(const RateGenerationRecord* record, find_generation(snapshot, generation));
  if (edge.value >= plan.queue_sizing_recipes.size()) {
    return fail(ErrorCode::kNotFound, "RATE_EDGE_UNKNOWN",
                "the plan has recipes for " + std::to_string(plan.queue_sizing_recipes.size()) +
                    " edges, none is number " + std::to_string(edge.value));
  }
  const Facts facts = gather(plan, edge, *record);
  return format == RateQueueInspectionFormat::kCanonicalJson ? render_json(plan, facts)
                                                             : render_text(plan, facts);
}

}  // namespace weftline
