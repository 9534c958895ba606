// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_contract_conflicts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace weftline;

namespace {

constexpr DLDataType kUInt8{kDLUInt, 8, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};

}  // namespace

TEST_CASE("ends of a flow conflict only where both state a fact") {
  const TensorOutputSpec produced{
      .representation = {.memory_kind = MemoryKind::kHost, .dtype = kUInt8, .rank = 2}};
  const TensorInputSpec open{.representation = {.rank = 2}};
  CHECK(tensor_contract_conflicts(produced, open).empty());
  CHECK(tensor_contract_conflicts(produced, std::nullopt).empty());
  CHECK(tensor_contract_conflicts(std::nullopt, open).empty());
  CHECK(tensor_contract_conflicts(TensorOutputSpec{}, open).empty());
  CHECK(tensor_contract_conflicts(
            produced, TensorInputSpec{.representation = {.dtype = kFloat32, .rank = 0}}) ==
        "the output states dtype uint8, the input float32; the output states rank 2, the input 0");
}
