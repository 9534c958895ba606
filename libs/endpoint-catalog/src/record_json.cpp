// SPDX-License-Identifier: Apache-2.0
#include "record_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "dtype_text.hpp"
#include "object_reader.hpp"
#include "text.hpp"

namespace weftline {
namespace {

using catalog_text::item_path;

constexpr std::array kDirections{TopicDirection::kImport, TopicDirection::kExport};
constexpr std::array kPolicies{ChannelQueuePolicy::kBlocking, ChannelQueuePolicy::kDropOldest};
constexpr std::array kPeers{PeerRequirement::kRequired, PeerRequirement::kOptional};
constexpr std::array kOrigins{EndpointNameOrigin::kAuthored, EndpointNameOrigin::kGenerated};
constexpr std::array kCaptureTimes{RequireCaptureTime::kNo, RequireCaptureTime::kYes};
constexpr std::array kHealthCapabilities{ClockHealthCapability::kUnavailable,
                                         ClockHealthCapability::kStatusReports};
constexpr std::array kHealthRequirements{ClockHealthRequirement::kNotRequired,
                                         ClockHealthRequirement::kFreshHealthyReport};
constexpr std::array kHealthActions{
    EndpointClockHealthDisposition::kNotApplicable, EndpointClockHealthDisposition::kSkip,
    EndpointClockHealthDisposition::kDegraded, EndpointClockHealthDisposition::kFailRun};
constexpr std::array kPayloadKinds{PayloadIdentityKind::kScalar, PayloadIdentityKind::kTensor,
                                   PayloadIdentityKind::kSchema, PayloadIdentityKind::kPod};
constexpr std::array kScalarKinds{
    PodScalarKind::kUInt8,   PodScalarKind::kInt8,    PodScalarKind::kUInt16, PodScalarKind::kInt16,
    PodScalarKind::kUInt32,  PodScalarKind::kInt32,   PodScalarKind::kUInt64, PodScalarKind::kInt64,
    PodScalarKind::kFloat32, PodScalarKind::kFloat64, PodScalarKind::kByte,   PodScalarKind::kBool};
constexpr std::array kMemoryKinds{MemoryKind::kHost, MemoryKind::kPinnedHost,
                                  MemoryKind::kCudaDevice, MemoryKind::kCudaManaged,
                                  MemoryKind::kUnknown};

template <class E, std::size_t N>
E read_choice(ObjectReader& reader, std::string_view key, const std::array<E, N>& choices,
              std::string_view (*name_of)(E) noexcept) {
  return reader.choice<E>(key, choices, name_of);
}

JsonValue optional_to_json(const std::optional<std::uint32_t>& number) {
  return number ? JsonValue(*number) : JsonValue();
}

JsonValue payload_to_json(const PayloadIdentity& payload) {
  JsonValue::Array fields;
  for (const PodField& field : payload.fields) {
    fields.emplace_back(JsonValue::Object{{"count", field.count},
                                          {"kind", pod_scalar_name(field.kind)},
                                          {"name", field.name},
                                          {"offset", field.offset}});
  }
  return JsonValue::Object{{"alignment", payload.alignment},
                           {"fields", std::move(fields)},
                           {"kind", payload_identity_kind_name(payload.kind)},
                           {"name", payload.name},
                           {"size", payload.size},
                           {"version", payload.version}};
}

JsonValue clock_health_to_json(const ClockHealthOptions& health) {
  return JsonValue::Object{
      {"action", clock_health_disposition_name(health.action)},
      {"capability", clock_health_capability_name(health.capability)},
      {"max_report_age_ns",
       health.max_report_age ? JsonValue(static_cast<std::uint64_t>(health.max_report_age->count()))
                             : JsonValue()},
      {"requirement", clock_health_requirement_name(health.requirement)}};
}

JsonValue tensor_to_json(const TensorBoundaryContract& tensor) {
  return JsonValue::Object{
      {"dtype", JsonValue::Object{{"bits", std::uint32_t{tensor.dtype.bits}},
                                  {"code", dtype_code_text(tensor.dtype.code)},
                                  {"lanes", std::uint32_t{tensor.dtype.lanes}}}},
      {"max_byte_span", tensor.max_byte_span},
      {"max_rank", optional_to_json(tensor.max_rank)},
      {"memory_kind", memory_kind_name(tensor.memory_kind)},
      {"rank", optional_to_json(tensor.rank)}};
}

expected<PodField, Error> field_from_json(const JsonValue& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  PodField field;
  field.count = reader.number<std::uint32_t>("count");
  field.kind = read_choice(reader, "kind", kScalarKinds, pod_scalar_name);
  field.name = reader.text("name");
  field.offset = reader.number<std::uint32_t>("offset");
  WEFTLINE_TRY(reader.finish());
  return field;
}

expected<PayloadIdentity, Error> payload_from_json(const JsonValue& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  PayloadIdentity payload;
  payload.alignment = reader.number<std::uint64_t>("alignment");
  payload.kind = read_choice(reader, "kind", kPayloadKinds, payload_identity_kind_name);
  payload.name = reader.text("name");
  payload.size = reader.number<std::uint64_t>("size");
  payload.version = reader.number<std::uint32_t>("version");
  const JsonValue::Array* fields = reader.array("fields");
  WEFTLINE_TRY(reader.finish());
  for (std::size_t i = 0; i < fields->size(); ++i) {
    WEFTLINE_ASSIGN(PodField field,
                    field_from_json((*fields)[i], item_path(reader.path_of("fields"), i)));
    payload.fields.push_back(std::move(field));
  }
  return payload;
}

expected<ClockHealthOptions, Error> clock_health_from_json(const JsonValue& value,
                                                           std::string path) {
  ObjectReader reader(value, std::move(path));
  ClockHealthOptions health;
  health.action = read_choice(reader, "action", kHealthActions, clock_health_disposition_name);
  health.capability =
      read_choice(reader, "capability", kHealthCapabilities, clock_health_capability_name);
  health.requirement =
      read_choice(reader, "requirement", kHealthRequirements, clock_health_requirement_name);
  const auto age = reader.optional_number<std::uint64_t>("max_report_age_ns");
  WEFTLINE_TRY(reader.finish());
  // What does not fit becomes a value that the rules refuse, never a small one.
  constexpr std::uint64_t kLongest = std::numeric_limits<std::int64_t>::max();
  if (age) {
    health.max_report_age = std::chrono::nanoseconds(std::min(*age, kLongest));
  }
  return health;
}

expected<DLDataType, Error> dtype_from_json(const JsonValue& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  DLDataType dtype{};
  dtype.bits = reader.number<std::uint8_t>("bits");
  dtype.lanes = reader.number<std::uint16_t>("lanes");
  const std::string code = reader.text("code");
  if (const auto known = dtype_code_from_text(code)) {
    dtype.code = *known;
  } else {
    reader.refuse_choice("code", code);
  }
  WEFTLINE_TRY(reader.finish());
  return dtype;
}

expected<TensorBoundaryContract, Error> tensor_from_json(const JsonValue& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  TensorBoundaryContract tensor;
  tensor.memory_kind = read_choice(reader, "memory_kind", kMemoryKinds, memory_kind_name);
  tensor.rank = reader.optional_number<std::uint32_t>("rank");
  tensor.max_rank = reader.optional_number<std::uint32_t>("max_rank");
  tensor.max_byte_span = reader.number<std::uint64_t>("max_byte_span");
  const JsonValue* dtype = reader.member("dtype");
  WEFTLINE_TRY(reader.finish());
  WEFTLINE_ASSIGN(tensor.dtype, dtype_from_json(*dtype, reader.path_of("dtype")));
  return tensor;
}

}  // namespace

JsonValue record_to_json(const EndpointRecord& record) {
  return JsonValue::Object{{"attach_timeout_ns", record.attach_timeout_ns},
                           {"capture_time", capture_time_name(record.capture_time)},
                           {"clock_health", clock_health_to_json(record.clock_health)},
                           {"direction", topic_direction_name(record.direction)},
                           {"incarnations", record.incarnations},
                           {"max_borrowed_samples", record.max_borrowed_samples},
                           {"max_loaned_samples", record.max_loaned_samples},
                           {"max_subscribers", record.max_subscribers},
                           {"name", record.name},
                           {"name_origin", endpoint_name_origin_name(record.name_origin)},
                           {"payload", payload_to_json(record.payload)},
                           {"peer", peer_requirement_name(record.peer)},
                           {"process_group", record.process_group},
                           {"queue_depth", record.queue_depth},
                           {"queue_policy", queue_policy_name(record.queue_policy)},
                           {"tensor", record.tensor ? tensor_to_json(*record.tensor) : JsonValue()},
                           {"uri", record.uri}};
}

expected<EndpointRecord, Error> record_from_json(const JsonValue& value, const std::string& path) {
  ObjectReader reader(value, path);
  EndpointRecord record;
  record.attach_timeout_ns = reader.number<std::uint64_t>("attach_timeout_ns");
  record.capture_time = read_choice(reader, "capture_time", kCaptureTimes, capture_time_name);
  record.direction = read_choice(reader, "direction", kDirections, topic_direction_name);
  record.incarnations = reader.number<std::uint32_t>("incarnations");
  record.max_borrowed_samples = reader.number<std::uint32_t>("max_borrowed_samples");
  record.max_loaned_samples = reader.number<std::uint32_t>("max_loaned_samples");
  record.max_subscribers = reader.number<std::uint32_t>("max_subscribers");
  record.name = reader.text("name");
  record.name_origin = read_choice(reader, "name_origin", kOrigins, endpoint_name_origin_name);
  record.peer = read_choice(reader, "peer", kPeers, peer_requirement_name);
  record.process_group = reader.text("process_group");
  record.queue_depth = reader.number<std::uint32_t>("queue_depth");
  record.queue_policy = read_choice(reader, "queue_policy", kPolicies, queue_policy_name);
  record.uri = reader.text("uri");
  const JsonValue* clock_health = reader.member("clock_health");
  const JsonValue* payload = reader.member("payload");
  const JsonValue* tensor = reader.member("tensor");
  WEFTLINE_TRY(reader.finish());
  WEFTLINE_ASSIGN(record.payload, payload_from_json(*payload, reader.path_of("payload")));
  WEFTLINE_ASSIGN(record.clock_health,
                  clock_health_from_json(*clock_health, reader.path_of("clock_health")));
  if (!tensor->is_null()) {
    WEFTLINE_ASSIGN(record.tensor, tensor_from_json(*tensor, reader.path_of("tensor")));
  }
  return record;
}

}  // namespace weftline
