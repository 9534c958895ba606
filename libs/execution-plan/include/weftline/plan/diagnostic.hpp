// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weftline {

enum class DiagnosticSeverity : std::uint8_t { kWarning = 0, kError };

/// One finding of the compiler. `token` is stable and registered in `diagnostic_tokens()`.
struct Diagnostic {
  DiagnosticSeverity severity{DiagnosticSeverity::kError};
  std::string token{};
  std::string
      place{};  ///< "detect/gray.frames", "source.frames -> detect.frames", "endpoint events"
  std::string message{};  ///< What is wrong, with both sides' values.
  std::string fix{};      ///< What to change.
};

/// A token and what it means.
struct DiagnosticToken {
  std::string_view token{};
  std::string_view meaning{};
};

/// Every token that a plan's diagnostics can carry, sorted.
[[nodiscard]] std::span<const DiagnosticToken> diagnostic_tokens() noexcept;

/// "error PLAN_TOKEN at place: message. Fix: …", one line.
[[nodiscard]] std::string format_diagnostic(const Diagnostic& diagnostic);
/// Errors before warnings, in order otherwise, numbered as in the plan; capped at 16,384 bytes with
/// the number left out.
[[nodiscard]] std::string format_diagnostics(std::span<const Diagnostic> diagnostics);

}  // namespace weftline
