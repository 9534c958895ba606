// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/diagnostic.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace weftline {
namespace {

Diagnostic error_at(std::string place) {
  return {DiagnosticSeverity::kError, "GRAPH_CYCLE", std::move(place), "it goes round", "cut it"};
}

TEST_CASE("tokens are sorted, each once, each with a meaning") {
  const auto tokens = diagnostic_tokens();
  CHECK_FALSE(tokens.empty());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    INFO(tokens[i].token);
    if (i > 0) CHECK(tokens[i - 1].token < tokens[i].token);
    CHECK_FALSE(tokens[i].meaning.empty());
    CHECK(std::ranges::all_of(tokens[i].token,
                              [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }));
  }
}

TEST_CASE("a diagnostic is one line: severity, token, place, message, fix") {
  CHECK(format_diagnostic(error_at("a.out")) ==
        "error GRAPH_CYCLE at a.out: it goes round. Fix: cut it");
  CHECK(format_diagnostic({DiagnosticSeverity::kWarning, "T", "", "m", ""}) == "warning T: m");
}

TEST_CASE("hostile text stays on its line") {
  const Diagnostic hostile{DiagnosticSeverity::kError, "T", "a\nb", "\x1b[2J\x7f\xff\xc2\x85", ""};
  CHECK(format_diagnostic(hostile) == "error T at a\\x0ab: \\x1b[2J\\x7f\\xff\\xc2\\x85");
}

TEST_CASE("only valid UTF-8 passes") {
  const auto shown = [](std::string message) {
    return format_diagnostic({DiagnosticSeverity::kError, "T", "", std::move(message), ""});
  };
  CHECK(shown("→ é 𝄞") == "error T: → é 𝄞");
  CHECK(shown("\xc0\xaf") == "error T: \\xc0\\xaf");
  CHECK(shown("\xe0\x80\xaf") == "error T: \\xe0\\x80\\xaf");
  CHECK(shown("\xed\xa0\x80") == "error T: \\xed\\xa0\\x80");
  CHECK(shown("\xf4\x90\x80\x80") == "error T: \\xf4\\x90\\x80\\x80");
  CHECK(shown("\xe2\x82") == "error T: \\xe2\\x82");
}

TEST_CASE("a report has errors first, each under its number in the plan") {
  const std::vector<Diagnostic> diagnostics{
      {DiagnosticSeverity::kWarning, "W", "x", "hm", ""}, error_at("b"), error_at("c")};
  CHECK(format_diagnostics(diagnostics) ==
        "[1] error GRAPH_CYCLE at b: it goes round. Fix: cut it\n"
        "[2] error GRAPH_CYCLE at c: it goes round. Fix: cut it\n"
        "[0] warning W at x: hm\n");
  CHECK(format_diagnostics({}).empty());
}

TEST_CASE("a report ends at 16,384 bytes and says how many are left out") {
  const std::vector<Diagnostic> many(5'000, error_at("a.out"));
  const std::string report = format_diagnostics(many);
  CHECK(report.size() <= 16'384);
  CHECK(report.size() > 16'000);
  const auto shown = static_cast<std::size_t>(std::ranges::count(report, '\n')) - 1;
  CHECK(report.ends_with("… and " + std::to_string(5'000 - shown) + " more\n"));
}

TEST_CASE("one huge diagnostic leaves room for the others") {
  const std::vector<Diagnostic> two{error_at(std::string(65'536, 'x')), error_at("b")};
  const std::string report = format_diagnostics(two);
  CHECK(report.find("[1] error GRAPH_CYCLE at b") != std::string::npos);
  CHECK(report.size() < 4'000);
}

}  // namespace
}  // namespace weftline
