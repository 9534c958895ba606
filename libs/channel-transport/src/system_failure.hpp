// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "weftline/core/error.hpp"

namespace weftline::channel {

inline constexpr std::string_view kOpenFilesHint = "raise the limit of open files (ulimit -n)";

/// True for what may be over in a moment: something is used up, in this process or the system.
[[nodiscard]] inline bool is_passing(int error_number) noexcept {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM ||
         error_number == ENOBUFS || error_number == EAGAIN;
}

/// The error of a failed system call: what was tried, the system's reason, and a hint.
/// kResourceExhausted when it is_passing(), else kFailure. Cold path.
[[nodiscard]] inline auto system_failure(std::string_view token, const std::string& what,
                                         int error_number, std::string_view hint = {}) {
  std::string message = what + ": " + std::generic_category().message(error_number);
  if (!hint.empty()) message.append("; ").append(hint);
  return fail(is_passing(error_number) ? ErrorCode::kResourceExhausted : ErrorCode::kFailure, token,
              std::move(message));
}

}  // namespace weftline::channel
