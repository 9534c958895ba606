// SPDX-License-Identifier: Apache-2.0
// Two mutabilities.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(
    Blur, weftline::param_schema("com.example.Blur", 1),
    weftline::field<&Blur::radius>("radius").recompile_required().runtime_mutable());
