// SPDX-License-Identifier: Apache-2.0
#include "endpoint_check.hpp"

#include <string>

namespace weftline::channel {

namespace {

auto unknown_endpoint(const ChannelEndpointCatalog& catalog, std::string_view endpoint) {
  std::string known;
  for (const EndpointRecord& record : catalog.endpoints()) {
    known += (known.empty() ? "'" : ", '") + record.name + "'";
  }
  return fail(ErrorCode::kNotFound, "CHANNEL_ENDPOINT_UNKNOWN",
              "no endpoint '" + std::string(endpoint) + "' in the catalog of '" +
                  catalog.deployment_id() + "'; it has " + (known.empty() ? "none" : known));
}

expected<void, Error> check_role(const EndpointRecord& record, EndpointRole role,
                                 EndpointSide side) {
  const bool graph_publishes = record.direction == TopicDirection::kExport;
  const bool publishes = role == EndpointRole::kPublisher;
  const bool is_graph = side == EndpointSide::kGraph;
  if (publishes == (graph_publishes == is_graph)) return {};
  return fail(ErrorCode::kIncompatible, "CHANNEL_ROLE_MISMATCH",
              "endpoint '" + record.name + "' is an " +
                  std::string(topic_direction_name(record.direction)) + ": " +
                  (graph_publishes ? "the graph publishes and its peers subscribe"
                                   : "peers publish and the graph subscribes") +
                  "; this " + (is_graph ? "graph" : "peer") + " asked for a " +
                  (publishes ? "publisher" : "subscriber"));
}

expected<void, Error> check_payload(const EndpointRecord& record, const PayloadIdentity& payload) {
  if (record.payload != payload) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_PAYLOAD_MISMATCH",
                "endpoint '" + record.name + "' carries " + record.payload.to_string() +
                    ", this program asked for " + payload.to_string() + ": " +
                    explain_difference(payload, record.payload) +
                    "; build both sides from one declaration, or make the catalog anew");
  }
  if (payload.kind != PayloadIdentityKind::kScalar && payload.kind != PayloadIdentityKind::kPod) {
    return fail(ErrorCode::kNotSupported, "CHANNEL_PAYLOAD_NOT_INLINE",
                "endpoint '" + record.name + "' carries " + payload.to_string() +
                    "; inline channels carry scalars and PODs");
  }
  return {};
}

/// Not kept yet: a sample without a capture time, or beside an unhealthy clock, would pass unseen.
expected<void, Error> check_capture_clock(const EndpointRecord& record) {
  const bool timed = record.capture_time == RequireCaptureTime::kYes;
  const bool healthy = record.clock_health.requirement != ClockHealthRequirement::kNotRequired;
  if (!timed && !healthy) return {};
  return fail(ErrorCode::kNotSupported, "CHANNEL_CAPTURE_CLOCK_UNSUPPORTED",
              "endpoint '" + record.name + "' requires " +
                  (timed ? "a capture time of every sample" : "reports of its clock's health") +
                  ", which this version does not check; declare the endpoint without it");
}

expected<void, Error> check_options(const EndpointRecord& record,
                                    const ChannelAttachOptions& options) {
  if (!options.attach_timeout) return {};
  const auto asked = options.attach_timeout->count();
  if (asked >= 0 && static_cast<std::uint64_t>(asked) <= record.attach_timeout_ns) return {};
  return fail(ErrorCode::kInvalidArgument, "CHANNEL_ATTACH_TIMEOUT",
              "endpoint '" + record.name + "': the attach timeout may be 0 to " +
                  std::to_string(record.attach_timeout_ns) + " ns, as in the catalog; asked for " +
                  std::to_string(asked) + " ns");
}

}  // namespace

expected<const EndpointRecord*, Error> check_endpoint(const ChannelEndpointCatalog& catalog,
                                                      std::string_view endpoint, EndpointRole role,
                                                      EndpointSide side,
                                                      const PayloadIdentity& payload,
                                                      const ChannelAttachOptions& options) {
  const EndpointRecord* record = catalog.find(endpoint);
  if (record == nullptr) return unknown_endpoint(catalog, endpoint);
  WEFTLINE_TRY(check_role(*record, role, side));
  WEFTLINE_TRY(check_payload(*record, payload));
  WEFTLINE_TRY(check_capture_clock(*record));
  WEFTLINE_TRY(check_options(*record, options));
  return record;
}

}  // namespace weftline::channel
