// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "weftline/graph/param_finding.hpp"
#include "weftline/graph/param_schema.hpp"
#include "weftline/plan/param_records.hpp"

namespace weftline {

/// The parameters of an operator that has none.
struct NoParams {};

/// One operator's parameters without their C++ type: values and the schema that describes them.
/// Immutable, shared by its copies.
class ParamSet {
 public:
  /// No parameters.
  ParamSet() = default;

  /// The struct's defaults, which nobody has given.
  template <class P>
  [[nodiscard]] static ParamSet defaults() {
    return make(P{}, false);
  }
  template <class P>
  [[nodiscard]] static ParamSet given(P values) {
    return make(std::move(values), true);
  }

  /// Null without parameters.
  [[nodiscard]] const ParamSchema* schema() const noexcept { return schema_.get(); }
  /// An object of the operator's Params; null in an empty set.
  [[nodiscard]] const std::shared_ptr<const void>& values() const noexcept { return values_; }

  /// That type; null in an empty set.
  [[nodiscard]] const std::type_info* type() const noexcept { return type_; }

  /// A new object with the same values, for its owner to change; null in an empty set.
  [[nodiscard]] std::shared_ptr<void> copy_values() const {
    return copy_ != nullptr ? copy_(values_.get()) : nullptr;
  }

  /// What the schema does not admit. Of defaults that nobody has given, a required field is
  /// PARAM_FIELD_MISSING.
  [[nodiscard]] std::vector<ParamFinding> findings() const;
  /// Without sensitive values. Absent without parameters.
  [[nodiscard]] std::optional<ParamSetPlanRecord> record() const;

 private:
  template <class P>
  static ParamSet make(P values, bool given) {
    ParamSet set;
    if constexpr (!std::is_same_v<P, NoParams>) {
      static_assert(HasParamSchema<P>,
                    "Operator<P>: put WEFTLINE_PARAM_SCHEMA(P, …) beside the struct, in the same "
                    "namespace");
      set.schema_ = std::make_shared<const ParamSchema>(ParamSchema::of<P>());
    }
    set.values_ = std::make_shared<const P>(std::move(values));
    set.type_ = &typeid(P);
    set.copy_ = [](const void* object) -> std::shared_ptr<void> {
      return std::make_shared<P>(*static_cast<const P*>(object));
    };
    set.given_ = given;
    return set;
  }

  std::shared_ptr<const ParamSchema> schema_{};
  std::shared_ptr<const void> values_{};
  const std::type_info* type_{nullptr};
  std::shared_ptr<void> (*copy_)(const void* values){nullptr};
  bool given_{false};
};

}  // namespace weftline
