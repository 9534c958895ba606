// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "weftline/core/error.hpp"

namespace weftline::channel {

/// The error of a failed system call: what was tried, the system's reason, and a hint. Cold path.
[[nodiscard]] inline auto system_failure(std::string_view token, const std::string& what,
                                         int error_number, std::string_view hint = {}) {
  std::string message = what + ": " + std::generic_category().message(error_number);
  if (!hint.empty()) message.append("; ").append(hint);
  return fail(ErrorCode::kFailure, token, std::move(message));
}

}  // namespace weftline::channel
