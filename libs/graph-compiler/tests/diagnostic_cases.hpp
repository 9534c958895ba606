// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "test_graph.hpp"

namespace weftline {

/// A mistake, and all that the compiler says about it.
struct DiagnosticCase {
  std::string_view name;
  TestGraph graph;
  std::string_view diagnostics;
};

// The mistakes of one subject each, in a file of their own; diagnostics_test.cpp checks them all,
// and that together they provoke every registered token.

std::vector<DiagnosticCase> authoring_diagnostic_cases();  // diagnostics_authoring_test.cpp

}  // namespace weftline
