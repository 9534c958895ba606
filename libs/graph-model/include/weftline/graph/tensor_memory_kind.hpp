// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "weftline/core/memory_kind.hpp"
#include "weftline/graph/param_dependency.hpp"
#include "weftline/plan/derivation_records.hpp"

namespace weftline {

/// As many cases are admitted; a field can't list more values.
inline constexpr std::size_t kMaximumTensorMemoryKindMappingCases = kMaximumParamChoices;

enum class TensorMemoryKindExpressionInvalidReason : std::uint8_t {
  kNone = 0,
  kKindUnknown,  ///< A case, or a value that the field lists, is no concrete kind.
  kTooManyCases,
  kCaseRepeated,  ///< Two cases for one value.
  kCaseUnlisted,  ///< A case for a value that the field does not list.
  kCaseMissing,   ///< A value that the field lists has no case.
  kParameterSensitive,
  kParameterMayChange,  ///< While the plan runs: neither compile-time nor recompile-required.
};

/// In words; empty for kNone.
[[nodiscard]] std::string_view tensor_memory_kind_invalid_text(
    TensorMemoryKindExpressionInvalidReason reason) noexcept;

/// Source values of a mapping.
template <class V>
concept TensorMemoryKindSource = std::same_as<V, bool> || std::is_enum_v<V>;

template <TensorMemoryKindSource V>
struct MemoryKindCase {
  V value{};
  MemoryKind kind{MemoryKind::kUnknown};
};

template <TensorMemoryKindSource V>
[[nodiscard]] constexpr MemoryKindCase<V> memory_kind_case(V value, MemoryKind kind) noexcept {
  return {value, kind};
}

/// In which memory a pool is, as a parameter says. compile() reads the value once. It chooses
/// neither device nor size nor number of slots; an input that needs another kind refuses the plan.
/// An immutable value; a mistake is kept inside, and produces_tensor() refuses it.
class TensorMemoryKindExpression {
 public:
  using InvalidReason = TensorMemoryKindExpressionInvalidReason;
  struct Case {
    ParamScalar value{};
    MemoryKind kind{MemoryKind::kUnknown};
  };

  /// For the functions below. kDirect has no cases of its own: they are the values that the field
  /// lists.
  TensorMemoryKindExpression(TensorMemoryKindExpressionForm form, ParamDependency parameter,
                             std::vector<Case> cases);

  [[nodiscard]] InvalidReason invalid_reason() const noexcept { return reason_; }
  [[nodiscard]] bool valid() const noexcept { return reason_ == InvalidReason::kNone; }
  [[nodiscard]] TensorMemoryKindExpressionForm form() const noexcept { return form_; }
  [[nodiscard]] const ParamDependency& parameter() const noexcept { return *parameter_; }
  /// One for each value that the parameter may have.
  [[nodiscard]] std::span<const Case> cases() const noexcept { return cases_; }

 private:
  TensorMemoryKindExpressionForm form_;
  std::shared_ptr<const ParamDependency> parameter_;
  std::vector<Case> cases_;
  InvalidReason reason_;
};

/// The parameter is the kind. Its enum_values() are those that the operator can work with;
/// MemoryKind::kUnknown is never one of them.
template <class P>
[[nodiscard]] TensorMemoryKindExpression parameter_memory_kind(
    const ParamRef<P, MemoryKind>& parameter) {
  return {TensorMemoryKindExpressionForm::kDirect, ParamDependency::of(parameter), {}};
}

/// A table from the operator's own words: one case for each value that the field lists (both, of a
/// bool), and no other.
template <class P, TensorMemoryKindSource V>
[[nodiscard]] TensorMemoryKindExpression parameter_memory_kind(
    const ParamRef<P, V>& parameter, std::initializer_list<MemoryKindCase<V>> cases) {
  std::vector<TensorMemoryKindExpression::Case> table;
  table.reserve(cases.size());
  for (const MemoryKindCase<V>& each : cases) {
    table.push_back({params::to_scalar<V>(each.value), each.kind});
  }
  return {TensorMemoryKindExpressionForm::kMapped, ParamDependency::of(parameter),
          std::move(table)};
}

}  // namespace weftline
