// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/error.hpp"

#include <utility>

namespace weftline {

std::string_view error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kFailure:
      return "kFailure";
    case ErrorCode::kInvalidArgument:
      return "kInvalidArgument";
    case ErrorCode::kNotFound:
      return "kNotFound";
    case ErrorCode::kNotSupported:
      return "kNotSupported";
    case ErrorCode::kNotReady:
      return "kNotReady";
    case ErrorCode::kBackpressured:
      return "kBackpressured";
    case ErrorCode::kResourceExhausted:
      return "kResourceExhausted";
    case ErrorCode::kPermissionDenied:
      return "kPermissionDenied";
    case ErrorCode::kProtocolError:
      return "kProtocolError";
    case ErrorCode::kCodecError:
      return "kCodecError";
    case ErrorCode::kClosed:
      return "kClosed";
    case ErrorCode::kTimeout:
      return "kTimeout";
    case ErrorCode::kInterrupted:
      return "kInterrupted";
    case ErrorCode::kStaleEndpoint:
      return "kStaleEndpoint";
    case ErrorCode::kPublicationPartial:
      return "kPublicationPartial";
    case ErrorCode::kPublicationIndeterminate:
      return "kPublicationIndeterminate";
    case ErrorCode::kArithmeticOverflow:
      return "kArithmeticOverflow";
    case ErrorCode::kDuplicateName:
      return "kDuplicateName";
    case ErrorCode::kIncompatible:
      return "kIncompatible";
    case ErrorCode::kAbandoned:
      return "kAbandoned";
  }
  return "kUnknown";
}

std::string Error::to_string() const {
  std::string text(error_code_name(code));
  if (!token.empty()) text.append(" [").append(token).append("]");
  if (!message.empty()) text.append(": ").append(message);
  return text;
}

RuntimeError::RuntimeError(Error error)
    : std::runtime_error(error.to_string()), error_(std::move(error)) {}

}  // namespace weftline
