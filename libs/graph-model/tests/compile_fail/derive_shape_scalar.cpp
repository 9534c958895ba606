// SPDX-License-Identifier: Apache-2.0
// A number in place of a shape.
#include "weftline/graph/tensor_derivations.hpp"

using namespace weftline;

struct Batch {
  std::uint64_t width{3};
  std::uint32_t kind{1};
  std::array<float, 2> scale{};
};
WEFTLINE_PARAM_SCHEMA(Batch, param_schema("com.example.Batch", 1), field<&Batch::width>("width"),
                      field<&Batch::kind>("kind"), field<&Batch::scale>("scale"));

const auto kBytes = parameter_contiguous_byte_span(param_ref<&Batch::width>());
