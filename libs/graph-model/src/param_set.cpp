// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_set.hpp"

#include "param_findings.hpp"
#include "param_text.hpp"
#include "weftline/graph/param_json.hpp"

namespace weftline {
namespace {

ParamFieldPlanRecord record_of(const ParamFieldDescriptor& field, const void* values) {
  ParamFieldPlanRecord record;
  record.path = field.path;
  record.hash = field.hash;
  record.type = param_type_name(field.type);
  if (!field.sensitive) record.value = params::encode(field, field.read(values));
  record.unit = field.unit;
  if (field.minimum) record.minimum = params::scalar_json(field, *field.minimum);
  if (field.maximum) record.maximum = params::scalar_json(field, *field.maximum);
  for (const auto& choice : field.choices) {
    record.choices.push_back(params::scalar_json(field, choice.value));
  }
  record.mutability = field.mutability;
  record.stage = field.stage;
  record.sensitive = field.sensitive;
  return record;
}

}  // namespace

std::vector<ParamFinding> ParamSet::findings() const {
  params::Findings findings;
  if (schema_ == nullptr) return {};
  for (const ParamFieldDescriptor& field : schema_->fields()) {
    if (field.required && !given_) {
      findings.add("PARAM_FIELD_MISSING", field.path,
                   "the field is required, and the operator was given no parameters",
                   "call set_params() with a value for it");
    } else {
      params::check_field(field, values_.get(), findings);
    }
  }
  return std::move(findings).take();
}

std::optional<ParamSetPlanRecord> ParamSet::record() const {
  if (schema_ == nullptr) return std::nullopt;
  ParamSetPlanRecord record;
  record.schema_id = schema_->id();
  record.schema_version = schema_->version();
  record.structural_hash = schema_->structural_hash();
  record.contract_hash = schema_->contract_hash();
  record.metadata_hash = schema_->metadata_hash();
  for (const ParamFieldDescriptor& field : schema_->fields()) {
    record.fields.push_back(record_of(field, values_.get()));
  }
  return record;
}

}  // namespace weftline
