// SPDX-License-Identifier: Apache-2.0
// Only scalars change while an operator runs.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  std::string name{};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::name>("name").runtime_mutable());
