// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/graph/graph.hpp"

int main() {
  const weftline::Graph graph("consumer");
  std::cout << graph.name() << '\n';
  return 0;
}
