// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "json_text.hpp"
#include "plan_names.hpp"
#include "text.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

// The plan's JSON, piece by piece: one `json()` for each kind of value, in the file of its records.

using Object = JsonObjectText;

/// Names of authors, devices and schemas may hold any bytes; JSON may not.
inline JsonText text(std::string_view value) { return valid_utf8(value); }

template <class Tag>
JsonText json(Id<Tag> id) {
  return id.valid() ? JsonText(id.value) : JsonText();
}

template <class T>
JsonText known(T value) {
  return value == 0 ? JsonText() : JsonText(value);
}

inline JsonText json(std::uint32_t value) { return value; }
inline JsonText json(std::uint64_t value) { return value; }
inline JsonText json(std::int64_t value) { return value; }
inline JsonText json(DeviceId device) { return device.to_string(); }
inline JsonText json(MemoryKind kind) { return memory_kind_name(kind); }
inline JsonText json(DLDataType dtype) { return dtype_name(dtype); }
inline JsonText json(PortRef port) {
  return Object{{"port", port.port}, {"vertex", json(port.vertex)}};
}
inline JsonText json(Rate rate) {
  return Object{{"samples", rate.samples}, {"seconds", rate.seconds}};
}

inline JsonText json(Rational value) { return value.to_string(); }
inline JsonText json(RateRatio ratio) {
  return Object{{"denominator", ratio.denominator}, {"numerator", ratio.numerator}};
}
inline JsonText json(Horizon horizon) {
  return Object{{"denominator", horizon.denominator}, {"numerator", horizon.numerator}};
}

// plan_json.cpp
JsonText json(const PayloadIdentity& identity);

// boundary_json.cpp
JsonText json(const ExternalTopicRecord& topic);
JsonText json(const ImportEdgePlanRecord& edge);
JsonText json(const TensorOutputPlacementRecord& placement);
JsonText json(const GreenContextSupport& support);
JsonText json(const GreenContextResourcePlanRecord& resource);
JsonText json(const GreenContextPoolPlanRecord& pool);
JsonText json(const PartitionPlacementPlanRecord& placement);
JsonText json(const SupportThreadPlacementPlanRecord& placement);
JsonText json(const ProfileManifest& manifest);

// derivation_json.cpp
JsonText json(const TensorByteSpanDerivationNodePlanRecord& node);
JsonText json(const TensorByteSpanDerivationPlanRecord& derivation);
JsonText json(const TensorMemoryKindDerivationPlanRecord& derivation);

// sizing_json.cpp, temporal_json.cpp
JsonText json(const OutputRateRecord& rate);
JsonText json(const TemporalTriggerPlanRecord& trigger);
JsonText json(const SourcePlanRecord& source);
JsonText json(const EdgeSelectionRecord& selection);
JsonText json(const PortRatePlanRecord& rate);
JsonText json(const AccumulationHorizonPlanRecord& horizon);
JsonText json(const HardFloorContributorRecord& contributor);
JsonText json(const QueueSizingRecipeRecord& recipe);
JsonText json(const PoolCapacityDependencyRecord& dependency);
JsonText json(const ProviderAllocationPlanRecord& allocation);

// authoring_json.cpp, lifecycle_json.cpp
JsonText json(const GraphInstancePlanRecord& instance);
JsonText json(const RegionRecord& region);
JsonText json(const PortConfigurationRecord& configuration);
JsonText json(const PartitioningPlanRecord& partitioning);
JsonText json(const ScheduleEdgeRecord& edge);
JsonText json(const LifecyclePlanRecord& lifecycle);

template <class T>
JsonText list(const std::vector<T>& values) {
  JsonArrayText items;
  for (const T& value : values) items.push_back(json(value));
  return items;
}

template <class T>
JsonText optional(const std::optional<T>& value) {
  return value ? json(*value) : JsonText();
}

}  // namespace weftline
