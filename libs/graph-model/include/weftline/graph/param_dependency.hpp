// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "weftline/graph/param_ref.hpp"

namespace weftline {

/// A ParamRef without its C++ types: one field that something is derived from.
struct ParamDependency {
  ParamFieldDescriptor field{};
  std::string schema_id{};  ///< Of the outermost struct, the operator's Params.
  std::uint32_t schema_version{0};
  const std::type_info* params{nullptr};  ///< That struct; `field.read` takes no other.

  template <class P, class V>
  [[nodiscard]] static ParamDependency of(const ParamRef<P, V>& ref) {
    constexpr auto kSchema = weftline_param_schema(std::type_identity<P>{});
    return {ref.field(), std::string(kSchema.name.id), kSchema.name.version, &typeid(P)};
  }
  /// See ParamRef: whether the value may enter a plan.
  [[nodiscard]] bool changes_while_running() const noexcept {
    return field.mutability == ParamMutability::kRuntime ||
           field.mutability == ParamMutability::kLifecycle;
  }
};

}  // namespace weftline
