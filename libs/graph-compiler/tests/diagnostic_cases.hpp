// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "test_graph.hpp"

namespace weftline {

/// A mistake, and what is said about it, word by word.
struct DiagnosticCase {
  std::string_view name;
  TestGraph graph;
  std::string_view diagnostics;
};

// One function for each area, in a file of its own; diagnostics_test.cpp checks them all and that
// together they provoke every token.

std::vector<DiagnosticCase> authoring_diagnostic_cases();
std::vector<DiagnosticCase> boundary_diagnostic_cases();
std::vector<DiagnosticCase> derivation_diagnostic_cases();
std::vector<DiagnosticCase> temporal_diagnostic_cases();

template <class Change>
TestGraph changed(TestGraph graph, Change change) {
  change(graph);
  return graph;
}

}  // namespace weftline
