// SPDX-License-Identifier: Apache-2.0
// Versions count from 1.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 0),
                      weftline::field<&Blur::radius>("radius"));
