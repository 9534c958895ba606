// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/runtime/run_session.hpp"

int main() {
  // Without the compiler there is no plan to run; an empty one ends, and says how.
  const auto session = weftline::run_async(weftline::ExecutionPlan({}, {}, {}));
  session.wait();
  std::cout << weftline::run_termination_name(session.termination()) << '\n';
  return 0;
}
