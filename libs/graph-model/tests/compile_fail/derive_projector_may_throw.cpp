// SPDX-License-Identifier: Apache-2.0
// A projector that may throw.
#include "weftline/graph/tensor_derivations.hpp"

using namespace weftline;

struct Batch {
  std::uint64_t width{3};
  std::uint32_t kind{1};
  std::array<float, 2> scale{};
};
WEFTLINE_PARAM_SCHEMA(Batch, param_schema("com.example.Batch", 1), field<&Batch::width>("width"),
                      field<&Batch::kind>("kind"), field<&Batch::scale>("scale"));

expected<std::uint64_t, Error> bytes(const Batch& batch) { return batch.width; }
const auto kBytes = parameter_projected_byte_span<&bytes>("b", param_ref<&Batch::width>());
