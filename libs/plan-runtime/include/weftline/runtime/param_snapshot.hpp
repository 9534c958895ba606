// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/json.hpp"
#include "weftline/plan/param_records.hpp"

namespace weftline {

struct ParamFieldValue {
  std::string path{};
  /// As in the plan's record of the field; null for a sensitive one, whose value never leaves.
  JsonValue value{};
  ParamMutability mutability{ParamMutability::kCompileTime};
};

struct OperatorParamValues {
  std::string operator_path{};
  std::uint64_t generation{0};            ///< 0: as compiled.
  std::vector<ParamFieldValue> fields{};  ///< By path.
};

/// The newest values of all operators that have parameters, captured in one moment: no update is
/// in it in part, and none that was accepted later than another one that is missing. compute() may
/// have yet to see them. Owns everything.
struct ParamSnapshot {
  std::string plan_digest{};  ///< Of the plan that was run; empty without a session.
  std::vector<OperatorParamValues> operators{};  ///< In the order of the plan.

  /// Null when there is none; lives as long as this snapshot.
  [[nodiscard]] const OperatorParamValues* find(std::string_view operator_path) const noexcept;
  [[nodiscard]] const JsonValue* find(std::string_view operator_path,
                                      std::string_view field_path) const noexcept;
};

}  // namespace weftline
