// SPDX-License-Identifier: Apache-2.0
// More values than a field can list.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::radius>("radius").allowed_values(
                          {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                           17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                           34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,
                           51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64}));
