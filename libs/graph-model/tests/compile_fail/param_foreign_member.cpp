// SPDX-License-Identifier: Apache-2.0
// A member of another struct.
#include "weftline/graph/param_schema.hpp"

struct Other {
  int x{0};
};
struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Other::x>("x"));
