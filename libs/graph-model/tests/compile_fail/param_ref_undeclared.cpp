// SPDX-License-Identifier: Apache-2.0
// A reference to a member that the schema does not name.
#include "weftline/graph/param_ref.hpp"

struct Blur {
  std::uint32_t radius{3};
  std::uint32_t passes{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::radius>("radius"));

const auto kPasses = weftline::param_ref<&Blur::passes>();
