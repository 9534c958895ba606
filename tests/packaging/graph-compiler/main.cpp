// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/compile/compile.hpp"

int main() {
  const auto plan = weftline::compile(weftline::Graph("consumer"));
  std::cout << plan.digest() << '\n';
  return 0;
}
