// SPDX-License-Identifier: Apache-2.0
// Durations are in nanoseconds, so that a change of unit changes no document.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  std::chrono::milliseconds age{1};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::age>("age"));
