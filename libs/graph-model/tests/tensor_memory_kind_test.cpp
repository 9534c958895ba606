// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_memory_kind.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "derivation_test_params.hpp"

using namespace weftline;
using derive::Image;
using derive::Many;
using derive::Storage;
using Form = TensorMemoryKindExpressionForm;
using Reason = TensorMemoryKindExpressionInvalidReason;

namespace {

const auto kHostCase = memory_kind_case(Storage::kHost, MemoryKind::kHost);
const auto kPinnedCase = memory_kind_case(Storage::kPinned, MemoryKind::kPinnedHost);
const auto kDeviceCase = memory_kind_case(Storage::kDevice, MemoryKind::kCudaDevice);

Reason mapped(std::initializer_list<MemoryKindCase<Storage>> cases) {
  return parameter_memory_kind(param_ref<&Image::storage>(), cases).invalid_reason();
}

Reason many(std::size_t count) {
  std::vector<TensorMemoryKindExpression::Case> cases;
  for (std::size_t value = 0; value < count; ++value) {
    cases.push_back({ParamScalar(std::uint64_t{value}), MemoryKind::kHost});
  }
  return TensorMemoryKindExpression(Form::kMapped, ParamDependency::of(param_ref<&Image::many>()),
                                    cases)
      .invalid_reason();
}

}  // namespace

TEST_CASE("a table maps each value of an enum to a kind, in any order") {
  const auto kind =
      parameter_memory_kind(param_ref<&Image::storage>(), {kDeviceCase, kHostCase, kPinnedCase});
  CHECK(kind.valid());
  CHECK(kind.form() == Form::kMapped);
  CHECK(kind.parameter().field.path == "storage");
  CHECK(kind.parameter().schema_id == "com.example.Image");
  CHECK(kind.parameter().schema_version == 2);
  REQUIRE(kind.cases().size() == 3);
  CHECK(kind.cases()[0].kind == MemoryKind::kCudaDevice);
}

TEST_CASE("a table misses nothing, repeats nothing and adds nothing") {
  CHECK(mapped({kHostCase, kPinnedCase}) == Reason::kCaseMissing);
  CHECK(mapped({}) == Reason::kCaseMissing);
  CHECK(mapped({kHostCase, kPinnedCase, kDeviceCase, kHostCase}) == Reason::kCaseRepeated);
  CHECK(mapped({kHostCase, kPinnedCase, kDeviceCase,
                memory_kind_case(Storage::kHost, MemoryKind::kPinnedHost)}) ==
        Reason::kCaseRepeated);
  CHECK(mapped({kHostCase, kPinnedCase, kDeviceCase,
                memory_kind_case(static_cast<Storage>(9), MemoryKind::kHost)}) ==
        Reason::kCaseUnlisted);
}

TEST_CASE("no value leads to an unknown kind") {
  for (const auto kind : {MemoryKind::kUnknown, static_cast<MemoryKind>(99)}) {
    CHECK(mapped({kHostCase, kPinnedCase, memory_kind_case(Storage::kDevice, kind)}) ==
          Reason::kKindUnknown);
  }
}

TEST_CASE("a table for a bool has both values") {
  const auto no = memory_kind_case(false, MemoryKind::kHost);
  const auto yes = memory_kind_case(true, MemoryKind::kPinnedHost);
  const auto ref = param_ref<&Image::pinned>();
  CHECK(parameter_memory_kind(ref, {yes, no}).valid());
  CHECK(parameter_memory_kind(ref, {yes}).invalid_reason() == Reason::kCaseMissing);
  CHECK(parameter_memory_kind(ref, {yes, no, no}).invalid_reason() == Reason::kCaseRepeated);
}

TEST_CASE("a table has 64 cases at most") {
  CHECK(many(kMaximumTensorMemoryKindMappingCases) == Reason::kNone);
  CHECK(many(kMaximumTensorMemoryKindMappingCases + 1) == Reason::kTooManyCases);
  CHECK(many(kMaximumTensorMemoryKindMappingCases - 1) == Reason::kCaseMissing);
}

TEST_CASE("a parameter can be the kind itself, and never an unknown one") {
  const auto kind = parameter_memory_kind(param_ref<&Image::kind>());
  CHECK(kind.valid());
  CHECK(kind.form() == Form::kDirect);
  REQUIRE(kind.cases().size() == 2);
  CHECK(kind.cases()[1].kind == MemoryKind::kCudaDevice);
  CHECK(parameter_memory_kind(param_ref<&Image::any_kind>()).invalid_reason() ==
        Reason::kKindUnknown);
}

TEST_CASE("a parameter that may change or is secret places nothing") {
  CHECK(parameter_memory_kind(param_ref<&Image::moving_storage>(),
                              {kHostCase, kPinnedCase, kDeviceCase})
            .invalid_reason() == Reason::kParameterMayChange);
  CHECK(parameter_memory_kind(param_ref<&Image::secret_storage>(),
                              {kHostCase, kPinnedCase, kDeviceCase})
            .invalid_reason() == Reason::kParameterSensitive);
}

TEST_CASE("each mistake of a memory kind has words of its own") {
  CHECK(tensor_memory_kind_invalid_text(Reason::kNone).empty());
  for (int reason = 1; reason <= static_cast<int>(Reason::kParameterMayChange); ++reason) {
    CHECK(tensor_memory_kind_invalid_text(static_cast<Reason>(reason)).size() > 10);
  }
  CHECK(tensor_memory_kind_invalid_text(static_cast<Reason>(200)) == "it is invalid");
}
