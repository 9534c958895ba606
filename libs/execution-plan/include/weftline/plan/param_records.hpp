// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/digest.hpp"
#include "weftline/core/json.hpp"
#include "weftline/plan/lifecycle_stage.hpp"

namespace weftline {

/// How the value of a parameter may change once it is in a plan.
enum class ParamMutability : std::uint8_t {
  kCompileTime = 0,  ///< Never.
  kRuntime,          ///< In a running session, at the operator's next activation.
  kLifecycle,        ///< In a session, by a restart of the operator from a stage on.
  kRecompile,        ///< By compiling a new plan; plans may count resources by it.
};

/// "compile_time", "runtime", "lifecycle", "recompile"; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view param_mutability_name(ParamMutability mutability) noexcept;

using ParamSchemaHash = Sha256Digest;

/// One parameter of one operator, with the value that the plan was compiled with.
struct ParamFieldPlanRecord {
  std::string path{};  ///< "exposure", or "sensor.exposure" in a nested struct.
  ParamSchemaHash hash{};
  std::string type{};  ///< "uint32", "float64[3]", "enum uint8", …
  /// Null when the field is sensitive: such a value is in no record, so that it can't get into
  /// JSON, a digest or a page.
  JsonValue value{};
  std::string unit{};
  JsonValue minimum{};  ///< Null: no bound.
  JsonValue maximum{};
  std::vector<JsonValue> choices{};  ///< Empty: every value of the type.
  ParamMutability mutability{ParamMutability::kCompileTime};
  std::optional<LifecycleStage> stage{};  ///< kLifecycle
  bool sensitive{false};
};

/// The parameters of one operator. What each hash covers is said in
/// weftline/graph/param_schema.hpp.
struct ParamSetPlanRecord {
  std::string schema_id{};
  std::uint32_t schema_version{0};
  ParamSchemaHash structural_hash{};
  ParamSchemaHash contract_hash{};
  ParamSchemaHash metadata_hash{};
  std::vector<ParamFieldPlanRecord> fields{};  ///< By path.
};

}  // namespace weftline
