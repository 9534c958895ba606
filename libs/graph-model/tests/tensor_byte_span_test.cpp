// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_byte_span.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

#include "derivation_test_params.hpp"

using namespace weftline;
using derive::Image;
using Reason = TensorByteSpanExpressionInvalidReason;

namespace {

expected<std::uint64_t, Error> image_bytes(const Image& image) noexcept { return image.a; }
expected<std::uint64_t, Error> crop_bytes(const derive::Crop& crop) noexcept { return crop.width; }

template <class... Refs>
TensorByteSpanExpression projected(std::string id, const Refs&... refs) {
  return parameter_projected_byte_span<&image_bytes>(std::move(id), refs...);
}

/// A formula of 2 n - 1 nodes, as flat as possible.
TensorByteSpanExpression sum_of(std::size_t leaves) {
  if (leaves == 1) return tensor_byte_span(1);
  return sum_of(leaves / 2).multiplied_by(sum_of(leaves - leaves / 2));
}

TensorByteSpanExpression deep(std::size_t depth) {
  auto expression = tensor_byte_span(1);
  for (std::size_t level = 1; level < depth; ++level) expression = expression.aligned_to(2);
  return expression;
}

/// Inputs 0 to `count` - 1 of one operator, all in one formula.
TensorByteSpanExpression inputs(std::uint32_t count) {
  auto expression = tensor_byte_span(1);
  for (std::uint32_t index = 0; index < count; ++index) {
    Input<Tensor> port;
    port.declare(index);
    expression = expression.maximum_with(input_max_byte_span(port).detached());
  }
  return expression;
}

}  // namespace

TEST_CASE("a formula holds its steps, children first") {
  Input<Tensor> in;
  in.declare(3);
  const auto formula =
      input_max_byte_span(in).ceiling_divided_by(tensor_byte_span(4)).aligned_to(256);
  REQUIRE(formula.valid());
  REQUIRE(formula.nodes().size() == 4);
  CHECK(formula.nodes()[0].operation == TensorByteSpanOperation::kInputMaximum);
  CHECK(formula.nodes()[0].input == 3);
  CHECK(formula.nodes()[0].port == &in);
  CHECK(formula.detached().nodes()[0].port == nullptr);
  CHECK(formula.nodes()[1].operand == 4);
  CHECK(formula.nodes()[2].operation == TensorByteSpanOperation::kCeilingDivide);
  CHECK(formula.nodes()[2].left == 0);
  CHECK(formula.nodes()[2].right == 1);
  CHECK(formula.nodes()[3].operation == TensorByteSpanOperation::kAlign);
  CHECK(formula.nodes()[3].left == 2);
  CHECK(formula.nodes()[3].operand == 256);
}

TEST_CASE("both operands of an operation keep their own children") {
  const auto left = tensor_byte_span(1).multiplied_by(tensor_byte_span(2));
  const auto right = tensor_byte_span(3).maximum_with(tensor_byte_span(4));
  const auto both = left.multiplied_by(right);
  REQUIRE(both.nodes().size() == 7);
  CHECK(both.nodes()[5].left == 3);
  CHECK(both.nodes()[5].right == 4);
  CHECK(both.nodes()[6].left == 2);
  CHECK(both.nodes()[6].right == 5);
  CHECK(left.nodes().size() == 3);
}

TEST_CASE("a literal is 1 to 2^63-1 bytes") {
  CHECK(tensor_byte_span(1).valid());
  CHECK(tensor_byte_span(kMaximumTensorByteSpan).valid());
  CHECK(tensor_byte_span(0).invalid_reason() == Reason::kLiteralZero);
  CHECK(tensor_byte_span(kMaximumTensorByteSpan + 1).invalid_reason() == Reason::kLiteralTooLarge);
  CHECK(tensor_byte_span(~std::uint64_t{0}).invalid_reason() == Reason::kLiteralTooLarge);
}

TEST_CASE("an alignment is a power of two") {
  CHECK(tensor_byte_span(1).aligned_to(1).valid());
  CHECK(tensor_byte_span(1).aligned_to(std::uint64_t{1} << 63).valid());
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    CHECK(tensor_byte_span(1).aligned_to(wrong).invalid_reason() == Reason::kAlignmentInvalid);
  }
}

TEST_CASE("a mistake outlives further operations, the left one first") {
  const auto zero = tensor_byte_span(0);
  const auto crooked = tensor_byte_span(1).aligned_to(3);
  CHECK(zero.multiplied_by(tensor_byte_span(2)).invalid_reason() == Reason::kLiteralZero);
  CHECK(tensor_byte_span(2).maximum_with(zero).invalid_reason() == Reason::kLiteralZero);
  CHECK(crooked.ceiling_divided_by(zero).invalid_reason() == Reason::kAlignmentInvalid);
  CHECK(zero.ceiling_divided_by(crooked).invalid_reason() == Reason::kLiteralZero);
  CHECK(zero.aligned_to(8).invalid_reason() == Reason::kLiteralZero);
  CHECK(zero.aligned_to(8).nodes().empty());
  CHECK(zero.detached().invalid_reason() == Reason::kLiteralZero);
}

TEST_CASE("a formula has 32 nodes at most") {
  const auto most = sum_of(16).aligned_to(2);
  REQUIRE(most.nodes().size() == kMaximumTensorByteSpanExpressionNodes);
  CHECK(most.aligned_to(2).invalid_reason() == Reason::kTooManyNodes);
  CHECK(sum_of(17).invalid_reason() == Reason::kTooManyNodes);
}

