// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/plan/plan_json.hpp"

int main() {
  std::cout << weftline::plan_digest(weftline::PlanRecords{}) << '\n';
  return 0;
}
