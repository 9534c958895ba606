// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace weftline {

/// A dense index with a type, so that a vertex can't be taken for an edge. Default: invalid.
template <class Tag>
struct Id {
  static constexpr std::uint32_t kInvalid = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value{kInvalid};

  [[nodiscard]] constexpr bool valid() const noexcept { return value != kInvalid; }
  friend constexpr auto operator<=>(Id, Id) noexcept = default;
};

/// Ids of the compiled plan: dense, in canonical order.
using VertexId = Id<struct VertexIdTag>;
using EdgeId = Id<struct EdgeIdTag>;
using PartitionId = Id<struct PartitionIdTag>;
using StreamPlanId = Id<struct StreamPlanIdTag>;
using PoolId = Id<struct PoolIdTag>;
using EndpointId = Id<struct EndpointIdTag>;
/// Scoped to one plan or endpoint; persist the clock's name, not this number.
using ClockId = Id<struct ClockIdTag>;

}  // namespace weftline

template <class Tag>
struct std::hash<weftline::Id<Tag>> {
  std::size_t operator()(weftline::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
