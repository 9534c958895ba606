// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/endpoint_record.hpp"

namespace weftline {

std::string_view topic_direction_name(TopicDirection direction) noexcept {
  switch (direction) {
    case TopicDirection::kImport:
      return "import";
    case TopicDirection::kExport:
      return "export";
  }
  return "unknown";
}

std::string_view queue_policy_name(ChannelQueuePolicy policy) noexcept {
  switch (policy) {
    case ChannelQueuePolicy::kBlocking:
      return "blocking";
    case ChannelQueuePolicy::kDropOldest:
      return "drop_oldest";
  }
  return "unknown";
}

std::string_view peer_requirement_name(PeerRequirement requirement) noexcept {
  switch (requirement) {
    case PeerRequirement::kRequired:
      return "required";
    case PeerRequirement::kOptional:
      return "optional";
  }
  return "unknown";
}

std::string_view endpoint_name_origin_name(EndpointNameOrigin origin) noexcept {
  switch (origin) {
    case EndpointNameOrigin::kAuthored:
      return "authored";
    case EndpointNameOrigin::kGenerated:
      return "generated";
  }
  return "unknown";
}

std::string_view capture_time_name(RequireCaptureTime requirement) noexcept {
  switch (requirement) {
    case RequireCaptureTime::kNo:
      return "optional";
    case RequireCaptureTime::kYes:
      return "required";
  }
  return "unknown";
}

}  // namespace weftline
