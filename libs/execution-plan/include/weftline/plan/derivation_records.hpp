// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/memory_kind.hpp"
#include "weftline/plan/port_ref.hpp"

namespace weftline {

// How facts of pooled outputs came about that setup() did not write down but derived. The facts
// themselves stand where all others do, in the output and in its pool; nothing evaluates these
// records again.

/// Leaves first, then what combines them.
enum class TensorByteSpanOperation : std::uint8_t {
  kLiteral = 0,
  kParameterContiguous,  ///< Packed bytes of the shape that a parameter holds.
  kInputMaximum,         ///< The largest tensor that an input can bring.
  kParameterProjected,   ///< What a function of the parameters says.
  kMultiply,
  kCeilingDivide,
  kMaximum,
  kAlign,
};

/// What it takes to change a derived fact.
enum class TensorByteSpanDerivationUpdateDisposition : std::uint8_t {
  kFrozenCompileTime = 0,  ///< Nothing that it depends on ever changes.
  kRecompileRequired,      ///< A new plan; a parameter, here or upstream, admits that.
};

/// One step of a formula. Facts that belong to another operation are absent.
struct TensorByteSpanDerivationNodePlanRecord {
  TensorByteSpanOperation operation{TensorByteSpanOperation::kLiteral};
  std::optional<std::uint32_t> left{};     ///< Index of an earlier node of the same formula.
  std::optional<std::uint32_t> right{};    ///< The same; kAlign has none.
  std::optional<std::uint64_t> operand{};  ///< kLiteral: its value. kAlign: the alignment.
  /// Paths of the parameters that are read: one for kParameterContiguous, one or more for
  /// kParameterProjected.
  std::vector<std::string> parameters{};
  std::string schema_id{};  ///< Of the operator's parameters, where any are read.
  std::uint32_t schema_version{0};
  std::optional<std::uint32_t> input{};  ///< kInputMaximum: index among the operator's inputs.
  std::string projection_id{};           ///< kParameterProjected
  std::uint64_t resolved_value{0};       ///< In bytes or as a plain number; 0: not known.
};

/// The largest tensor of one pooled output, as a formula. One for each output that has one, by
/// output.
struct TensorByteSpanDerivationPlanRecord {
  PortRef output{};
  std::uint64_t resolved_bytes{0};  ///< The output's max_byte_span; 0: not known.
  TensorByteSpanDerivationUpdateDisposition update{
      TensorByteSpanDerivationUpdateDisposition::kFrozenCompileTime};
  std::vector<TensorByteSpanDerivationNodePlanRecord> nodes{};  ///< Children first, the root last.
};

enum class TensorMemoryKindExpressionForm : std::uint8_t {
  kDirect = 0,  ///< The parameter is a MemoryKind.
  kMapped,      ///< A bool or an enum, by a table of the operator's.
};

/// Where the memory of one pooled output is, as a parameter says. By output.
struct TensorMemoryKindDerivationPlanRecord {
  PortRef output{};
  TensorMemoryKindExpressionForm form{TensorMemoryKindExpressionForm::kDirect};
  std::string parameter{};  ///< Path.
  std::string schema_id{};
  std::uint32_t schema_version{0};
  std::string value{};               ///< Of the parameter; empty: not known.
  std::optional<MemoryKind> kind{};  ///< Absent: not known.
  TensorByteSpanDerivationUpdateDisposition update{
      TensorByteSpanDerivationUpdateDisposition::kFrozenCompileTime};
};

}  // namespace weftline
