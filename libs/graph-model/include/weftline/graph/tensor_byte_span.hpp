// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/graph/param_dependency.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/plan/derivation_records.hpp"

namespace weftline {

// What one formula may hold; as many are admitted, one more is not.
inline constexpr std::size_t kMaximumTensorByteSpanExpressionNodes = 32;
inline constexpr std::size_t kMaximumTensorByteSpanExpressionDepth = 16;  ///< A leaf has depth 1.
/// Different parameters and inputs together. Paths through nested structs are different ones.
inline constexpr std::size_t kMaximumTensorByteSpanExpressionDependencies = 8;
inline constexpr std::size_t kMaximumTensorByteSpanShapeExtents = kMaximumTensorRank;
/// The largest value that a formula may have at any of its nodes: what a tensor's layout can span.
inline constexpr std::uint64_t kMaximumTensorByteSpan = std::numeric_limits<std::int64_t>::max();

enum class TensorByteSpanExpressionInvalidReason : std::uint8_t {
  kNone = 0,
  kLiteralZero,
  kLiteralTooLarge,   ///< Beyond kMaximumTensorByteSpan.
  kAlignmentInvalid,  ///< No power of two.
  kTooManyNodes,      ///< Of the four limits above.
  kTooDeep,
  kTooManyDependencies,
  kTooManyExtents,  ///< The shape parameter may have more; a list says so by length().
  kParameterSensitive,
  kParameterMayChange,  ///< While the plan runs: neither compile-time nor recompile-required.
  kParametersOfTwoStructs,
  kInputUndeclared,      ///< setup() declares the input later, or never.
  kProjectionIdInvalid,  ///< Not 1 to 128 printing characters without spaces.
  kProjectionWithoutParameters,
};

/// In words, "a literal is 0"; empty for kNone.
[[nodiscard]] std::string_view tensor_byte_span_invalid_text(
    TensorByteSpanExpressionInvalidReason reason) noexcept;

/// One step of a formula, for the compiler.
struct TensorByteSpanNode {
  using Project = expected<std::uint64_t, Error> (*)(const void* params) noexcept;

  TensorByteSpanOperation operation{TensorByteSpanOperation::kLiteral};
  std::uint32_t left{0};     ///< Of what combines: indices of earlier nodes.
  std::uint32_t right{0};    ///< Not of kAlign.
  std::uint64_t operand{0};  ///< kLiteral, kAlign
  std::vector<std::shared_ptr<const ParamDependency>> parameters{};
  std::uint32_t input{0};  ///< kInputMaximum: index among the operator's inputs.
  /// kInputMaximum: which one was meant, until produces_tensor() has checked it.
  const InputPort* port{nullptr};
  std::string projection_id{};
  Project project{nullptr};     ///< kParameterProjected; takes the operator's Params.
  void (*function)(){nullptr};  ///< Tells projectors apart; never called.
};

/// How many bytes the largest tensor of an output has, as a formula over parameters and inputs.
/// compile() evaluates it once, with the values that the plan is compiled with; a run sees the
/// number. Every node's value is 1 to kMaximumTensorByteSpan; one that is not refuses the plan.
///
/// An immutable value, cheap to copy. A mistake is kept inside and outlives further operations;
/// produces_tensor() refuses it.
class TensorByteSpanExpression {
 public:
  using InvalidReason = TensorByteSpanExpressionInvalidReason;

  /// For the functions below.
  [[nodiscard]] static TensorByteSpanExpression leaf(TensorByteSpanNode node);

  /// kNone: fine. Of two operands with mistakes, that of the left one.
  [[nodiscard]] InvalidReason invalid_reason() const noexcept { return reason_; }
  [[nodiscard]] bool valid() const noexcept { return reason_ == InvalidReason::kNone; }

  [[nodiscard]] TensorByteSpanExpression multiplied_by(
      const TensorByteSpanExpression& factor) const;
  /// Rounds up.
  [[nodiscard]] TensorByteSpanExpression ceiling_divided_by(
      const TensorByteSpanExpression& divisor) const;
  [[nodiscard]] TensorByteSpanExpression maximum_with(const TensorByteSpanExpression& other) const;
  /// Rounds up to a multiple of `alignment`, a power of two.
  [[nodiscard]] TensorByteSpanExpression aligned_to(std::uint64_t alignment) const;

