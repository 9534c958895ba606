// SPDX-License-Identifier: Apache-2.0
// A validator that may throw.
#include "weftline/graph/param_schema.hpp"

bool odd(const std::uint32_t& value);
struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::radius>("radius").validator(&odd, "be odd"));
