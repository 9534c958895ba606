// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_byte_span.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace weftline {
namespace {

using Operation = TensorByteSpanOperation;
using Reason = TensorByteSpanExpressionInvalidReason;

Reason check_parameter(const ParamDependency& parameter) {
  if (parameter.field.sensitive) return Reason::kParameterSensitive;
  if (parameter.changes_while_running()) return Reason::kParameterMayChange;
  return Reason::kNone;
}

Reason check_shape(const ParamFieldDescriptor& field) {
  const std::uint64_t most =
      field.type.shape == ParamShape::kArray ? field.type.count : field.max_length;
  return most > kMaximumTensorByteSpanShapeExtents ? Reason::kTooManyExtents : Reason::kNone;
}

Reason check_projection_id(const std::string& id) {
  const bool readable = !id.empty() && id.size() <= 128 &&
                        std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
  return readable ? Reason::kNone : Reason::kProjectionIdInvalid;
}

Reason check_leaf(const TensorByteSpanNode& node) {
  for (const auto& parameter : node.parameters) {
    if (const Reason reason = check_parameter(*parameter); reason != Reason::kNone) return reason;
  }
  switch (node.operation) {
    case Operation::kLiteral:
      if (node.operand == 0) return Reason::kLiteralZero;
      return node.operand > kMaximumTensorByteSpan ? Reason::kLiteralTooLarge : Reason::kNone;
    case Operation::kParameterContiguous:
      return check_shape(node.parameters.front()->field);
    case Operation::kInputMaximum:
      return node.port != nullptr && !node.port->declared() ? Reason::kInputUndeclared
                                                            : Reason::kNone;
    case Operation::kParameterProjected:
      if (node.parameters.empty()) return Reason::kProjectionWithoutParameters;
      return check_projection_id(node.projection_id);
    default:
      return Reason::kNone;
  }
}

bool combines_two(Operation operation) {
  return operation == Operation::kMultiply || operation == Operation::kCeilingDivide ||
         operation == Operation::kMaximum;
}

std::size_t depth_of(const std::vector<TensorByteSpanNode>& nodes) {
  std::vector<std::size_t> depths;
  for (const TensorByteSpanNode& node : nodes) {
    std::size_t depth = 1;
    if (node.operation == Operation::kAlign) depth += depths[node.left];
    if (combines_two(node.operation)) depth += std::max(depths[node.left], depths[node.right]);
    depths.push_back(depth);
  }
  return depths.back();
}

Reason check_dependencies(const std::vector<TensorByteSpanNode>& nodes) {
  std::set<ParamSchemaHash> parameters;
  std::set<std::uint32_t> inputs;
  const std::type_info* params = nullptr;
  for (const TensorByteSpanNode& node : nodes) {
    if (node.operation == Operation::kInputMaximum) inputs.insert(node.input);
    for (const auto& parameter : node.parameters) {
      parameters.insert(parameter->field.hash);
      if (params == nullptr) params = parameter->params;
      if (*params != *parameter->params) return Reason::kParametersOfTwoStructs;
    }
  }
  return parameters.size() + inputs.size() > kMaximumTensorByteSpanExpressionDependencies
             ? Reason::kTooManyDependencies
             : Reason::kNone;
}

Reason check_limits(const std::vector<TensorByteSpanNode>& nodes) {
  if (nodes.size() > kMaximumTensorByteSpanExpressionNodes) return Reason::kTooManyNodes;
  if (depth_of(nodes) > kMaximumTensorByteSpanExpressionDepth) return Reason::kTooDeep;
  return check_dependencies(nodes);
}

}  // namespace

std::string_view tensor_byte_span_invalid_text(Reason reason) noexcept {
  static constexpr auto kTexts = std::to_array<std::string_view>(
      {"", "a literal is 0", "a literal is more than 2^63-1", "an alignment is no power of two",
       "it has more than 32 nodes", "it is more than 16 levels deep",
       "it depends on more than 8 parameters and inputs",
       "a shape parameter may have more than 8 extents; give a list a length()",
       "a parameter is sensitive",
       "a parameter may change while the plan runs; declare it "
       "recompile_required()",
       "its parameters belong to two structs", "an input is not declared yet",
       "a projector's id is not 1 to 128 printing characters without spaces",
       "a projector names no parameter"});
  const auto index = static_cast<std::size_t>(reason);
  return index < kTexts.size() ? kTexts[index] : "it is invalid";
}

