// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>
#include <utility>

namespace weftline {

/// A value or an error. Every fallible operation returns one; nothing throws across a library.
template <class T, class E>
using expected = tl::expected<T, E>;

using tl::make_unexpected;

/// Passes the error of a failed `expected` on as the result of the calling function.
template <class T, class E>
[[nodiscard]] auto forward_error(expected<T, E>&& failed) {
  return tl::unexpected<E>(std::move(failed).error());
}

}  // namespace weftline

#define WEFTLINE_CONCAT_INNER(a, b) a##b
#define WEFTLINE_CONCAT(a, b) WEFTLINE_CONCAT_INNER(a, b)

/// Returns the error of `expression` from the calling function, or goes on. `expression` is an
/// `expected<void, Error>` (or one whose value is not needed).
#define WEFTLINE_TRY(expression) \
  WEFTLINE_TRY_INNER(expression, WEFTLINE_CONCAT(weftline_result_, __COUNTER__))
#define WEFTLINE_TRY_INNER(expression, result)                        \
  do {                                                                \
    auto result = (expression);                                       \
    if (!result) return ::weftline::forward_error(std::move(result)); \
  } while (false)

/// `WEFTLINE_ASSIGN(auto x, f())` declares `x` with the value of `f()`, or returns its error.
#define WEFTLINE_ASSIGN(declaration, expression) \
  WEFTLINE_ASSIGN_INNER(declaration, expression, WEFTLINE_CONCAT(weftline_result_, __COUNTER__))
#define WEFTLINE_ASSIGN_INNER(declaration, expression, result)      \
  auto result = (expression);                                       \
  if (!result) return ::weftline::forward_error(std::move(result)); \
  declaration = std::move(*result)
