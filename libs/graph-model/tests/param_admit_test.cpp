// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "weftline/graph/param_finding.hpp"

namespace {

using weftline::field;
using weftline::ParamScalar;
using weftline::ParamSchema;

enum class Mode : std::uint8_t { kSlow = 1, kFast = 2 };

struct Knobs {
  bool on{false};
  std::int8_t small{0};
  std::uint16_t count{2};
  float gain{1};
  double exact{1};
  Mode mode{Mode::kSlow};
  std::chrono::nanoseconds age{0};
  std::uint32_t secret{1};
  std::vector<std::int32_t> list{};
};
bool even(const std::uint16_t& value) noexcept { return value % 2 == 0; }
WEFTLINE_PARAM_SCHEMA(
    Knobs, weftline::param_schema("test.Knobs", 1), field<&Knobs::on>("on"),
    field<&Knobs::small>("small"),
    field<&Knobs::count>("count").range(0, 100).validator(even, "be even"),
    field<&Knobs::gain>("gain"), field<&Knobs::exact>("exact").range(-1.0, 1.0),
    field<&Knobs::mode>("mode").enum_values({weftline::param_enum_value("slow", Mode::kSlow),
                                             weftline::param_enum_value("fast", Mode::kFast)}),
    field<&Knobs::age>("age"), field<&Knobs::secret>("secret").range(0, 9).sensitive(),
    field<&Knobs::list>("list"));

weftline::expected<ParamScalar, weftline::ParamFinding> admit(const std::string& path,
                                                              const ParamScalar& value) {
  static const auto schema = ParamSchema::of<Knobs>();
  return weftline::params::admit(*schema.find(path), value);
}

std::string token(const std::string& path, const ParamScalar& value) {
  const auto admitted = admit(path, value);
  return admitted ? "" : std::string(admitted.error().token);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("an admitted value has the field's own type") {
  CHECK(admit("on", true) == ParamScalar(true));
  CHECK(admit("small", std::uint64_t{127}) == ParamScalar(std::int64_t{127}));
  CHECK(admit("small", std::int64_t{-128}) == ParamScalar(std::int64_t{-128}));
  CHECK(admit("count", std::int64_t{100}) == ParamScalar(std::uint64_t{100}));
  CHECK(admit("gain", std::int64_t{3}) == ParamScalar(3.0));
  CHECK(admit("gain", 0.1) == ParamScalar(static_cast<double>(0.1F)));
  CHECK(admit("exact", 0.1) == ParamScalar(0.1));
  CHECK(admit("mode", std::string("fast")) == ParamScalar(std::uint64_t{2}));
  CHECK(admit("mode", std::int64_t{1}) == ParamScalar(std::uint64_t{1}));
  CHECK(admit("age", std::int64_t{-5}) == ParamScalar(std::int64_t{-5}));
}

TEST_CASE("a value of another type is refused") {
  CHECK(token("on", std::int64_t{1}) == "PARAM_TYPE_MISMATCH");
  CHECK(token("small", true) == "PARAM_TYPE_MISMATCH");
  CHECK(token("small", 1.0) == "PARAM_TYPE_MISMATCH");
  CHECK(token("gain", std::string("1")) == "PARAM_TYPE_MISMATCH");
  CHECK(token("list", std::int64_t{1}) == "PARAM_TYPE_MISMATCH");
  const auto refused = admit("small", std::string("x"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the value is a string, the field is int8");
}

TEST_CASE("a number that the type can't hold is refused") {
  CHECK(token("small", std::int64_t{128}) == "PARAM_OVERFLOW");
  CHECK(token("small", std::int64_t{-129}) == "PARAM_OVERFLOW");
  CHECK(token("small", std::numeric_limits<std::uint64_t>::max()) == "PARAM_OVERFLOW");
  CHECK(token("count", std::int64_t{-1}) == "PARAM_OVERFLOW");
  CHECK(token("count", std::int64_t{65'536}) == "PARAM_OVERFLOW");
  CHECK(token("gain", 1e39) == "PARAM_OVERFLOW");
  CHECK(token("age", std::numeric_limits<std::uint64_t>::max()) == "PARAM_OVERFLOW");
  CHECK(token("mode", std::int64_t{256}) == "PARAM_OVERFLOW");
}

TEST_CASE("what the schema does not enforce by type is enforced by value") {
  CHECK(token("count", std::int64_t{101}) == "PARAM_OUT_OF_RANGE");
  CHECK(token("exact", 1.5) == "PARAM_OUT_OF_RANGE");
  CHECK(token("exact", std::numeric_limits<double>::quiet_NaN()) == "PARAM_NOT_FINITE");
  CHECK(token("gain", kInfinity) == "PARAM_NOT_FINITE");
  CHECK(token("mode", std::int64_t{3}) == "PARAM_VALUE_NOT_ALLOWED");
  CHECK(token("mode", std::string("sideways")) == "PARAM_VALUE_NOT_ALLOWED");
}

TEST_CASE("a sensitive value is in no finding") {
  const auto refused = admit("secret", std::int64_t{4'711});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().token == "PARAM_OUT_OF_RANGE");
  CHECK(refused.error().message.find("4711") == std::string::npos);
}

TEST_CASE("a validator is asked about the written object") {
  const auto schema = ParamSchema::of<Knobs>();
  const auto& count = *schema.find("count");
  Knobs knobs;
  CHECK_FALSE(weftline::params::broken_rule(count, &knobs));
  count.write_scalar(&knobs, std::uint64_t{3});
  CHECK(count.read_scalar(&knobs) == ParamScalar(std::uint64_t{3}));
  const auto broken = weftline::params::broken_rule(count, &knobs);
  REQUIRE(broken);
  CHECK(broken->token == "PARAM_RULE_BROKEN");
  CHECK(broken->message == "the value is 3, it must be even");
  CHECK(schema.find("list")->write_scalar == nullptr);
}