TensorByteSpanExpression::TensorByteSpanExpression(InvalidReason reason)
    : nodes_(std::make_shared<const Nodes>()), reason_(reason) {}

TensorByteSpanExpression::TensorByteSpanExpression(Nodes nodes)
    : nodes_(std::make_shared<const Nodes>(std::move(nodes))) {}

TensorByteSpanExpression TensorByteSpanExpression::leaf(TensorByteSpanNode node) {
  Nodes nodes;
  Reason reason = check_leaf(node);
  nodes.push_back(std::move(node));
  if (reason == Reason::kNone) reason = check_dependencies(nodes);
  return reason == Reason::kNone ? TensorByteSpanExpression(std::move(nodes))
                                 : TensorByteSpanExpression(reason);
}

TensorByteSpanExpression TensorByteSpanExpression::combined(
    TensorByteSpanOperation operation, const TensorByteSpanExpression& other) const {
  if (!valid()) return *this;
  if (!other.valid()) return other;
  Nodes nodes = *nodes_;
  const auto shift = static_cast<std::uint32_t>(nodes.size());
  for (TensorByteSpanNode node : *other.nodes_) {
    node.left += shift;
    node.right += shift;
    nodes.push_back(std::move(node));
  }
  TensorByteSpanNode root;
  root.operation = operation;
  root.left = shift - 1;
  root.right = static_cast<std::uint32_t>(nodes.size() - 1);
  nodes.push_back(std::move(root));
  const Reason reason = check_limits(nodes);
  return reason == Reason::kNone ? TensorByteSpanExpression(std::move(nodes))
                                 : TensorByteSpanExpression(reason);
}

TensorByteSpanExpression TensorByteSpanExpression::multiplied_by(
    const TensorByteSpanExpression& factor) const {
  return combined(Operation::kMultiply, factor);
}

TensorByteSpanExpression TensorByteSpanExpression::ceiling_divided_by(
    const TensorByteSpanExpression& divisor) const {
  return combined(Operation::kCeilingDivide, divisor);
}

TensorByteSpanExpression TensorByteSpanExpression::maximum_with(
    const TensorByteSpanExpression& other) const {
  return combined(Operation::kMaximum, other);
}

TensorByteSpanExpression TensorByteSpanExpression::aligned_to(std::uint64_t alignment) const {
  if (!valid()) return *this;
  if (!std::has_single_bit(alignment)) return TensorByteSpanExpression(Reason::kAlignmentInvalid);
  Nodes nodes = *nodes_;
  TensorByteSpanNode root;
  root.operation = Operation::kAlign;
  root.left = static_cast<std::uint32_t>(nodes.size() - 1);
  root.operand = alignment;
  nodes.push_back(std::move(root));
  const Reason reason = check_limits(nodes);
  return reason == Reason::kNone ? TensorByteSpanExpression(std::move(nodes))
                                 : TensorByteSpanExpression(reason);
}

TensorByteSpanExpression TensorByteSpanExpression::detached() const {
  if (!valid()) return *this;
  Nodes nodes = *nodes_;
  for (TensorByteSpanNode& node : nodes) node.port = nullptr;
  return TensorByteSpanExpression(std::move(nodes));
}

TensorByteSpanExpression tensor_byte_span(std::uint64_t bytes) {
  TensorByteSpanNode node;
  node.operand = bytes;
  return TensorByteSpanExpression::leaf(std::move(node));
}

TensorByteSpanExpression input_max_byte_span(const InputPort& input) {
  TensorByteSpanNode node;
  node.operation = Operation::kInputMaximum;
  node.input = input.index();
  node.port = &input;
  return TensorByteSpanExpression::leaf(std::move(node));
}

}  // namespace weftline
