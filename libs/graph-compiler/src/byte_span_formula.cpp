// SPDX-License-Identifier: Apache-2.0
#include "byte_span_formula.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "weftline/core/error.hpp"
#include "weftline/core/tensor_layout.hpp"

namespace weftline {
namespace {

using Operation = TensorByteSpanOperation;

constexpr std::string_view kLowerFix =
    "lower the values that the formula is made of; a tensor has at most 2^63-1 bytes";

std::string show(const ParamScalar& number) {
  if (const auto* value = std::get_if<std::int64_t>(&number)) return std::to_string(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&number)) return std::to_string(*value);
  return "?";
}

/// 0 for a number that is not positive.
std::uint64_t positive(const ParamScalar& number) {
  if (const auto* value = std::get_if<std::int64_t>(&number)) {
    return *value > 0 ? static_cast<std::uint64_t>(*value) : 0;
  }
  const auto* value = std::get_if<std::uint64_t>(&number);
  return value != nullptr ? *value : 0;
}

bool is_combination(Operation operation) { return operation >= Operation::kMultiply; }

TensorByteSpanDerivationNodePlanRecord describe(const TensorByteSpanNode& node) {
  TensorByteSpanDerivationNodePlanRecord record;
  record.operation = node.operation;
  if (is_combination(node.operation)) {
    record.left = node.left;
    if (node.operation != Operation::kAlign) record.right = node.right;
  }
  if (node.operation == Operation::kLiteral || node.operation == Operation::kAlign) {
    record.operand = node.operand;
  }
  if (node.operation == Operation::kInputMaximum) record.input = node.input;
  for (const auto& parameter : node.parameters) {
    record.parameters.push_back(parameter->field.path);
    record.schema_id = parameter->schema_id;
    record.schema_version = parameter->schema_version;
  }
  record.projection_id = node.projection_id;
  return record;
}

}  // namespace

void ByteSpanFormula::depends(TensorByteSpanDerivationUpdateDisposition update) {
  record_.update = std::max(record_.update, update);
}

ByteSpanFormula::Value ByteSpanFormula::overflow(const std::string& what) {
  state_.error("PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW", place(), what, std::string(kLowerFix));
  return std::nullopt;
}

ByteSpanFormula::Value ByteSpanFormula::invalid(const std::string& what, std::string fix) {
  state_.error("PHYSICAL_TENSOR_BYTE_SPAN_INVALID", place(), what, std::move(fix));
  return std::nullopt;
}

ByteSpanFormula::Value ByteSpanFormula::multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaximumTensorByteSpan) {
    return overflow(std::to_string(a) + " * " + std::to_string(b) +
                    " is more bytes than can be counted");
  }
  return product;
}

bool ByteSpanFormula::may_read(const TensorByteSpanNode& node) {
  for (const auto& parameter : node.parameters) {
    depends(update_of(*parameter));
    if (params_.owns(*parameter)) continue;
    report_foreign(state_, record_.output, params_, *parameter);
    return false;
  }
  return params_.admitted();
}

ByteSpanFormula::Value ByteSpanFormula::contiguous(const TensorByteSpanNode& node) {
  const ParamFieldDescriptor& field = node.parameters.front()->field;
  const auto& tensor = state_.output(record_.output).tensor;
  const ParamValue extents = field.read(params_.values());
  if (!tensor || !tensor->representation.dtype || !tensor->representation.rank ||
      *tensor->representation.rank != extents.size()) {
    const auto rank = tensor ? tensor->representation.rank : std::nullopt;
    state_.error("PHYSICAL_TENSOR_BYTE_SPAN_SHAPE", place(),
                 "parameter " + field.path + " has " + std::to_string(extents.size()) +
                     " extents, the output has " +
                     (rank ? "rank " + std::to_string(*rank) : "no stated rank"),
                 "give the parameter as many extents as the output's rank");
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (positive(extents[axis]) > 0) continue;
    return invalid("extent " + std::to_string(axis) + " of parameter " + field.path + " is " +
                       show(extents[axis]),
                   "give each extent at least 1");
  }
  Value bytes = dtype_bytes(*tensor->representation.dtype);
  for (const ParamScalar& extent : extents) {
    bytes = multiply(*bytes, positive(extent));
    if (!bytes) return bytes;
  }
  return bytes;
}

