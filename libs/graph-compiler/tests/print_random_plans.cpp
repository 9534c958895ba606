// SPDX-License-Identifier: Apache-2.0
//
// Prints the plans of random graphs, one a line, for exact_sizes_test.py.

#include <cstdlib>
#include <iostream>
#include <string>

#include "random_rates.hpp"
#include "weftline/core/json.hpp"

int main(int argc, char** argv) {
  const unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    const weftline::ExecutionPlan plan = weftline::random_rate_graph(seed).compile();
    std::cout << weftline::parse_json(plan.json()).value().dump() << '\n';
  }
  return std::cout.good() && count > 0 ? 0 : 1;
}
