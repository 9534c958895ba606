// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators.
// Adds: each operator's parameters (schema, hashes, values but the sensitive ones); errors for
// values that the schema does not admit, for required ones that were not given, and for two structs
// that go by one schema id and version.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "passes/passes.hpp"
#include "weftline/core/digest.hpp"

namespace weftline::passes {
namespace {

void check_values(CompileState& state, const OperatorPlanRecord& op, const ParamSet& params) {
  for (ParamFinding& finding : params.findings()) {
    const bool missing = finding.token == "PARAM_FIELD_MISSING";
    state.error(missing ? "PARAM_FIELD_MISSING" : "PARAM_VALIDATION_FAILED",
                op.path + " parameter " + finding.path, std::move(finding.message),
                std::move(finding.fix));
  }
}

/// Plans tell schemas apart by id and version. Texts for people may differ.
void check_conflict(CompileState& state, const OperatorPlanRecord& op,
                    const OperatorPlanRecord& other) {
  const ParamSetPlanRecord& here = *op.parameters;
  const ParamSetPlanRecord& there = *other.parameters;
  const auto compare = [&](std::string_view what, const ParamSchemaHash& a,
                           const ParamSchemaHash& b) {
    if (a == b) return;
    state.error("PARAM_SCHEMA_CONFLICT", op.path,
                "schema " + here.schema_id + " v" + std::to_string(here.schema_version) +
                    " has the " + std::string(what) + " hash " + digest_text(a) + " here, " +
                    digest_text(b) + " at " + other.path,
                "give each struct an id of its own, and a changed struct a new version");
  };
  compare("structural", here.structural_hash, there.structural_hash);
  compare("contract", here.contract_hash, there.contract_hash);
}

}  // namespace

void resolve_parameters(CompileState& state) {
  std::map<std::pair<std::string_view, std::uint32_t>, const OperatorPlanRecord*> first_of;
  for (OperatorPlanRecord& op : state.plan.operators) {
    const ParamSet& params = state.graph.vertices[op.id.value].params;
    op.parameters = params.record();
    if (!op.parameters) continue;
    check_values(state, op, params);
    const auto [first, is_new] =
        first_of.try_emplace({op.parameters->schema_id, op.parameters->schema_version}, &op);
    if (!is_new) check_conflict(state, op, *first->second);
  }
}

}  // namespace weftline::passes
