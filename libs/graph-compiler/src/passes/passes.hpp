// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile_state.hpp"

namespace weftline::passes {

// The passes of compile(), in the order in which they run. What each needs and adds stands at the
// head of its file.

void snapshot(CompileState& state);
void resolve_structure(CompileState& state);
void resolve_ports(CompileState& state);
void check_flows(CompileState& state);
void resolve_parameters(CompileState& state);
void resolve_contracts(CompileState& state);
void resolve_selections(CompileState& state);
void derive_memory_kinds(CompileState& state);
void check_tensors(CompileState& state);
void resolve_boundaries(CompileState& state);
void resolve_green_contexts(CompileState& state);
void place_devices(CompileState& state);
void partition(CompileState& state);
void place_threads(CompileState& state);
void check_regions(CompileState& state);
void assign_streams(CompileState& state);
void prove_fusion(CompileState& state);
void derive_byte_spans(CompileState& state);
void resolve_rates(CompileState& state);
void size_queues(CompileState& state);
void size_pools(CompileState& state);
void check_profile(CompileState& state);
void freeze_lifecycle(CompileState& state);
void freeze_endpoints(CompileState& state);
void seal(CompileState& state);

}  // namespace weftline::passes
