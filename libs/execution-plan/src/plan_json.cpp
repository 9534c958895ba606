// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_json.hpp"

#include <utility>

#include "json_parts.hpp"
#include "weftline/core/digest.hpp"
#include "weftline/core/json_writer.hpp"

namespace weftline {

// Static, not in an unnamed namespace: list() and optional() find them by their arguments.

static JsonText json(TensorSlotClaimReason reason) { return claim_reason_name(reason); }

static JsonText json(const TensorRepresentation& representation) {
  return Object{{"dtype", optional(representation.dtype)},
                {"memory_kind", optional(representation.memory_kind)},
                {"rank", optional(representation.rank)}};
}

static JsonText json(const TensorInputSpec& spec) {
  return Object{{"representation", json(spec.representation)}};
}

static JsonText json(const TensorOutputSpec& spec) {
  return Object{{"max_byte_span", optional(spec.bounds.max_byte_span)},
                {"max_rank", optional(spec.bounds.max_rank)},
                {"representation", json(spec.representation)},
                {"storage", storage_name(spec.storage)}};
}

static JsonText json(const PodField& field) {
  return Object{{"count", field.count},
                {"kind", pod_scalar_name(field.kind)},
                {"name", text(field.name)},
                {"offset", field.offset}};
}

JsonText json(const PayloadIdentity& identity) {
  return Object{{"alignment", identity.alignment},
                {"fields", list(identity.fields)},
                {"kind", payload_identity_kind_name(identity.kind)},
                {"name", text(identity.name)},
                {"size", identity.size},
                {"version", identity.version}};
}

static JsonText json(const ClockPlanRecord& clock) {
  return Object{{"external_driver_admitted", clock.external_driver_admitted},
                {"id", json(clock.id)},
                {"independent_progress", clock.independent_progress},
                {"is_default", clock.is_default},
                {"name", text(clock.name)},
                {"steady", clock.steady}};
}

static JsonText json(const InputPortRecord& input) {
  return Object{{"accumulates_over", optional(input.accumulates_over)},
                {"diagnostic_alias", text(input.diagnostic_alias)},
                {"expected_rate", optional(input.expected_rate)},
                {"name", text(input.name)},
                {"payload", json(input.payload)},
                {"retained_samples", input.retained_samples},
                {"tensor", optional(input.tensor)}};
}

static JsonText json(const OutputPortRecord& output) {
  return Object{{"diagnostic_alias", text(output.diagnostic_alias)},
                {"late_joiner_history_depth", output.late_joiner_history_depth},
                {"max_emits_per_compute", output.max_emits_per_compute},
                {"name", text(output.name)},
                {"payload", json(output.payload)},
                {"rate", json(output.rate)},
                {"tensor", optional(output.tensor)}};
}

/// The value of a parameter is a tree of its own.
static JsonValue clean(const JsonValue& value) {
  if (const auto* string = value.as_string()) return valid_utf8(*string);
  if (const auto* array = value.as_array()) {
    JsonValue::Array items;
    for (const JsonValue& item : *array) items.push_back(clean(item));
    return items;
  }
  if (const auto* object = value.as_object()) {
    JsonValue::Object members;
    for (const auto& [key, member] : *object) members.emplace(valid_utf8(key), clean(member));
    return members;
  }
  return value;
}

static JsonText json(const ParamFieldPlanRecord& field) {
  JsonArrayText choices;
  for (const JsonValue& choice : field.choices) choices.push_back(clean(choice));
  return Object{
      {"choices", std::move(choices)},
      {"hash", digest_text(field.hash)},
      {"lifecycle_stage", field.stage ? JsonText(lifecycle_stage_name(*field.stage)) : JsonText()},
      {"maximum", clean(field.maximum)},
      {"minimum", clean(field.minimum)},
      {"mutability", param_mutability_name(field.mutability)},
      {"path", text(field.path)},
      {"sensitive", field.sensitive},
      {"type", text(field.type)},
      {"unit", text(field.unit)},
      {"value", field.sensitive ? JsonText() : clean(field.value)}};
}

static JsonText json(const ParamSetPlanRecord& parameters) {
  return Object{{"contract_hash", digest_text(parameters.contract_hash)},
                {"fields", list(parameters.fields)},
                {"metadata_hash", digest_text(parameters.metadata_hash)},
                {"schema_id", text(parameters.schema_id)},
                {"schema_version", parameters.schema_version},
                {"structural_hash", digest_text(parameters.structural_hash)}};
}

static JsonText json(const OperatorPlanRecord& record) {
  return Object{{"device", optional(record.device)},
                {"id", json(record.id)},
                {"inputs", list(record.inputs)},
                {"outputs", list(record.outputs)},
                {"parameters", optional(record.parameters)},
                {"partition", json(record.partition)},
                {"path", text(record.path)},
                {"sources", list(record.sources)},
                {"stream", json(record.stream)},
                {"trigger", json(record.trigger)},
                {"type_id", text(record.type_id)},
                {"type_version", record.type_version}};
}

static JsonText json(const PayloadEdgePlanRecord& edge) {
  return Object{{"crosses_partitions", edge.crosses_partitions},
                {"depth_origin", depth_origin_name(edge.depth_origin)},
                {"edge", json(edge.edge)},
                {"queue_depth", known(edge.queue_depth)},
                {"queue_policy", queue_policy_name(edge.queue_policy)},
                {"source", json(edge.source)},
                {"target", json(edge.target)},
                {"topic_name", text(edge.topic_name)}};
}

static JsonText json(const ExportEdgePlanRecord& edge) {
  return Object{{"endpoint", json(edge.endpoint)},
                {"endpoint_name", text(edge.endpoint_name)},
                {"source", json(edge.source)}};
}

static JsonText json(const ExecutionPartitionRecord& partition) {
  JsonArrayText members;
  for (const VertexId member : partition.members) members.push_back(json(member));
  return Object{{"id", json(partition.id)},
                {"members", std::move(members)},
                {"name", text(partition.name)},
                {"origin", partition_origin_name(partition.origin)}};
}

static JsonText json(const PartitionDecisionRecord& decision) {
  return Object{{"kind", partition_decision_name(decision.kind)},
                {"reason", text(decision.reason)},
                {"reason_code", partition_reason_name(decision.reason_code)},
                {"vertex", json(decision.vertex)}};
}

static JsonText json(const CudaComputeStreamPlanRecord& stream) {
  return Object{{"device", json(stream.device)},
                {"green_context", json(stream.green_context)},
                {"id", json(stream.id)},
                {"partition", json(stream.partition)}};
}

static JsonText json(const FusionDecisionRecord& decision) {
  return Object{
      {"edge", json(decision.edge)}, {"fused", decision.fused}, {"reason", text(decision.reason)}};
}

static JsonText json(const PoolCapacityContributorRecord& contributor) {
  return Object{{"contributor", text(contributor.contributor)},
                {"maximum_distinct_slots", contributor.maximum_distinct_slots},
                {"reasons", list(contributor.reasons)}};
}

static JsonText json(const TensorAllocationPlanRecord& pool) {
  return Object{{"active_slot_count", known(pool.active_slot_count)},
                {"contributors", list(pool.contributors)},
                {"device", optional(pool.device)},
                {"fused_stream", json(pool.fused_stream)},
                {"id", json(pool.id)},
                {"max_rank", pool.max_rank},
                {"max_release_streams", pool.max_release_streams},
                {"memory_kind", json(pool.memory_kind)},
                {"output", json(pool.output)},
                {"slot_bytes", known(pool.slot_bytes)},
                {"slot_count", known(pool.slot_count)},
                {"total_bytes", known(pool.total_bytes())}};
}

static JsonText json(const DeviceDescription& device) {
  return Object{{"green_contexts", json(device.green_contexts)},
                {"hardware_queues", device.hardware_queues},
                {"id", json(device.id)},
                {"memory_bytes", device.memory_bytes},
                {"name", text(device.name)},
                {"sm_count", device.sm_count},
                {"stream_memory_operations", device.stream_memory_operations},
                {"uuid", to_hex(device.uuid)}};
}

static JsonText json(const DeviceCatalog& catalog) {
  return Object{{"devices", list(catalog.devices)}, {"host_cpu_count", catalog.host_cpu_count}};
}

static JsonText json(const Diagnostic& diagnostic) {
  return Object{{"fix", text(diagnostic.fix)},
                {"message", text(diagnostic.message)},
                {"place", text(diagnostic.place)},
                {"severity", severity_name(diagnostic.severity)},
                {"token", text(diagnostic.token)}};
}

/// The catalog's own canonical form, which has its own schema marker.
static JsonText json(const ChannelEndpointCatalog& catalog) {
  return JsonText(parse_json(catalog.json()).value_or(JsonValue()));
}

namespace {

template <class Record>
void write_list(JsonWriter& writer, std::string_view key, const std::vector<Record>& records) {
  writer.key(key);
  writer.open_array();
  for (const Record& record : records) writer.text(json(record).text());
  writer.close();
}

void write_value(JsonWriter& writer, std::string_view key, const JsonText& value) {
  writer.key(key);
  writer.text(value.text());
}

/// Record by record: the tree of a whole plan would be many times its text.
void write_plan(const PlanRecords& records, JsonWriter::Sink sink) {
  JsonWriter writer(JsonLines::kEachValue, std::move(sink));
  writer.open_object();
  write_value(writer, "accepted", records.ok());
  write_list(writer, "accumulation_horizons", records.accumulation_horizons);
  write_list(writer, "clocks", records.clocks);
  write_value(writer, "cuda_compute_stream_policy",
              stream_policy_name(records.cuda_compute_stream_policy));
  write_list(writer, "cuda_compute_streams", records.cuda_compute_streams);
  write_value(writer, "device_catalog", json(records.device_catalog));
  write_list(writer, "diagnostics", records.diagnostics);
  write_list(writer, "edge_selections", records.edge_selections);
  write_value(writer, "endpoint_catalog", json(records.endpoint_catalog));
  write_list(writer, "execution_partitions", records.execution_partitions);
  write_list(writer, "export_edges", records.export_edges);
  write_list(writer, "external_topics", records.external_topics);
  write_list(writer, "fusion_decisions", records.fusion_decisions);
  write_list(writer, "graph_instances", records.graph_instances);
  write_value(writer, "graph_name", text(records.graph_name));
  write_list(writer, "green_context_pools", records.green_context_pools);
  write_list(writer, "green_context_resources", records.green_context_resources);
  write_list(writer, "hard_floor_contributors", records.hard_floor_contributors);
  write_list(writer, "import_edges", records.import_edges);
  write_value(writer, "lifecycle", json(records.lifecycle));
  write_list(writer, "operators", records.operators);
  write_list(writer, "partition_decisions", records.partition_decisions);
  write_list(writer, "partition_placements", records.partition_placements);
  write_value(writer, "partitioning", json(records.partitioning));
  write_list(writer, "payload_edges", records.payload_edges);
  write_list(writer, "pool_capacity_dependencies", records.pool_capacity_dependencies);
  write_list(writer, "port_configurations", records.port_configurations);
  write_list(writer, "port_rates", records.port_rates);
  write_value(writer, "profile_manifest", json(records.profile_manifest));
  write_list(writer, "provider_allocation_plans", records.provider_allocation_plans);
  write_list(writer, "queue_sizing_recipes", records.queue_sizing_recipes);
  write_list(writer, "regions", records.regions);
  write_list(writer, "schedule_edges", records.schedule_edges);
  write_value(writer, "schema", kPlanSchema);
  write_list(writer, "support_thread_placements", records.support_thread_placements);
  write_list(writer, "tensor_allocations", records.tensor_allocations);
  write_list(writer, "tensor_byte_span_derivations", records.tensor_byte_span_derivations);
  write_list(writer, "tensor_memory_kind_derivations", records.tensor_memory_kind_derivations);
  write_list(writer, "tensor_output_placements", records.tensor_output_placements);
  write_value(writer, "version", kPlanSchemaVersion);
  writer.close();
  writer.finish();
}

}  // namespace

std::string plan_json(const PlanRecords& records) {
  std::string json;
  write_plan(records, [&](std::string_view piece) { json.append(piece); });
  return json;
}

std::string plan_digest(const PlanRecords& records) {
  Sha256Stream hash;
  write_plan(records, [&](std::string_view piece) { hash.add(piece); });
  return digest_text(hash.finish());
}

}  // namespace weftline
