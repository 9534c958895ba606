// SPDX-License-Identifier: Apache-2.0
#include "derivation_checks.hpp"

#include <string_view>
#include <utility>

namespace weftline {
namespace {

[[noreturn]] void refuse(std::string_view token, const std::string& port, std::string_view why) {
  throw RuntimeError(
      {ErrorCode::kInvalidArgument, token, "port \"" + port + "\": " + std::string(why), 0});
}

void check_shape(const std::string& port, const TensorOutputSpec& tensor,
                 const ParamFieldDescriptor& shape) {
  const TensorRepresentation& stated = tensor.representation;
  if (!stated.dtype || dtype_bytes(*stated.dtype) == 0 || !stated.rank) {
    refuse("PORT_DERIVATION_SHAPE", port,
           "packed bytes of a shape need representation.dtype, of at least one byte, and "
           "representation.rank");
  }
  const bool array = shape.type.shape == ParamShape::kArray;
  const std::uint64_t least = array ? shape.type.count : shape.min_length;
  const std::uint64_t most = array ? shape.type.count : shape.max_length;
  if (*stated.rank >= least && *stated.rank <= most) return;
  refuse("PORT_DERIVATION_SHAPE", port,
         "it has rank " + std::to_string(*stated.rank) + ", parameter " + shape.path + " " +
             std::to_string(least) + (least == most ? "" : " to " + std::to_string(most)) +
             " extents");
}

void check_node(const std::string& port, const TensorOutputSpec& tensor,
                const TensorByteSpanNode& node, const std::vector<InputDeclaration>& inputs) {
  if (node.operation == TensorByteSpanOperation::kParameterContiguous) {
    check_shape(port, tensor, node.parameters.front()->field);
  }
  if (node.operation != TensorByteSpanOperation::kInputMaximum) return;
  if (node.input < inputs.size() && inputs[node.input].port == node.port) return;
  refuse("PORT_DERIVATION_INPUT_FOREIGN", port,
         "its slot bytes are derived from an input that this operator has not declared; declare "
         "the input first");
}

void check_byte_span(const std::string& port, const TensorOutputSpec& tensor,
                     const TensorByteSpanExpression& bytes,
                     const std::vector<InputDeclaration>& inputs) {
  if (tensor.bounds.max_byte_span) {
    refuse("PORT_DERIVATION_CONFLICT", port,
           "max_byte_span is stated as " + std::to_string(*tensor.bounds.max_byte_span) +
               " and derived as well; keep one of them");
  }
  if (!bytes.valid()) {
    refuse("PORT_DERIVATION_INVALID", port,
           "the formula of its slot bytes can't be used: " +
               std::string(tensor_byte_span_invalid_text(bytes.invalid_reason())));
  }
  for (const TensorByteSpanNode& node : bytes.nodes()) check_node(port, tensor, node, inputs);
}

void check_memory_kind(const std::string& port, const TensorOutputSpec& tensor,
                       const TensorMemoryKindExpression& kind) {
  if (const auto& stated = tensor.representation.memory_kind) {
    refuse("PORT_DERIVATION_CONFLICT", port,
           "its memory kind is stated as " + std::string(memory_kind_name(*stated)) +
               " and derived as well; keep one of them");
  }
  if (kind.valid()) return;
  refuse("PORT_DERIVATION_INVALID", port,
         "the memory kind of parameter " + kind.parameter().field.path + " can't be used: " +
             std::string(tensor_memory_kind_invalid_text(kind.invalid_reason())));
}

}  // namespace

void check_derivations(const std::string& port, const TensorOutputSpec& tensor,
                       const TensorOutputDerivations& derivations,
                       const std::vector<InputDeclaration>& inputs) {
  if (!derivations.any()) return;
  if (tensor.storage != TensorOutputStorage::kRuntimePool) {
    refuse("PORT_DERIVATION_WITHOUT_POOL", port,
           "slot bytes and memory kind are derived for a pool, and the output passes through; set "
           "storage to TensorOutputStorage::kRuntimePool");
  }
  if (derivations.byte_span) check_byte_span(port, tensor, *derivations.byte_span, inputs);
  if (derivations.memory_kind) check_memory_kind(port, tensor, *derivations.memory_kind);
}

}  // namespace weftline
