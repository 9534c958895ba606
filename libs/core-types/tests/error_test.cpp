// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <string_view>

namespace weftline {
namespace {

expected<int, Error> half_of(int value) {
  if (value % 2 != 0) return fail(ErrorCode::kInvalidArgument, "ODD_NUMBER", "7 is odd");
  return value / 2;
}

expected<void, Error> require_even(int value) {
  WEFTLINE_TRY(half_of(value));
  return {};
}

expected<std::string, Error> quarter_text(int value) {
  WEFTLINE_ASSIGN(const int half, half_of(value));
  WEFTLINE_ASSIGN(const int quarter, half_of(half));
  return std::to_string(quarter);
}

TEST_CASE("every error code has a name of its own that is its spelling") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kErrorCodeCount; ++i) {
    const std::string_view name = error_code_name(static_cast<ErrorCode>(i));
    CHECK(name.starts_with('k'));
    CHECK(name != "kUnknown");
    names.insert(name);
  }
  CHECK(names.size() == kErrorCodeCount);
  CHECK(error_code_name(ErrorCode::kFailure) == "kFailure");
  CHECK(error_code_name(ErrorCode::kPublicationIndeterminate) == "kPublicationIndeterminate");
  CHECK(error_code_name(ErrorCode::kAbandoned) == "kAbandoned");
}

TEST_CASE("a value outside the enum is named kUnknown") {
  CHECK(error_code_name(static_cast<ErrorCode>(kErrorCodeCount)) == "kUnknown");
  CHECK(error_code_name(static_cast<ErrorCode>(255)) == "kUnknown");
}

TEST_CASE("only not-ready and backpressured may be retried") {
  for (std::size_t i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CHECK(is_retryable(code) ==
          (code == ErrorCode::kNotReady || code == ErrorCode::kBackpressured));
  }
}

TEST_CASE("an error prints as one line with what it has") {
  CHECK(Error{ErrorCode::kNotReady}.to_string() == "kNotReady");
  CHECK(Error{ErrorCode::kNotReady, "QUEUE_EMPTY"}.to_string() == "kNotReady [QUEUE_EMPTY]");
  CHECK(Error{ErrorCode::kNotFound, "X", "no endpoint 'a'", 3}.to_string() ==
        "kNotFound [X]: no endpoint 'a'");
}

TEST_CASE("a runtime error carries its error and prints like it") {
  const RuntimeError thrown(Error{ErrorCode::kDuplicateName, "GRAPH_NAME", "twice 'a'"});
  CHECK(thrown.code() == ErrorCode::kDuplicateName);
  CHECK(thrown.token() == "GRAPH_NAME");
  CHECK(std::string_view(thrown.what()) == thrown.error().to_string());
}

TEST_CASE("the macros pass an error on unchanged and go on after a value") {
  CHECK(require_even(4).has_value());
  CHECK(require_even(7).error().token == "ODD_NUMBER");
  CHECK(quarter_text(8).value() == "2");
  CHECK(quarter_text(7).error().message == "7 is odd");
  CHECK(quarter_text(6).error().code == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weftline