ByteSpanFormula::Value ByteSpanFormula::input_maximum(const TensorByteSpanNode& node) {
  const InputBound bound = producers_.of(node.input);
  const std::string input = state_.plan.input_name({record_.output.vertex, node.input});
  if (bound.state == InputBound::State::kUnbounded) {
    state_.error("PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED", place(),
                 "its slot bytes are derived from input " + input + ", but " + bound.producer +
                     " states no positive max_byte_span",
                 "state TensorOutputSpec::bounds there, or derive from something else");
  }
  if (bound.state != InputBound::State::kBounded) return std::nullopt;
  if (bound.derived != nullptr) depends(bound.derived->update);
  if (bound.bytes <= kMaximumTensorByteSpan) return bound.bytes;
  return overflow("input " + input + " brings tensors of up to " + std::to_string(bound.bytes) +
                  " bytes");
}

ByteSpanFormula::Value ByteSpanFormula::projected(const TensorByteSpanNode& node) {
  if (std::ranges::binary_search(*refused_projections_, node.projection_id)) return std::nullopt;
  const auto result = node.project(params_.values());
  const std::string name = "projector " + node.projection_id;
  if (!result) {
    const ErrorCode code = result.error().code;
    if (code == ErrorCode::kArithmeticOverflow) return overflow(name + " reports an overflow");
    state_.error("PHYSICAL_TENSOR_BYTE_SPAN_PROJECTION_FAILED", place(),
                 name + " returned " + std::string(error_code_name(code)),
                 "give its parameters values that it can work with");
    return std::nullopt;
  }
  if (*result > 0 && *result <= kMaximumTensorByteSpan) return *result;
  return invalid(name + " returned " + std::to_string(*result) + " bytes",
                 "let it return 1 to 2^63-1, or an error");
}

ByteSpanFormula::Value ByteSpanFormula::combined(const TensorByteSpanNode& node) {
  const std::uint64_t left = record_.nodes[node.left].resolved_value;
  if (left == 0) return std::nullopt;
  if (node.operation == Operation::kAlign) {
    const std::uint64_t step = node.operand;
    const std::uint64_t times = left / step + (left % step == 0 ? 0 : 1);
    return multiply(times, step);
  }
  const std::uint64_t right = record_.nodes[node.right].resolved_value;
  if (right == 0) return std::nullopt;
  switch (node.operation) {
    case Operation::kMultiply:
      return multiply(left, right);
    case Operation::kCeilingDivide:
      return left / right + (left % right == 0 ? 0 : 1);
    default:
      return std::max(left, right);
  }
}

ByteSpanFormula::Value ByteSpanFormula::resolve(const TensorByteSpanNode& node) {
  switch (node.operation) {
    case Operation::kLiteral:
      return node.operand;
    case Operation::kParameterContiguous:
      return may_read(node) ? contiguous(node) : std::nullopt;
    case Operation::kInputMaximum:
      return input_maximum(node);
    case Operation::kParameterProjected:
      return may_read(node) ? projected(node) : std::nullopt;
    default:
      return combined(node);
  }
}

void ByteSpanFormula::evaluate(const TensorByteSpanExpression& expression,
                               const std::vector<std::string>& refused_projections) {
  refused_projections_ = &refused_projections;
  record_.nodes.reserve(expression.nodes().size());
  for (const TensorByteSpanNode& node : expression.nodes()) {
    Record record = describe(node);
    record.resolved_value = resolve(node).value_or(0);
    record_.nodes.push_back(std::move(record));
  }
  if (!record_.nodes.empty()) record_.resolved_bytes = record_.nodes.back().resolved_value;
}

}  // namespace weftline
