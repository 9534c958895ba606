// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {
namespace {

/// Empty texts are facts that a record does not have.
JsonText stated(const std::string& value) { return value.empty() ? JsonText() : text(value); }

}  // namespace

JsonText json(const TensorByteSpanDerivationNodePlanRecord& node) {
  JsonArrayText parameters;
  for (const std::string& path : node.parameters) parameters.push_back(text(path));
  return Object{{"input", optional(node.input)},
                {"left", optional(node.left)},
                {"operand", optional(node.operand)},
                {"operation", byte_span_operation_name(node.operation)},
                {"parameters", std::move(parameters)},
                {"projection_id", stated(node.projection_id)},
                {"resolved_value", known(node.resolved_value)},
                {"right", optional(node.right)},
                {"schema_id", stated(node.schema_id)},
                {"schema_version", known(node.schema_version)}};
}

JsonText json(const TensorByteSpanDerivationPlanRecord& derivation) {
  return Object{{"nodes", list(derivation.nodes)},
                {"output", json(derivation.output)},
                {"resolved_bytes", known(derivation.resolved_bytes)},
                {"update", derivation_update_name(derivation.update)}};
}

JsonText json(const TensorMemoryKindDerivationPlanRecord& derivation) {
  return Object{{"form", memory_kind_form_name(derivation.form)},
                {"memory_kind", optional(derivation.kind)},
                {"output", json(derivation.output)},
                {"parameter", text(derivation.parameter)},
                {"schema_id", text(derivation.schema_id)},
                {"schema_version", derivation.schema_version},
                {"update", derivation_update_name(derivation.update)},
                {"value", stated(derivation.value)}};
}

}  // namespace weftline
