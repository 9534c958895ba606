// SPDX-License-Identifier: Apache-2.0
//
// Needs: everything.
// Adds: the order of the diagnostics: by token, then place, then text, whichever pass found them.

#include <algorithm>
#include <tuple>

#include "passes/passes.hpp"

namespace weftline::passes {

void seal(CompileState& state) {
  std::ranges::sort(state.plan.diagnostics, {}, [](const Diagnostic& diagnostic) {
    return std::tie(diagnostic.token, diagnostic.place, diagnostic.message);
  });
}

}  // namespace weftline::passes
