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

/// Where a schema was seen.
struct Seen {
  const std::string* path;
  const ParamSetPlanRecord* parameters;
};

/// Plans tell schemas apart by id and version. Texts for people may differ.
void check_conflict(CompileState& state, const Seen& at, const Seen& first) {
  const ParamSetPlanRecord& here = *at.parameters;
  const ParamSetPlanRecord& there = *first.parameters;
  const auto compare = [&](std::string_view what, const ParamSchemaHash& a,
                           const ParamSchemaHash& b) {
    if (a == b) return;
    state.error("PARAM_SCHEMA_CONFLICT", *at.path,
                "schema " + here.schema_id + " v" + std::to_string(here.schema_version) +
                    " has the " + std::string(what) + " hash " + digest_text(a) + " here, " +
                    digest_text(b) + " at " + *first.path,
                "give each struct an id of its own, and a changed struct a new version");
  };
  compare("structural", here.structural_hash, there.structural_hash);
  compare("contract", here.contract_hash, there.contract_hash);
}

}  // namespace

void resolve_parameters(CompileState& state) {
  std::map<std::pair<std::string_view, std::uint32_t>, Seen> seen;
  for (OperatorPlanRecord& op : state.plan.operators) {
    const ParamSet& params = state.graph.vertices[op.id.value].params;
    op.parameters = params.record();
    const auto& record = op.parameters;
    if (!record) continue;
    check_values(state, op, params);
    const Seen here{&op.path, &*record};
    const auto [first, is_new] =
        seen.try_emplace({record->schema_id, record->schema_version}, here);
    if (!is_new) check_conflict(state, here, first->second);
  }
}

}  // namespace weftline::passes
