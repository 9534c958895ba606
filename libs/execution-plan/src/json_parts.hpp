// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "plan_names.hpp"
#include "text.hpp"
#include "weftline/core/json.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

// The plan's JSON, piece by piece: one `json()` for each kind of value, in the file of its records.

using Object = JsonValue::Object;

/// Names of authors, devices and schemas may hold any bytes; JSON may not.
inline JsonValue text(std::string_view value) { return valid_utf8(value); }

template <class Tag>
JsonValue json(Id<Tag> id) {
  return id.valid() ? JsonValue(id.value) : JsonValue();
}

template <class T>
JsonValue known(T value) {
  return value == 0 ? JsonValue() : JsonValue(value);
}

inline JsonValue json(std::uint32_t value) { return value; }
inline JsonValue json(std::uint64_t value) { return value; }
inline JsonValue json(std::int64_t value) { return value; }
inline JsonValue json(DeviceId device) { return device.to_string(); }
inline JsonValue json(MemoryKind kind) { return memory_kind_name(kind); }
inline JsonValue json(DLDataType dtype) { return dtype_name(dtype); }
inline JsonValue json(PortRef port) {
  return Object{{"port", port.port}, {"vertex", json(port.vertex)}};
}
inline JsonValue json(Rate rate) {
  return Object{{"samples", rate.samples}, {"seconds", rate.seconds}};
}

inline JsonValue json(Rational value) { return value.to_string(); }
inline JsonValue json(RateRatio ratio) {
  return Object{{"denominator", ratio.denominator}, {"numerator", ratio.numerator}};
}
inline JsonValue json(Horizon horizon) {
  return Object{{"denominator", horizon.denominator}, {"numerator", horizon.numerator}};
}

// plan_json.cpp
JsonValue json(const PayloadIdentity& identity);

// boundary_json.cpp
JsonValue json(const ExternalTopicRecord& topic);
JsonValue json(const ImportEdgePlanRecord& edge);
JsonValue json(const TensorOutputPlacementRecord& placement);
JsonValue json(const GreenContextSupport& support);
JsonValue json(const GreenContextResourcePlanRecord& resource);
JsonValue json(const GreenContextPoolPlanRecord& pool);
JsonValue json(const PartitionPlacementPlanRecord& placement);
JsonValue json(const SupportThreadPlacementPlanRecord& placement);
JsonValue json(const ProfileManifest& manifest);

// derivation_json.cpp
JsonValue json(const TensorByteSpanDerivationNodePlanRecord& node);
JsonValue json(const TensorByteSpanDerivationPlanRecord& derivation);
JsonValue json(const TensorMemoryKindDerivationPlanRecord& derivation);

// sizing_json.cpp, temporal_json.cpp
JsonValue json(const OutputRateRecord& rate);
JsonValue json(const TemporalTriggerPlanRecord& trigger);
JsonValue json(const SourcePlanRecord& source);
JsonValue json(const EdgeSelectionRecord& selection);
JsonValue json(const PortRatePlanRecord& rate);
JsonValue json(const AccumulationHorizonPlanRecord& horizon);
JsonValue json(const HardFloorContributorRecord& contributor);
JsonValue json(const QueueSizingRecipeRecord& recipe);
JsonValue json(const PoolCapacityDependencyRecord& dependency);
JsonValue json(const ProviderAllocationPlanRecord& allocation);

// authoring_json.cpp, lifecycle_json.cpp
JsonValue json(const GraphInstancePlanRecord& instance);
JsonValue json(const RegionRecord& region);
JsonValue json(const PortConfigurationRecord& configuration);
JsonValue json(const PartitioningPlanRecord& partitioning);
JsonValue json(const ScheduleEdgeRecord& edge);
JsonValue json(const LifecyclePlanRecord& lifecycle);

template <class T>
JsonValue list(const std::vector<T>& values) {
  JsonValue::Array items;
  items.reserve(values.size());
  for (const T& value : values) items.push_back(json(value));
  return items;
}

template <class T>
JsonValue optional(const std::optional<T>& value) {
  return value ? json(*value) : JsonValue();
}

}  // namespace weftline
