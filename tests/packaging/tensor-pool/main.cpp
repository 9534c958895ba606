// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/tensor/tensor_pool.hpp"

int main() {
  const auto pool =
      weftline::TensorPool::build({.name = "consumer", .slot_bytes = 64, .slot_count = 2});
  if (!pool) {
    std::cout << pool.error().message << '\n';
    return 1;
  }
  std::cout << pool->usage().slot_count << " slots\n";
  return 0;
}
