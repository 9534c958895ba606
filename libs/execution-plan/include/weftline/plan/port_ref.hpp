// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "weftline/core/ids.hpp"

namespace weftline {

/// A port of one operator.
struct PortRef {
  VertexId vertex{};
  std::uint32_t port{0};  ///< Index among the operator's inputs or outputs.
  friend constexpr auto operator<=>(const PortRef&, const PortRef&) noexcept = default;
};

}  // namespace weftline
