// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_finding.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "test_params.hpp"

using namespace weftline;

namespace {

/// "TOKEN path: message", of one finding.
template <class Change>
std::string finding(Change change) {
  app::All values;
  change(values);
  const auto findings = validate_params(values);
  if (findings.empty()) return {};
  REQUIRE(findings.size() == 1);
  const ParamFinding& found = findings.front();
  CHECK_FALSE(found.fix.empty());
  return std::string(found.token) + " " + found.path + ": " + found.message;
}

struct Secrets {
  int number{1};
  std::string word{"a"};
  double ratio{0};
  std::uint16_t even{0};
  std::vector<int> list{};
};
WEFTLINE_PARAM_SCHEMA(Secrets, param_schema("com.example.Secrets", 1),
                      field<&Secrets::number>("number").range(1, 10).sensitive(),
                      field<&Secrets::word>("word").allowed_values({"a", "b"}).sensitive(),
                      field<&Secrets::ratio>("ratio").sensitive(),
                      field<&Secrets::even>("even").validator(&app::is_even, "be even").sensitive(),
                      field<&Secrets::list>("list").range(0, 9).sensitive());

}  // namespace

TEST_CASE("defaults and the ends of a range are admitted") {
  CHECK(validate_params(app::All{}).empty());
  CHECK(validate_params(app::Nothing{}).empty());
  CHECK(finding([](auto& v) { v.small = -10; }).empty());
  CHECK(finding([](auto& v) { v.small = 10; }).empty());
  CHECK(finding([](auto& v) { v.age = std::chrono::milliseconds(10); }).empty());
  CHECK(finding([](auto& v) { v.ratio = 0.9; }).empty());
  CHECK(finding([](auto& v) { v.name = "mic"; }).empty());
  CHECK(finding([](auto& v) { v.shape = {100, 0, 1}; }).empty());
  CHECK(finding([](auto& v) { v.left.secret = std::string(16, 'x'); }).empty());
}

TEST_CASE("each value that a schema does not admit is named with its path and both sides") {
  CHECK(finding([](auto& v) { v.small = 11; }) ==
        "PARAM_OUT_OF_RANGE small: the value is 11 dB, the range is -10 dB to 10 dB");
  CHECK(finding([](auto& v) { v.small = -11; }) ==
        "PARAM_OUT_OF_RANGE small: the value is -11 dB, the range is -10 dB to 10 dB");
  CHECK(finding([](auto& v) { v.age = std::chrono::nanoseconds(10'000'001); }) ==
        "PARAM_OUT_OF_RANGE age: the value is 10000001 ns, the range is 1000000 ns to 10000000 ns");
  CHECK(finding([](auto& v) { v.ratio = std::nextafter(0.9, 1); }) ==
        "PARAM_OUT_OF_RANGE ratio: the value is 0.9000000000000001, the range is 0.1 to 0.9");
  CHECK(finding([](auto& v) { v.ratio = std::nan(""); }) ==
        "PARAM_NOT_FINITE ratio: the value is nan, the field takes finite numbers");
  CHECK(finding([](auto& v) { v.right.gain = -std::numeric_limits<float>::infinity(); }) ==
        "PARAM_NOT_FINITE right.gain: the value is -inf, the field takes finite numbers");
  CHECK(finding([](auto& v) { v.left.gain = 1.1F; }) ==
        "PARAM_OUT_OF_RANGE left.gain: the value is 1.1, the range is 0 to 1");
  CHECK(finding([](auto& v) { v.even = 5; }) ==
        "PARAM_RULE_BROKEN even: the value is 5, it must be even");
  CHECK(finding([](auto& v) { v.storage = static_cast<app::Storage>(9); }) ==
        "PARAM_VALUE_NOT_ALLOWED storage: the value is 9, admitted are host, pinned");
  CHECK(finding([](auto& v) { v.side = static_cast<app::Side>(0); }) ==
        "PARAM_VALUE_NOT_ALLOWED side: the value is 0, admitted are left, right");
  CHECK(finding([](auto& v) { v.name = "a\x1b\"" + std::string(100, 'b'); }) ==
        "PARAM_VALUE_NOT_ALLOWED name: the value is \"a\\u001b\\\"" + std::string(61, 'b') +
            "…\", admitted are \"cam\", \"mic\"");
  CHECK(finding([](auto& v) { v.size[1] = 0; }) ==
        "PARAM_OUT_OF_RANGE size[1]: the value is 0, the range is 1 to 4096");
  CHECK(finding([](auto& v) { v.shape = {}; }) ==
        "PARAM_LENGTH shape: the length is 0, the field takes 1 to 3 elements");
  CHECK(finding([](auto& v) {
          v.shape = {1, 2, 3, 4};
        }) == "PARAM_LENGTH shape: the length is 4, the field takes 1 to 3 elements");
  CHECK(finding([](auto& v) {
          v.shape = {1, -1};
        }) == "PARAM_OUT_OF_RANGE shape[1]: the value is -1, the range is 0 to 100");
  CHECK(finding([](auto& v) { v.name = "\xff\xfe"; }) ==
        "PARAM_ENCODING name: the string is no UTF-8");
  CHECK(finding([](auto& v) { v.left.secret = std::string(17, 'x'); }) ==
        "PARAM_LENGTH left.secret: the length (sensitive, not shown) is refused, the field takes 0 "
        "to 16 bytes");
}

TEST_CASE("a finding about a sensitive field holds no value") {
  const auto texts = [](auto change) {
    Secrets values;
    change(values);
    const auto findings = validate_params(values);
    REQUIRE(findings.size() == 1);
    return std::string(findings[0].token) + " " + param_error(findings).message;
  };
  CHECK(texts([](Secrets& v) { v.number = 4711; }) ==
        "PARAM_OUT_OF_RANGE number: the value (sensitive, not shown) is refused, the range is 1 to "
        "10 (give a value in the range)");
  CHECK(texts([](Secrets& v) { v.word = "hunter3"; }) ==
        "PARAM_VALUE_NOT_ALLOWED word: the value (sensitive, not shown) is refused, admitted are "
        "\"a\", \"b\" (give one of these)");
  CHECK(texts([](Secrets& v) { v.ratio = -std::numeric_limits<double>::infinity(); }) ==
        "PARAM_NOT_FINITE ratio: the value (sensitive, not shown) is refused, the field takes "
        "finite numbers (give a finite number)");
  CHECK(texts([](Secrets& v) { v.even = 4711; }) ==
        "PARAM_RULE_BROKEN even: the value (sensitive, not shown) is refused, it must be even "
        "(give a value that does)");
  CHECK(texts([](Secrets& v) {
          v.list = {1, 4711};
        }) ==
        "PARAM_OUT_OF_RANGE list: the value (sensitive, not shown) is refused, the range is 0 "
        "to 9 (give a value in the range)");
}

TEST_CASE("all findings are told, up to a maximum") {
  app::All values;
  values.small = 100;
  values.even = 3;
  values.left.gain = 2;
  const auto findings = validate_params(values);
  REQUIRE(findings.size() == 3);
  const Error error = param_error(findings);
  CHECK(error.code == ErrorCode::kInvalidArgument);
  CHECK(error.token == "PARAM_RULE_BROKEN");
  CHECK(error.message ==
        "even: the value is 3, it must be even (give a value that does); left.gain: the value is "
        "2, the range is 0 to 1 (give a value in the range); small: the value is 100 dB, the range "
        "is -10 dB to 10 dB (give a value in the range)");
}
