// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weftline/core/expected.hpp"

namespace weftline {

/// What happened, for code to branch on. The list only grows at its end.
enum class ErrorCode : std::uint8_t {
  kFailure = 0,
  kInvalidArgument,
  kNotFound,
  kNotSupported,
  kNotReady,           ///< Retryable: nothing there yet, nobody attached yet.
  kBackpressured,      ///< Retryable: a bounded queue is full.
  kResourceExhausted,  ///< A finite pool, limit or budget is used up.
  kPermissionDenied,   ///< A write to something that is read-only.
  kProtocolError,      ///< Received data does not have the layout that was agreed.
  kCodecError,
  kClosed,  ///< End of stream, or the object was closed or moved from.
  kTimeout,
  kInterrupted,               ///< A stop token ended the wait.
  kStaleEndpoint,             ///< The peer was replaced by a new incarnation.
  kPublicationPartial,        ///< Some recipients have the sample. Never retry.
  kPublicationIndeterminate,  ///< Unknown who has the sample. Never retry.
  kArithmeticOverflow,
  kDuplicateName,
  kIncompatible,  ///< Two contracts differ (type, version, layout, capacity).
  kAbandoned,     ///< The writer of this data died before it was complete.
};

inline constexpr std::size_t kErrorCodeCount = static_cast<std::size_t>(ErrorCode::kAbandoned) + 1;

/// The enumerator's spelling, e.g. "kNotReady"; "kUnknown" for a value outside the enum.
[[nodiscard]] std::string_view error_code_name(ErrorCode code) noexcept;

/// True for the two codes after which the same call may be tried again with the same sample.
[[nodiscard]] constexpr bool is_retryable(ErrorCode code) noexcept {
  return code == ErrorCode::kNotReady || code == ErrorCode::kBackpressured;
}

/// A refusal as data. On the path of a frame `message` is empty and nothing is allocated; elsewhere
/// it names the place, both sides' values, and what to change.
struct [[nodiscard]] Error {
  ErrorCode code{ErrorCode::kFailure};
  /// Stable name of this very refusal, e.g. "TENSOR_STREAM_FOREIGN". Points to static storage.
  std::string_view token{};
  std::string message{};
  /// Identifies the originating failure when errors are passed on; 0 when unused.
  std::uint64_t provenance{0};

  /// One line for a person: "kNotFound [CATALOG_ENDPOINT_UNKNOWN]: …".
  [[nodiscard]] std::string to_string() const;
};

/// Shorthand for the cold path.
[[nodiscard]] inline auto fail(ErrorCode code, std::string_view token, std::string message = {}) {
  return make_unexpected(Error{code, token, std::move(message), 0});
}

/// What authoring calls throw: a mistake in composing a graph, at the exact call.
class RuntimeError : public std::runtime_error {
 public:
  explicit RuntimeError(Error error);
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] ErrorCode code() const noexcept { return error_.code; }
  [[nodiscard]] std::string_view token() const noexcept { return error_.token; }

 private:
  Error error_;
};

}  // namespace weftline
