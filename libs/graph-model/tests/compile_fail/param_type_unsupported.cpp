// SPDX-License-Identifier: Apache-2.0
// A type that no document can hold.
#include "weftline/graph/param_schema.hpp"

struct Blur {
  void* data{nullptr};
};
WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
                      weftline::field<&Blur::data>("data"));
