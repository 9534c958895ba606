// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/selection.hpp"

struct Params {
  double age{1.0};
};
WEFTLINE_PARAM_SCHEMA(Params, weftline::param_schema("com.example.Params", 1),
                      weftline::field<&Params::age>("age"));

// An age of so many seconds, as a float.
weftline::LatestWithin mistake() { return {.max_age = weftline::param_ref<&Params::age>()}; }
