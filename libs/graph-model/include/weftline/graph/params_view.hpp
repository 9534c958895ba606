// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <typeinfo>

namespace weftline {

/// Ends the process: a callback asked for parameters of another type than its operator has.
[[noreturn]] void refuse_params_type(const std::type_info& asked,
                                     const std::type_info* held) noexcept;

/// One operator's parameters as a callback sees them, without their type. Valid as long as that
/// callback runs.
struct ParamsView {
  const void* values{nullptr};
  const std::type_info* type{nullptr};
  std::uint64_t generation{0};

  template <class P>
  [[nodiscard]] const P& as() const noexcept {
    if (type == nullptr || *type != typeid(P)) refuse_params_type(typeid(P), type);
    return *static_cast<const P*>(values);
  }
};

}  // namespace weftline
