// SPDX-License-Identifier: Apache-2.0
#include "record_rules.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "dtype_text.hpp"
#include "text.hpp"

namespace weftline {
namespace {

using catalog_text::concat;
using catalog_text::in_quotes;
using catalog_text::is_name;
using catalog_text::is_word;

using Checked = expected<void, Error>;

constexpr std::string_view kScheme = "weftline://";
constexpr std::string_view kOtherScheme = "holomq://";
constexpr std::size_t kLongestUri = 1'024;
constexpr std::size_t kLongestTypeName = 128;
constexpr std::string_view kNameForm = "use 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front";

auto refuse(const EndpointRecord& record, std::string_view token, std::string_view what,
            ErrorCode code = ErrorCode::kInvalidArgument) {
  return fail(code, token, concat({"endpoint ", in_quotes(record.name), ": ", what}));
}

Checked check_range(const EndpointRecord& record, std::string_view field, std::uint64_t value,
                    std::uint64_t low, std::uint64_t high) {
  if (value >= low && value <= high) return {};
  return refuse(record, "CATALOG_NUMBER_OUT_OF_RANGE",
                concat({field, " is ", std::to_string(value), "; give ", std::to_string(low),
                        " to ", std::to_string(high)}));
}

/// Catches a value that was cast into an enum.
Checked check_choice(const EndpointRecord& record, std::string_view field, std::string_view name) {
  if (name != "unknown") return {};
  return refuse(record, "CATALOG_CHOICE_UNKNOWN",
                concat({field, " is outside its enum; use one of its enumerators"}));
}

Checked check_uri(EndpointRecord& record) {
  if (record.uri.starts_with(kOtherScheme)) {
    record.uri.replace(0, kOtherScheme.size(), kScheme);
  }
  const std::string_view uri = record.uri;
  if (uri.starts_with(kScheme) && uri.size() > kScheme.size() && is_word(uri, kLongestUri)) {
    return {};
  }
  return refuse(record, "CATALOG_URI_INVALID",
                concat({"uri is ", in_quotes(uri), "; write weftline://<path> in at most ",
                        std::to_string(kLongestUri), " printing characters"}));
}

auto refuse_payload(const EndpointRecord& record, std::string_view what) {
  return refuse(record, "CATALOG_PAYLOAD_INVALID", concat({"payload ", what}));
}

Checked check_frame(const EndpointRecord& record, std::uint64_t limit) {
  const PayloadIdentity& payload = record.payload;
  if (payload.size <= limit) return {};
  return refuse(record, "CATALOG_FRAME_TOO_LARGE",
                concat({"payload ", payload.to_string(), " has ", std::to_string(payload.size),
                        " bytes, an inline frame of this kind carries at most ",
                        std::to_string(limit), "; send less, or send it as a tensor"}),
                ErrorCode::kResourceExhausted);
}

/// What scalars, PODs and schemas have in common.
Checked check_body(const EndpointRecord& record, std::uint64_t limit) {
  const PayloadIdentity& payload = record.payload;
  if (!is_word(payload.name, kLongestTypeName)) {
    return refuse_payload(record, concat({"name is ", in_quotes(payload.name),
                                          "; use 1 to 128 printing characters without spaces"}));
  }
  if (payload.size == 0) return refuse_payload(record, "size is 0; a body has at least 1 byte");
  WEFTLINE_TRY(check_frame(record, limit));
  if (!std::has_single_bit(payload.alignment) || payload.size % payload.alignment != 0) {
    return refuse_payload(record, concat({"alignment is ", std::to_string(payload.alignment),
                                          ", the size ", std::to_string(payload.size),
                                          "; give a power of two that divides the size"}));
  }
  return {};
}

Checked check_scalar(const EndpointRecord& record) {
  WEFTLINE_TRY(check_body(record, kMaximumInlineBodyBytes));
  const PayloadIdentity& payload = record.payload;
  for (int i = 0; i <= static_cast<int>(PodScalarKind::kBool); ++i) {
    const auto kind = static_cast<PodScalarKind>(i);
    if (pod_scalar_name(kind) != payload.name) continue;
    if (payload.size == pod_scalar_bytes(kind)) return {};
    return refuse_payload(
        record, concat({"size is ", std::to_string(payload.size), ", a ", payload.name, " has ",
                        std::to_string(pod_scalar_bytes(kind)), " bytes"}));
  }
  return refuse_payload(record,
                        concat({"name is ", in_quotes(payload.name),
                                ", which is no scalar; use uint8 to float64, byte or bool"}));
}

Checked check_pod(const EndpointRecord& record) {
  WEFTLINE_TRY(check_body(record, kMaximumInlineBodyBytes));
  const PayloadIdentity& payload = record.payload;
  std::set<std::string_view> names;
  std::uint64_t next = 0;
  for (const PodField& field : payload.fields) {
    const std::string place = concat({"field ", in_quotes(field.name)});
    if (!is_word(field.name, kLongestTypeName) || !names.insert(field.name).second) {
      return refuse_payload(
          record, concat({place, " needs a name of its own, of 1 to 128 printing characters"}));
    }
    if (pod_scalar_name(field.kind) == "unknown" || field.count == 0) {
      return refuse_payload(record, concat({place, " needs a scalar kind and a positive count"}));
    }
    if (field.offset != next) {
      return refuse_payload(record, concat({place, " is at byte ", std::to_string(field.offset),
                                            ", the field before it ends at ", std::to_string(next),
                                            "; declare padding as a field of bytes"}));
    }
    next += std::uint64_t{field.count} * pod_scalar_bytes(field.kind);
  }
  if (next == payload.size) return {};
  return refuse_payload(
      record, concat({"fields cover ", std::to_string(next), " bytes of ",
                      std::to_string(payload.size), "; declare padding as a field of bytes"}));
}

Checked check_tensor_identity(const EndpointRecord& record) {
  if (record.payload == payload_identity<Tensor>()) return {};
  return refuse_payload(record,
                        "of kind tensor has name 'tensor', and 0 for version, size and "
                        "alignment");
}

Checked check_payload(const EndpointRecord& record) {
  const PayloadIdentity& payload = record.payload;
  WEFTLINE_TRY(check_choice(record, "payload kind", payload_identity_kind_name(payload.kind)));
  if (payload.kind == PayloadIdentityKind::kTensor) return check_tensor_identity(record);
  if (payload.kind == PayloadIdentityKind::kPod) return check_pod(record);
  if (!payload.fields.empty()) {
    return refuse_payload(record, concat({"has ", std::to_string(payload.fields.size()),
                                          " fields, but only a pod has any"}));
  }
  if (payload.kind == PayloadIdentityKind::kSchema) {
    return check_body(record, kMaximumInlineSchemaBytes);
  }
  if (payload.version != 0) {
    return refuse_payload(record, concat({"version is ", std::to_string(payload.version),
                                          ", that of a scalar is 0"}));
  }
  return check_scalar(record);
}

auto refuse_tensor(const EndpointRecord& record, std::string_view what) {
  return refuse(record, "CATALOG_TENSOR_INVALID", concat({"tensor ", what}));
}

Checked check_tensor_facts(const EndpointRecord& record, const TensorBoundaryContract& tensor) {
  constexpr std::uint64_t kLargestSpan = std::numeric_limits<std::int64_t>::max();
  if (tensor.memory_kind != MemoryKind::kHost && tensor.memory_kind != MemoryKind::kPinnedHost &&
      tensor.memory_kind != MemoryKind::kCudaDevice) {
    return refuse_tensor(record, concat({"memory_kind is ", memory_kind_name(tensor.memory_kind),
                                         ", which can't cross processes; use host, pinned_host or "
                                         "cuda_device"}));
  }
  if (dtype_code_text(tensor.dtype.code).empty() || dtype_bytes(tensor.dtype) == 0) {
    return refuse_tensor(record, concat({"dtype is ", dtype_name(tensor.dtype),
                                         "; give a number type with bits and lanes above 0"}));
  }
  if (tensor.rank && *tensor.rank > kMaximumTensorRank) {
    return refuse_tensor(record, concat({"rank is ", std::to_string(*tensor.rank),
                                         "; give at most ", std::to_string(kMaximumTensorRank)}));
  }
  if (tensor.max_rank && (*tensor.max_rank == 0 || *tensor.max_rank > kMaximumTensorRank)) {
    return refuse_tensor(record,
                         concat({"max_rank is ", std::to_string(*tensor.max_rank), "; give 1 to ",
                                 std::to_string(kMaximumTensorRank), ", or leave it out"}));
  }
  if (tensor.rank && tensor.max_rank && *tensor.rank > *tensor.max_rank) {
    return refuse_tensor(
        record, concat({"rank is ", std::to_string(*tensor.rank), ", its max_rank ",
                        std::to_string(*tensor.max_rank), "; raise max_rank or leave it out"}));
  }
  if (tensor.max_byte_span < dtype_bytes(tensor.dtype) || tensor.max_byte_span > kLargestSpan) {
    return refuse_tensor(record, concat({"max_byte_span is ", std::to_string(tensor.max_byte_span),
                                         "; give ", std::to_string(dtype_bytes(tensor.dtype)),
                                         " (one element) to ", std::to_string(kLargestSpan)}));
  }
  return {};
}

Checked check_tensor(const EndpointRecord& record) {
  const bool needed = record.payload.kind == PayloadIdentityKind::kTensor;
  if (needed != record.tensor.has_value()) {
    return needed ? refuse_tensor(record,
                                  "contract is missing; give memory kind, dtype and max_byte_span")
                  : refuse_tensor(record,
                                  "contract is given for a payload of kind " +
                                      std::string(payload_identity_kind_name(record.payload.kind)) +
                                      "; leave it out");
  }
  return needed ? check_tensor_facts(record, *record.tensor) : Checked();
}

auto refuse_health(const EndpointRecord& record, std::string_view what) {
  return refuse(record, "CATALOG_CLOCK_HEALTH_INVALID", concat({"clock_health ", what}));
}

Checked check_clock_health(const EndpointRecord& record) {
  const ClockHealthOptions& health = record.clock_health;
  WEFTLINE_TRY(check_choice(record, "clock_health.capability",
                            clock_health_capability_name(health.capability)));
  WEFTLINE_TRY(check_choice(record, "clock_health.requirement",
                            clock_health_requirement_name(health.requirement)));
  WEFTLINE_TRY(
      check_choice(record, "clock_health.action", clock_health_disposition_name(health.action)));
  const auto age = health.max_report_age;
  const std::string age_text = age ? std::to_string(age->count()) + " ns" : "not given";
  if (health.requirement == ClockHealthRequirement::kNotRequired) {
    if (!age && health.action == EndpointClockHealthDisposition::kNotApplicable) return {};
    return refuse_health(record,
                         concat({"requires no report, but its max_report_age is ", age_text,
                                 " and its action ", clock_health_disposition_name(health.action),
                                 "; require fresh_healthy_report or leave both out"}));
  }
  if (health.capability == ClockHealthCapability::kUnavailable) {
    return refuse_health(record,
                         "requires fresh_healthy_report, but its capability is unavailable; give "
                         "status_reports");
  }
  constexpr std::int64_t kOldest = kMaximumAttachTimeoutNs;
  if (!age || age->count() < 1 || age->count() > kOldest) {
    return refuse_health(record, concat({"max_report_age is ", age_text, "; give 1 to ",
                                         std::to_string(kOldest), " ns"}));
  }
  if (health.action == EndpointClockHealthDisposition::kNotApplicable) {
    return refuse_health(record,
                         "requires fresh_healthy_report, but its action is not_applicable; give "
                         "skip, degraded or fail_run");
  }
  return {};
}

}  // namespace

expected<EndpointRecord, Error> checked_record(EndpointRecord record) {
  if (!is_name(record.name)) {
    return refuse(record, "CATALOG_NAME_INVALID",
                  concat({"the name is not admitted; ", kNameForm}));
  }
  if (!is_name(record.process_group)) {
    return refuse(record, "CATALOG_NAME_INVALID",
                  concat({"process_group is ", in_quotes(record.process_group), "; ", kNameForm}));
  }
  WEFTLINE_TRY(check_uri(record));
  WEFTLINE_TRY(check_choice(record, "direction", topic_direction_name(record.direction)));
  WEFTLINE_TRY(check_choice(record, "queue_policy", queue_policy_name(record.queue_policy)));
  WEFTLINE_TRY(check_choice(record, "peer", peer_requirement_name(record.peer)));
  WEFTLINE_TRY(check_choice(record, "name_origin", endpoint_name_origin_name(record.name_origin)));
  WEFTLINE_TRY(check_choice(record, "capture_time", capture_time_name(record.capture_time)));
  WEFTLINE_TRY(check_range(record, "queue_depth", record.queue_depth, 1, 65'536));
  WEFTLINE_TRY(check_range(record, "max_subscribers", record.max_subscribers, 1, 64));
  WEFTLINE_TRY(check_range(record, "max_borrowed_samples", record.max_borrowed_samples, 1, 64));
  WEFTLINE_TRY(check_range(record, "max_loaned_samples", record.max_loaned_samples, 1, 64));
  WEFTLINE_TRY(check_range(record, "incarnations", record.incarnations, 1, 65'536));
  WEFTLINE_TRY(check_range(record, "attach_timeout_ns", record.attach_timeout_ns, 0,
                           kMaximumAttachTimeoutNs));
  WEFTLINE_TRY(check_payload(record));
  WEFTLINE_TRY(check_tensor(record));
  WEFTLINE_TRY(check_clock_health(record));
  return record;
}

}  // namespace weftline
