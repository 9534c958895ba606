// SPDX-License-Identifier: Apache-2.0
// A range with an end that is no number.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  double sigma{0};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::sigma>("sigma").range(__builtin_nan(""), 1));
