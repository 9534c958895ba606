// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/rate_queue_inspection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sample_plan.hpp"
#include "weftline/core/json.hpp"

namespace weftline {
namespace {

constexpr std::uint64_t kMebibyte = 1'048'576;
constexpr PortRef kFrames{VertexId{0}, 0};
constexpr auto kText = RateQueueInspectionFormat::kHumanText;
constexpr auto kJson = RateQueueInspectionFormat::kCanonicalJson;

Rational fraction(std::uint64_t numerator, std::uint64_t denominator = 1) {
  return Rational::make(numerator, denominator).value();
}

/// camera at 60 of at most 120 Hz, whose 6 MiB frames pile up for 1/15 s before gray, which keeps
/// four of them.
PlanRecords selectable_plan() {
  PlanRecords plan = sample_plan();
  plan.operators[0].outputs[0].rate = {
      .kind = PortRateKind::kLifecycleNominal, .rate = Rate::hz(60), .maximum = Rate::hz(120)};
  for (PortRatePlanRecord& rate : plan.port_rates) {
    if (!rate.nominal) continue;
    rate.nominal = fraction(60);
    rate.maximum = fraction(120);
    if (rate.is_output) rate.kind = PortRateKind::kLifecycleNominal;
  }
  plan.payload_edges[0].queue_depth = 8;
  plan.payload_edges[0].depth_origin = QueueDepthOrigin::kAutomatic;
  plan.accumulation_horizons[0] = {EdgeId{0}, AccumulationHorizonBasis::kDeclared, fraction(1, 15)};
  plan.queue_sizing_recipes[0] = {.edge = EdgeId{0},
                                  .evidence = QueueSizingEvidence::kSufficient,
                                  .rate_basis = PortRateBasis::kUpstream,
                                  .rate = fraction(60),
                                  .maximum_rate = fraction(120),
                                  .horizon = fraction(1, 15),
                                  .headroom = fraction(2),
                                  .hard_floor = 1,
                                  .nominal_arrivals = 4,
                                  .recommendation = 8,
                                  .admitted_ceiling = 16,
                                  .admitted_depth = 16};
  plan.pool_capacity_dependencies[0] = {.pool = PoolId{0},
                                        .edge = EdgeId{0},
                                        .source = kFrames,
                                        .active_shared_slots = 9,
                                        .admitted_shared_slots = 17,
                                        .own_slots = 4};
  plan.provider_allocation_plans[0] = {PoolId{0}, 6 * kMebibyte, 1, 14, 22};
  return plan;
}

RateGenerationSnapshot published(const PlanRecords& plan,
                                 std::vector<LifecycleRateSelection> selections = {}) {
  return {evaluate_rate_generation(plan, 1, std::move(selections)), std::nullopt};
}

JsonValue inspect(const PlanRecords& plan, const RateGenerationSnapshot& snapshot,
                  std::uint64_t generation = 1) {
  return parse_json(
             render_rate_queue_inspection(plan, snapshot, generation, EdgeId{0}, kJson).value())
      .value();
}

const JsonValue& at(const JsonValue& json, std::string_view object, std::string_view key) {
  return *json.find(object)->find(key);
}

TEST_CASE("slots on their way to another process are the same at every rate") {
  PlanRecords plan = selectable_plan();
  plan.pool_capacity_dependencies.push_back({.pool = PoolId{0},
                                             .endpoint_name = "frames",
                                             .source = kFrames,
                                             .active_shared_slots = 2,
                                             .admitted_shared_slots = 2,
                                             .own_slots = 3});
  const auto entries = [&](std::uint64_t hertz) {
    const RateGenerationRecord generation =
        evaluate_rate_generation(plan, 1, {{kFrames, Rate::hz(hertz)}});
    REQUIRE_FALSE(generation.rejection.has_value());
    return generation.pools.at(0).active_entries;
  };
  CHECK(entries(120) == entries(60) + 8);
  plan.pool_capacity_dependencies.pop_back();
  CHECK(entries(60) == 14);
}

TEST_CASE("a generation without selections is the plan's own start") {
  const PlanRecords plan = selectable_plan();
  const RateGenerationRecord generation = evaluate_rate_generation(plan, 7, {});
  CHECK(generation.rate_generation == 7);
  CHECK_FALSE(generation.rejection.has_value());
  REQUIRE(generation.selections.size() == 1);
  CHECK(generation.selections[0].output == kFrames);
  CHECK(generation.selections[0].rate == Rate::hz(60));
  CHECK(generation.edges[0].active_depth == 8);
  CHECK(generation.pools[0].active_entries == 14);
  CHECK_FALSE(generation.pools[0].reserved_bytes.has_value());
}

TEST_CASE("a selected rate changes the depth, up to the admitted one, and nothing else") {
  PlanRecords plan = selectable_plan();
  const auto depth_at = [&](Rate rate) {
    return evaluate_rate_generation(plan, 1, {{kFrames, rate}}).edges[0].active_depth;
  };
  CHECK(depth_at(Rate::hz(120)) == 16);
  CHECK(depth_at(Rate::hz(15)) == 2);
  CHECK(depth_at(Rate::per(30'000, 1'001)) == 4);
  CHECK(evaluate_rate_generation(plan, 1, {{kFrames, Rate::hz(120)}}).pools[0].active_entries ==
        22);
  CHECK(evaluate_rate_generation(plan, 1, {{kFrames, Rate::hz(15)}}).pools[0].active_entries == 8);
  plan.port_rates[1].factor = fraction(1, 4);
  CHECK(depth_at(Rate::hz(120)) == 4);
  plan.payload_edges[0].depth_origin = QueueDepthOrigin::kExplicit;
  CHECK(depth_at(Rate::hz(120)) == 8);
}

TEST_CASE("a selection that the plan does not admit is rejected with a token") {
  const PlanRecords plan = selectable_plan();
  const auto token_of = [&](std::vector<LifecycleRateSelection> selections) {
    const auto generation = evaluate_rate_generation(plan, 2, std::move(selections));
    REQUIRE(generation.rejection.has_value());
    CHECK(generation.edges.empty());
    CHECK(generation.pools.empty());
    return std::string(generation.rejection->token);
  };
  CHECK(token_of({{kFrames, Rate::hz(121)}}) == "RATE_ABOVE_MAXIMUM");
  CHECK(token_of({{kFrames, Rate::per(1'201, 10)}}) == "RATE_ABOVE_MAXIMUM");
  CHECK(token_of({{kFrames, Rate::hz(0)}}) == "RATE_INVALID");
  CHECK(token_of({{kFrames, Rate::per(1, 0)}}) == "RATE_INVALID");
  CHECK(token_of({{PortRef{VertexId{1}, 0}, Rate::hz(1)}}) == "RATE_SELECTION_UNKNOWN");
  CHECK(token_of({{PortRef{}, Rate::hz(1)}}) == "RATE_SELECTION_UNKNOWN");
  CHECK(token_of({{kFrames, Rate::hz(1)}, {kFrames, Rate::hz(2)}}) == "RATE_SELECTION_REPEATED");
  PlanRecords open = plan;
  open.port_rates[0].maximum.reset();
  open.port_rates[1].factor = fraction(7);
  const auto beyond = evaluate_rate_generation(open, 2, {{kFrames, Rate::hz(~std::uint64_t{0})}});
  CHECK(beyond.rejection->token == "RATIONAL_OVERFLOW");
}

TEST_CASE("an automatic edge is explained in text, with a depth to paste") {
  const PlanRecords plan = selectable_plan();
  const auto text = render_rate_queue_inspection(plan, published(plan), 1, EdgeId{0}, kText);
  REQUIRE(text);
  CHECK(*text == R"(Edge 0: camera.frames -> gray.in, blocking
  generation  1, published
  selected    camera.frames at 60/1 samples/s
  rate        60 samples/s (upstream), at most 120 samples/s
  horizon     1/15 s (declared)
  evidence    sufficient
  arrivals    4, times 2 = 8
  hard floor  1 (minimum_queue 1)
  depth       8 (automatic), at most 16
  paste       ConnectionOptions{.queue_depth = 8}
  pool 0      camera.frames: 6291456 bytes x 14 = 88080384 active, x 22 = 138412032 admitted; reserved unavailable
)");
}

TEST_CASE("the same in canonical JSON, with a schema marker") {
  const PlanRecords plan = selectable_plan();
  const auto json = render_rate_queue_inspection(plan, published(plan), 1, EdgeId{0}, kJson);
  REQUIRE(json);
  CHECK(parse_json(*json).value().dump(2) == *json);
  CHECK(parse_json(*json).value().dump() ==
        R"({"active":{"depth":8,"nominal_arrivals":4,"rate":"60","recommendation":8},)"
        R"("edge":{"id":0,"queue_policy":"blocking","source":"camera.frames","target":"gray.in"},)"
        R"("generation":{"number":1,"rejection":null,"selections":[{"output":"camera.frames",)"
        R"("samples":60,"seconds":1}],"status":"published"},)"
        R"("paste":"ConnectionOptions{.queue_depth = 8}",)"
        R"("pools":[{"active_bytes":88080384,"active_entries":14,"admitted_bytes":138412032,)"
        R"("admitted_entries":22,"entry_bytes":6291456,"output":"camera.frames","pool":0,)"
        R"("reserved_bytes":null}],)"
        R"("recipe":{"admitted_ceiling":16,"admitted_depth":16,"depth_origin":"automatic",)"
        R"("evidence":"sufficient","hard_floor":1,"hard_floor_contributors":[{"entries":1,)"
        R"("group":0,"reason":"minimum_queue","scenario":0}],"headroom":"2",)"
        R"("horizon_basis":"declared","horizon_seconds":"1/15","maximum_rate":"120",)"
        R"("rate_basis":"upstream"},"schema":"weftline.rate-queue-inspection","version":1})");
}

TEST_CASE("reserved bytes are shown once the provider reported them") {
  const PlanRecords plan = selectable_plan();
  RateGenerationRecord generation = evaluate_rate_generation(plan, 1, {});
  generation.pools[0].reserved_bytes = 150'000'000;
  const RateGenerationSnapshot snapshot{generation, std::nullopt};
  const JsonValue json = inspect(plan, snapshot);
  CHECK(json.find("pools")->as_array()->front().find("reserved_bytes")->dump() == "150000000");
  const auto text = render_rate_queue_inspection(plan, snapshot, 1, EdgeId{0}, kText);
  CHECK(text->find("reserved 150000000\n") != std::string::npos);
}

TEST_CASE("an explicit depth and a default one are reported without one to paste") {
  PlanRecords plan = selectable_plan();
  for (const QueueDepthOrigin origin : {QueueDepthOrigin::kExplicit, QueueDepthOrigin::kDefault}) {
    plan.payload_edges[0].depth_origin = origin;
    plan.payload_edges[0].queue_depth = 4;
    const JsonValue json = inspect(plan, published(plan));
    CHECK(json.find("paste")->is_null());
    CHECK(at(json, "active", "depth").dump() == "4");
    CHECK(at(json, "active", "recommendation").dump() == "8");
    const auto text = render_rate_queue_inspection(plan, published(plan), 1, EdgeId{0}, kText);
    CHECK(text->find("paste") == std::string::npos);
  }
}

TEST_CASE("a rejected generation is inspected beside the published one, or alone") {
  const PlanRecords plan = selectable_plan();
  const auto rejected = evaluate_rate_generation(plan, 2, {{kFrames, Rate::hz(240)}});
  const RateGenerationSnapshot both{evaluate_rate_generation(plan, 1, {}), rejected};
  CHECK(at(inspect(plan, both, 1), "generation", "status").dump() == R"("published")");
  const RateGenerationSnapshot alone{std::nullopt, rejected};
  CHECK(alone.published() == nullptr);
  for (const RateGenerationSnapshot& snapshot : {both, alone}) {
    const JsonValue json = inspect(plan, snapshot, 2);
    CHECK(at(json, "generation", "status").dump() == R"("rejected")");
    CHECK(at(json, "generation", "rejection").find("token")->dump() == R"("RATE_ABOVE_MAXIMUM")");
    CHECK(at(json, "active", "depth").is_null());
    CHECK(json.find("paste")->is_null());
    CHECK(json.find("pools")->as_array()->front().find("active_bytes")->is_null());
    CHECK(at(json, "recipe", "admitted_depth").dump() == "16");
  }
  const auto text = render_rate_queue_inspection(plan, alone, 2, EdgeId{0}, kText);
  REQUIRE(text);
  CHECK(text->find("  generation  2, rejected\n  selected    camera.frames at 240/1 samples/s\n"
                   "  rejected    RATE_ABOVE_MAXIMUM: camera.frames: 240 samples a second, the "
                   "plan admits at most 120\n") != std::string::npos);
  CHECK(text->find("depth       unavailable") != std::string::npos);
}

TEST_CASE("an unknown generation or edge is named") {
  const PlanRecords plan = selectable_plan();
  const auto token_of = [&](const RateGenerationSnapshot& snapshot, std::uint64_t generation,
                            EdgeId edge) {
    const auto text = render_rate_queue_inspection(plan, snapshot, generation, edge, kText);
    REQUIRE_FALSE(text);
    CHECK(text.error().code == ErrorCode::kNotFound);
    return std::string(text.error().token);
  };
  CHECK(token_of({}, 1, EdgeId{0}) == "RATE_GENERATION_UNKNOWN");
  CHECK(token_of(published(plan), 2, EdgeId{0}) == "RATE_GENERATION_UNKNOWN");
  CHECK(token_of(published(plan), 1, EdgeId{1}) == "RATE_EDGE_UNKNOWN");
  CHECK(token_of(published(plan), 1, EdgeId{}) == "RATE_EDGE_UNKNOWN");
}

TEST_CASE("names of any bytes stay on their line and make valid JSON") {
  PlanRecords plan = selectable_plan();
  plan.operators[0].path = "\x1b[2J\n\xff";
  CHECK(
      parse_json(render_rate_queue_inspection(plan, published(plan), 1, EdgeId{0}, kJson).value()));
  const auto text = render_rate_queue_inspection(plan, published(plan), 1, EdgeId{0}, kText);
  CHECK(text->find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace weftline
