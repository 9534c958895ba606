// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_refinement.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "derivation_test_params.hpp"
#include "weftline/graph/operator_spec.hpp"

using namespace weftline;

namespace {

constexpr DLDataType kUInt8{kDLUInt, 8, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};

OutputDeclaration pool(TensorOutputDerivations derivations = {}) {
  OutputDeclaration output;
  output.name = "out";
  output.tensor = TensorOutputSpec{.representation = {.memory_kind = MemoryKind::kHost, .rank = 3},
                                   .bounds = {.max_rank = 4, .max_byte_span = 100},
                                   .storage = TensorOutputStorage::kRuntimePool};
  if (derivations.byte_span) output.tensor->bounds.max_byte_span.reset();
  if (derivations.memory_kind) output.tensor->representation.memory_kind.reset();
  output.derivations = std::move(derivations);
  return output;
}

OutputDeclaration derived() {
  return pool({.byte_span = tensor_byte_span(100),
               .memory_kind = parameter_memory_kind(param_ref<&derive::Image::kind>())});
}

std::string token(const OutputDeclaration& declared, const TensorOutputSpec& refinement) {
  const auto refined = refine_tensor_output(declared, refinement);
  return refined ? std::string() : std::string(refined.error().token);
}

}  // namespace

TEST_CASE("a graph can state what setup() left open") {
  const auto refined = refine_tensor_output(pool(), {.representation = {.dtype = kUInt8}});
  REQUIRE(refined);
  CHECK(same_dtype(*refined->representation.dtype, kUInt8));
  CHECK(refined->representation.memory_kind == MemoryKind::kHost);
  CHECK(refined->representation.rank == 3U);
  CHECK(refined->bounds.max_byte_span == 100U);
  CHECK(refined->storage == TensorOutputStorage::kRuntimePool);
}

TEST_CASE("a graph can lower bounds and not raise them") {
  const auto refined =
      refine_tensor_output(pool(), {.bounds = {.max_rank = 3, .max_byte_span = 99}});
  REQUIRE(refined);
  CHECK(refined->bounds.max_byte_span == 99U);
  CHECK(refined->bounds.max_rank == 3U);
  CHECK(token(pool(), {.bounds = {.max_rank = 4, .max_byte_span = 100}}).empty());
  CHECK(token(pool(), {.bounds = {.max_byte_span = 101}}) == "TENSOR_OVERRIDE_WIDENS");
  CHECK(token(pool(), {.bounds = {.max_rank = 5}}) == "TENSOR_OVERRIDE_WIDENS");
  CHECK(token(pool(), {.bounds = {.max_byte_span = 0}}) == "TENSOR_OVERRIDE_WIDENS");
  const auto wider = refine_tensor_output(pool(), {.bounds = {.max_byte_span = 101}});
  REQUIRE_FALSE(wider);
  CHECK(wider.error().message == "output \"out\": the graph states max_byte_span 101, setup() 100");
}

TEST_CASE("a graph can't contradict what setup() states") {
  CHECK(token(pool(), {.representation = {.memory_kind = MemoryKind::kHost, .rank = 3}}).empty());
  CHECK(token(pool(), {.representation = {.rank = 2}}) == "TENSOR_OVERRIDE_CONFLICT");
  OutputDeclaration typed = pool();
  typed.tensor->representation.dtype = kUInt8;
  const auto refined = refine_tensor_output(
      typed,
      {.representation = {.memory_kind = MemoryKind::kCudaDevice, .dtype = kFloat32, .rank = 2}});
  REQUIRE_FALSE(refined);
  CHECK(refined.error().token == "TENSOR_OVERRIDE_CONFLICT");
  CHECK(refined.error().message ==
        "output \"out\": setup() states memory kind host, the graph cuda_device; setup() states "
        "dtype uint8, the graph float32; setup() states rank 3, the graph 2");
}

TEST_CASE("a graph removes no pool and adds none") {
  CHECK(refine_tensor_output(pool(), {})->storage == TensorOutputStorage::kRuntimePool);
  CHECK(token(pool(), {.storage = TensorOutputStorage::kRuntimePool}).empty());
  OutputDeclaration through;
  through.name = "out";
  CHECK(token(through, {.storage = TensorOutputStorage::kRuntimePool}) == "TENSOR_OVERRIDE_POOL");
  through.tensor = TensorOutputSpec{};
  CHECK(token(through, {.storage = TensorOutputStorage::kRuntimePool}) == "TENSOR_OVERRIDE_POOL");
  CHECK(refine_tensor_output(through, {.bounds = tensor_bounds(7)})->bounds.max_byte_span == 7U);
}

TEST_CASE("a derived pool is replaced, resized and moved by nobody, and may be narrowed") {
  CHECK(token(derived(), {.storage = TensorOutputStorage::kRuntimePool}) == "TENSOR_OVERRIDE_POOL");
  CHECK(token(derived(), {.bounds = tensor_bounds(50)}) == "TENSOR_OVERRIDE_POOL");
  CHECK(token(derived(), {.representation = {.memory_kind = MemoryKind::kHost}}) ==
        "TENSOR_OVERRIDE_POOL");
  const auto refined =
      refine_tensor_output(derived(), {.representation = {.dtype = kUInt8, .rank = 3}});
  REQUIRE(refined);
  CHECK(refined->storage == TensorOutputStorage::kRuntimePool);
  CHECK_FALSE(refined->bounds.max_byte_span);
  CHECK_FALSE(refined->representation.memory_kind);
  CHECK(token(derived(), {.representation = {.rank = 2}}) == "TENSOR_OVERRIDE_CONFLICT");
  // What is not derived stays the author's to narrow.
  CHECK(token(pool({.memory_kind = parameter_memory_kind(param_ref<&derive::Image::kind>())}),
              {.bounds = tensor_bounds(50)})
            .empty());
}

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
