// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <ostream>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weftline/core/error.hpp"

// What a test says of an expected. Functions, and not macros, so that a suite of hundreds of calls
// compiles in reasonable time. For the thread that runs the test: Catch2's assertions are.

namespace weftline::testing {

/// The value, or a failed test that says where and what came instead.
template <class T>
T must(expected<T, Error> result, std::source_location where = std::source_location::current()) {
  if (!result) {
    FAIL(where.file_name() << ':' << where.line() << ": " << result.error().to_string());
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

/// The code and token of an error that has to be there.
struct Refusal {
  ErrorCode code;
  std::string_view token;
  friend bool operator==(const Refusal&, const Refusal&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << error_code_name(refusal.code) << " [" << refusal.token << "]";
  }
};

template <class T>
Refusal refusal(const expected<T, Error>& result,
                std::source_location where = std::source_location::current()) {
  if (result) {
    FAIL(where.file_name() << ':' << where.line() << ": succeeded where an error was due");
  }
  return {result.error().code, result.error().token};
}

template <class T>
void require_refused(const expected<T, Error>& result, ErrorCode code, std::string_view token,
                     std::source_location where = std::source_location::current()) {
  INFO(where.file_name() << ':' << where.line());
  CHECK(refusal(result, where) == Refusal{code, token});
}

}  // namespace weftline::testing
