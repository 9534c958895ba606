// SPDX-License-Identifier: Apache-2.0
// An enum by numbers only.
#include "weftline/graph/param_schema.hpp"

enum class Edge { kWrap, kClamp };
struct Blur {
  Edge edge{};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::edge>("edge"));