TEST_CASE("a formula is 16 levels deep at most, on either side") {
  CHECK(deep(16).valid());
  CHECK(deep(17).invalid_reason() == Reason::kTooDeep);
  CHECK(tensor_byte_span(1).multiplied_by(deep(15)).valid());
  CHECK(tensor_byte_span(1).multiplied_by(deep(16)).invalid_reason() == Reason::kTooDeep);
  CHECK(deep(16).multiplied_by(tensor_byte_span(1)).invalid_reason() == Reason::kTooDeep);
}

TEST_CASE("a formula depends on 8 parameters and inputs at most, each counted once") {
  CHECK(inputs(8).valid());
  CHECK(inputs(9).invalid_reason() == Reason::kTooManyDependencies);
  const auto eight =
      projected("p", param_ref<&Image::a>(), param_ref<&Image::b>(), param_ref<&Image::c>(),
                param_ref<&Image::d>(), param_ref<&Image::e>(), param_ref<&Image::f>(),
                param_ref<&Image::g>(), param_ref<&Image::h>());
  CHECK(eight.valid());
  CHECK(eight.multiplied_by(eight).valid());
  CHECK(eight.multiplied_by(projected("q", param_ref<&Image::i>())).invalid_reason() ==
        Reason::kTooManyDependencies);
  CHECK(eight.multiplied_by(inputs(1)).invalid_reason() == Reason::kTooManyDependencies);
  CHECK(projected("p", param_ref<&Image::a>(), param_ref<&Image::b>(), param_ref<&Image::c>(),
                  param_ref<&Image::d>(), param_ref<&Image::e>(), param_ref<&Image::f>(),
                  param_ref<&Image::g>(), param_ref<&Image::h>(), param_ref<&Image::i>())
            .invalid_reason() == Reason::kTooManyDependencies);
}

TEST_CASE("paths through nested structs are dependencies of their own") {
  const auto seven =
      projected("p", param_ref<&Image::a>(), param_ref<&Image::b>(), param_ref<&Image::c>(),
                param_ref<&Image::d>(), param_ref<&Image::e>(), param_ref<&Image::f>(),
                param_ref<&Image::left, &derive::Crop::width>());
  const auto left = projected("q", param_ref<&Image::left, &derive::Crop::width>());
  const auto right = projected("r", param_ref<&Image::right, &derive::Crop::width>());
  CHECK(seven.multiplied_by(left).multiplied_by(right).valid());
  CHECK(seven.multiplied_by(right)
            .multiplied_by(projected("s", param_ref<&Image::i>()))
            .invalid_reason() == Reason::kTooManyDependencies);
}

TEST_CASE("a shape has 8 extents at most, by its type or its length()") {
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::shape>()).valid());
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::eight>()).valid());
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::too_many>()).invalid_reason() ==
        Reason::kTooManyExtents);
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::nine>()).invalid_reason() ==
        Reason::kTooManyExtents);
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::unbounded>()).invalid_reason() ==
        Reason::kTooManyExtents);
}

TEST_CASE("a parameter that may change or is secret sizes nothing") {
  CHECK(parameter_contiguous_byte_span(param_ref<&Image::secret>()).invalid_reason() ==
        Reason::kParameterSensitive);
  CHECK(projected("p", param_ref<&Image::a>(), param_ref<&Image::moving>()).invalid_reason() ==
        Reason::kParameterMayChange);
  CHECK(projected("p", param_ref<&Image::restarted>()).invalid_reason() ==
        Reason::kParameterMayChange);
}

TEST_CASE("the parameters of a formula belong to one struct") {
  const auto image = projected("p", param_ref<&Image::a>());
  const auto crop =
      parameter_projected_byte_span<&crop_bytes>("q", param_ref<&derive::Crop::width>());
  CHECK(crop.valid());
  CHECK(image.maximum_with(crop).invalid_reason() == Reason::kParametersOfTwoStructs);
}

TEST_CASE("a projector has an id and names a parameter") {
  CHECK(projected(std::string(128, 'x'), param_ref<&Image::a>()).valid());
  for (const std::string& id : {std::string(), std::string(129, 'x'), std::string("two words"),
                                std::string("line\n"), std::string("\xc3\xa9")}) {
    CHECK(projected(id, param_ref<&Image::a>()).invalid_reason() == Reason::kProjectionIdInvalid);
  }
  CHECK(projected("p").invalid_reason() == Reason::kProjectionWithoutParameters);
}

TEST_CASE("an input is declared before it is derived from") {
  const Input<Tensor> in;
  CHECK(input_max_byte_span(in).invalid_reason() == Reason::kInputUndeclared);
}

TEST_CASE("each mistake has words of its own") {
  CHECK(tensor_byte_span_invalid_text(Reason::kNone).empty());
  for (int reason = 1; reason <= static_cast<int>(Reason::kProjectionWithoutParameters); ++reason) {
    for (int other = 0; other < reason; ++other) {
      CHECK(tensor_byte_span_invalid_text(static_cast<Reason>(reason)) !=
            tensor_byte_span_invalid_text(static_cast<Reason>(other)));
    }
  }
  CHECK(tensor_byte_span_invalid_text(static_cast<Reason>(200)) == "it is invalid");
}
