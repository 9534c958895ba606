// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/core/rate.hpp"

int main() {
  const auto third = weftline::Rational::make(2, 6);
  std::cout << (third ? third->to_string() : third.error().message) << '\n';
  return third && third->denominator() == 3 ? 0 : 1;
}
