// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/core/ids.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/plan/port_ref.hpp"
#include "weftline/plan/temporal_records.hpp"

namespace weftline {

// What crosses the border of the process: one record for each topic, one for each input that takes
// from an imported one.

/// What may be done where a boundary and a port have tensors in different memory. No converter
/// exists yet, so that all that asks for one is refused.
enum class MemoryConversionPolicy : std::uint8_t {
  kDefault = 0,  ///< As the profile has it: today kDisable.
  kDisable,      ///< A difference is an error.
  kAllowIfSafe,  ///< A conversion may be planned; without a converter, as kDisable.
  kRequire,      ///< There has to be a conversion: refused.
};

/// Where the other side of a topic is. Decided when the plan is made, never at attach.
enum class EndpointLocality : std::uint8_t { kCrossProcess = 0 };

/// One external topic, imports and exports by URI.
struct ExternalTopicRecord {
  std::uint32_t declaration{0};  ///< Its place among the plan's topics.
  TopicDirection direction{TopicDirection::kExport};
  std::string uri{};            ///< "weftline://…"
  EndpointId endpoint{};        ///< Index into the endpoint catalog; invalid in a rejected plan.
  std::string endpoint_name{};  ///< What peers attach by.
  EndpointNameOrigin name_origin{EndpointNameOrigin::kAuthored};
  PayloadIdentity payload{};
  /// The service that carries this topic and nothing else: "graph/endpoint".
  std::string service_id{};
  EndpointLocality locality{EndpointLocality::kCrossProcess};
  MemoryConversionPolicy memory_conversion{MemoryConversionPolicy::kDefault};
  /// Producer incarnations that one run admits, the first included; 1: none may replace it.
  std::uint32_t generation_capacity{1};
  /// Where device tensors of the topic live, or for which device its pinned ones are mapped.
  std::optional<DeviceId> device{};
};

/// A flow into this process: one input that takes samples of one import.
struct ImportEdgePlanRecord {
  EndpointId endpoint{};  ///< Index into the endpoint catalog; invalid in a rejected plan.
  std::string endpoint_name{};
  PortRef target{};
  ChannelQueuePolicy queue_policy{ChannelQueuePolicy::kBlocking};
  std::uint32_t queue_depth{0};
  /// Samples of the import that all its inputs together may hold at a time.
  std::uint32_t max_borrowed_samples{0};
  /// How many they can hold without giving one back; not more than `max_borrowed_samples`.
  std::uint32_t held_samples{0};
  std::optional<DeviceId> device{};
  EdgeSelectionRecord selection{};  ///< What an activation takes; its edge is invalid.
};

}  // namespace weftline
