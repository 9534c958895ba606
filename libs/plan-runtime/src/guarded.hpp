// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "weftline/core/error.hpp"

namespace weftline::runtime {

/// Runs code that may throw, a user's callback above all; an exception becomes an error with
/// `token`, for nothing is thrown across a lane or out of run_async().
template <class Callback>
expected<void, Error> guarded(std::string_view token, Callback&& callback) noexcept {
  try {
    return callback();
  } catch (const RuntimeError& error) {
    return make_unexpected(error.error());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kResourceExhausted, token, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::kFailure, token, error.what());
  } catch (...) {
    return fail(ErrorCode::kFailure, token, "an exception that is no std::exception");
  }
}

}  // namespace weftline::runtime
