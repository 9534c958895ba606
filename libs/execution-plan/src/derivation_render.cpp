// SPDX-License-Identifier: Apache-2.0
#include "derivation_render.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "plan_names.hpp"
#include "text.hpp"
#include "text_table.hpp"

namespace weftline {
namespace {

using Operation = TensorByteSpanOperation;

/// A formula is a tree, but records may come from anywhere: one that names a node twice at every
/// level would otherwise double with each.
constexpr std::size_t kMaximumTermCodePoints = 320;

std::string show_number(std::uint64_t value) {
  return value == 0 ? "unknown" : std::to_string(value);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : ", ").append(part);
  return text;
}

/// The formulas of earlier nodes are in `terms`.
class Terms {
 public:
  Terms(const PlanRecords& records, const TensorByteSpanDerivationPlanRecord& derivation)
      : records_(records), derivation_(derivation) {
    for (const auto& node : derivation_.nodes) {
      terms_.push_back(shorten(one_line(show(node)), kMaximumTermCodePoints));
    }
  }
  [[nodiscard]] std::string root() const { return terms_.empty() ? "?" : terms_.back(); }

 private:
  [[nodiscard]] std::string term(const std::optional<std::uint32_t>& index) const {
    return index && *index < terms_.size() ? terms_[*index] : "?";
  }
  [[nodiscard]] std::string input(const std::optional<std::uint32_t>& index) const {
    return index ? records_.input_name({derivation_.output.vertex, *index}) : "?";
  }
  [[nodiscard]] std::string show(const TensorByteSpanDerivationNodePlanRecord& node) const {
    std::string value = show_number(node.resolved_value);
    const std::string left = term(node.left);
    switch (node.operation) {
      case Operation::kLiteral:
        return value;
      case Operation::kParameterContiguous:
        return "packed(" + joined(node.parameters) + ": " + value + ")";
      case Operation::kInputMaximum:
        return "largest(" + input(node.input) + ": " + value + ")";
      case Operation::kParameterProjected:
        return node.projection_id + "(" + joined(node.parameters) + ": " + value + ")";
      case Operation::kMultiply:
        return "(" + left + " * " + term(node.right) + ")";
      case Operation::kCeilingDivide:
        return "ceil(" + left + " / " + term(node.right) + ")";
      case Operation::kMaximum:
        return "max(" + left + ", " + term(node.right) + ")";
      case Operation::kAlign:
        return "align(" + left + ", " + show_number(node.operand.value_or(0)) + ")";
    }
    return "?";
  }

  const PlanRecords& records_;
  const TensorByteSpanDerivationPlanRecord& derivation_;
  std::vector<std::string> terms_{};
};

void render_byte_spans(std::string& out, const PlanRecords& records) {
  TextTable table({{"output"}, {"slot bytes", TextTable::Align::kRight}, {"may change"}});
  for (const auto& derivation : records.tensor_byte_span_derivations) {
    const std::string output = records.output_name(derivation.output);
    const std::string bytes = show_number(derivation.resolved_bytes);
    table.add_row({output, bytes, std::string(derivation_update_name(derivation.update))});
    std::string note = "slot bytes of ";
    note.append(output).append(" = ").append(Terms(records, derivation).root());
    table.add_note(note.append(" = ").append(bytes));
  }
  out.append("\nDerived slot bytes\n").append(table.to_string());
}

void render_memory_kinds(std::string& out, const PlanRecords& records) {
  TextTable table({{"output"}, {"memory"}, {"parameter"}, {"value"}, {"may change"}});
  for (const auto& derivation : records.tensor_memory_kind_derivations) {
    table.add_row({records.output_name(derivation.output),
                   derivation.kind ? std::string(memory_kind_name(*derivation.kind)) : "unknown",
                   derivation.parameter, derivation.value.empty() ? "unknown" : derivation.value,
                   std::string(derivation_update_name(derivation.update))});
  }
  out.append("\nDerived memory kinds\n").append(table.to_string());
}

}  // namespace

void render_derivations(std::string& out, const PlanRecords& records) {
  if (!records.tensor_byte_span_derivations.empty()) render_byte_spans(out, records);
  if (!records.tensor_memory_kind_derivations.empty()) render_memory_kinds(out, records);
}

}  // namespace weftline