  /// Children before what combines them, the root last. Empty when not valid.
  [[nodiscard]] std::span<const TensorByteSpanNode> nodes() const noexcept { return *nodes_; }
  /// The same formula without the addresses of ports.
  [[nodiscard]] TensorByteSpanExpression detached() const;

 private:
  using Nodes = std::vector<TensorByteSpanNode>;
  explicit TensorByteSpanExpression(InvalidReason reason);
  explicit TensorByteSpanExpression(Nodes nodes);
  [[nodiscard]] TensorByteSpanExpression combined(TensorByteSpanOperation operation,
                                                  const TensorByteSpanExpression& other) const;

  std::shared_ptr<const Nodes> nodes_;
  InvalidReason reason_{InvalidReason::kNone};
};

[[nodiscard]] TensorByteSpanExpression tensor_byte_span(std::uint64_t bytes);

/// The largest tensor that the input can bring. It must come from one output that bounds its
/// tensors: by a pool, or by TensorBounds of a pass-through output. Declare the input first.
[[nodiscard]] TensorByteSpanExpression input_max_byte_span(const InputPort& input);

/// An array or bounded list of integers.
template <class V>
concept TensorShapeParameter = params::ShapeOf<V>::kShape != ParamShape::kScalar &&
                               ParamInteger<typename params::ShapeOf<V>::Element>;

/// Packed bytes of a tensor of the shape that a parameter holds: the product of its extents times
/// the bytes of the output's dtype. The output states dtype and rank; the shape has exactly as many
/// extents as the rank, each at least 1. A list needs a length() of at most 8.
template <class P, TensorShapeParameter V>
[[nodiscard]] TensorByteSpanExpression parameter_contiguous_byte_span(const ParamRef<P, V>& shape) {
  TensorByteSpanNode node;
  node.operation = TensorByteSpanOperation::kParameterContiguous;
  node.parameters.push_back(std::make_shared<const ParamDependency>(ParamDependency::of(shape)));
  return TensorByteSpanExpression::leaf(std::move(node));
}

namespace params {
template <class F>
struct ProjectorOf;
template <class P>
struct ProjectorOf<expected<std::uint64_t, Error> (*)(const P&) noexcept> {
  using Params = P;
};
}  // namespace params

/// A free or static function `expected<std::uint64_t, Error> f(const Params&) noexcept`, and no
/// other signature.
template <auto Function>
concept TensorByteSpanProjector =
    requires { typename params::ProjectorOf<decltype(Function)>::Params; };

/// For a calculation that the operations above can't express: the bytes that `Function` says for
/// the parameters of the plan. It is called while the plan is compiled. It must be deterministic,
/// reentrant and without side effects, and read no other parameters than those named here, one at
/// least: nobody can check that. An error of kArithmeticOverflow is
/// PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW, every other PHYSICAL_TENSOR_BYTE_SPAN_PROJECTION_FAILED; of
/// either only the code is shown.
///
/// `stable_id` names the calculation in plans, "com.example.Batch.bytes.v1": a new one when the
/// function may return something else for the same values. One id for two functions is refused.
template <auto Function, class... Vs>
  requires TensorByteSpanProjector<Function>
[[nodiscard]] TensorByteSpanExpression parameter_projected_byte_span(
    std::string stable_id,
    const ParamRef<typename params::ProjectorOf<decltype(Function)>::Params, Vs>&... parameters) {
  using P = typename params::ProjectorOf<decltype(Function)>::Params;
  TensorByteSpanNode node;
  node.operation = TensorByteSpanOperation::kParameterProjected;
  (node.parameters.push_back(
       std::make_shared<const ParamDependency>(ParamDependency::of(parameters))),
   ...);
  node.projection_id = std::move(stable_id);
  node.project = [](const void* values) noexcept {
    return Function(*static_cast<const P*>(values));
  };
  node.function = reinterpret_cast<void (*)()>(Function);
  return TensorByteSpanExpression::leaf(std::move(node));
}

}  // namespace weftline
