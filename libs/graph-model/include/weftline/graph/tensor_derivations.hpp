// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "weftline/graph/tensor_byte_span.hpp"
#include "weftline/graph/tensor_memory_kind.hpp"

namespace weftline {

/// Facts of one pooled output that are derived while the plan is compiled. Each that is set is the
/// only authority for its fact: TensorOutputSpec must leave it out.
struct TensorOutputDerivations {
  std::optional<TensorByteSpanExpression> byte_span{};      ///< For bounds.max_byte_span.
  std::optional<TensorMemoryKindExpression> memory_kind{};  ///< For representation.memory_kind.

  [[nodiscard]] bool any() const noexcept { return byte_span || memory_kind; }
};

/// The same as the compiler sees it.
struct OutputDerivationSnapshot {
  std::uint32_t output{0};  ///< Index among the operator's outputs.
  TensorOutputDerivations derivations{};
};

}  // namespace weftline
