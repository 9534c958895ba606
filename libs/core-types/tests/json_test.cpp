// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace weftline {
namespace {

using namespace std::string_literals;

/// Random trees with every kind of value, and strings with what needs escaping.
class Trees {
 public:
  JsonValue value(unsigned depth) {
    switch (below(depth == 0 ? 5 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return random_() >> below(64);
      case 3:
        return -static_cast<std::int64_t>(random_() >> (1 + below(63)));
      case 4:
        return text();
      case 5: {
        JsonValue::Array array;
        for (std::uint64_t i = below(4); i > 0; --i) array.push_back(value(depth - 1));
        return array;
      }
      default: {
        JsonValue::Object object;
        for (std::uint64_t i = below(4); i > 0; --i) object.emplace(text(), value(depth - 1));
        return object;
      }
    }
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::string text() {
    const std::string pieces[] = {"a",    "Z9",   "\"", "\\",         "/", "\n",
                                  "\x01", "\x7f", "ä",  "\U0001F9F5", " ", "\0"s};
    std::string text;
    for (std::uint64_t i = below(5); i > 0; --i) text += pieces[below(std::size(pieces))];
    return text;
  }

  std::mt19937_64 random_{99};
};

void check_refused(std::string_view text, std::string_view token, std::size_t offset) {
  INFO("text: " << text);
  const auto value = parse_json(text);
  REQUIRE_FALSE(value);
  CHECK(value.error().code == ErrorCode::kInvalidArgument);
  CHECK(value.error().token == token);
  const std::string place = "JSON at byte " + std::to_string(offset) + ": ";
  CHECK(value.error().message.substr(0, place.size()) == place);
}

TEST_CASE("what is written is read back as the same value and the same bytes") {
  Trees trees;
  for (int round = 0; round < 3'000; ++round) {
    const JsonValue value = trees.value(5);
    for (const unsigned indent : {0u, 2u}) {
      const std::string text = value.dump(indent);
      const auto read = parse_json(text);
      REQUIRE(read);
      REQUIRE(*read == value);
      REQUIRE(read->dump(indent) == text);
    }
  }
}

TEST_CASE("canonical text has sorted keys, least escapes and no floats") {
  const JsonValue value(JsonValue::Object{{"b", JsonValue::Array{1, -2, true, nullptr}},
                                          {"a", "tab\t \"q\" \\ / \x01 ä"},
                                          {"empty", JsonValue::Object{}}});
  CHECK(value.dump() == R"({"a":"tab\t \"q\" \\ / \u0001 ä","b":[1,-2,true,null],"empty":{}})");
  CHECK(value.dump(2) ==
        "{\n  \"a\": \"tab\\t \\\"q\\\" \\\\ / \\u0001 ä\",\n  \"b\": [\n    1,\n    -2,\n    "
        "true,\n    "
        "null\n  ],\n  \"empty\": {}\n}\n");
  CHECK(JsonValue().dump() == "null");
}

TEST_CASE("text that is not canonical reads as the same value") {
  const auto value = parse_json(" {\"b\" : [ 1 ,-0 ],\r\n\t\"\\u0061\":\"\\ud83e\\uddf5\\/\"} ");
  REQUIRE(value);
  CHECK(value->dump() == "{\"a\":\"\U0001F9F5/\",\"b\":[1,0]}");
}

TEST_CASE("the whole range of 64-bit integers is kept") {
  CHECK(parse_json("18446744073709551615")->as_uint()[0] ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_json("-9223372036854775808")->as_negative()[0] ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(JsonValue(std::int64_t{5}) == JsonValue(std::uint64_t{5}));
  CHECK(JsonValue(std::numeric_limits<std::int64_t>::min()).dump() == "-9223372036854775808");
}

TEST_CASE("a member is found in an object and nowhere else") {
  const auto value = parse_json(R"({"a":{"b":1}})").value();
  REQUIRE(value.find("a") != nullptr);
  CHECK(*value.find("a")->find("b")->as_uint() == 1);
  CHECK(value.find("b") == nullptr);
  CHECK(JsonValue(1).find("a") == nullptr);
  CHECK(value.as_array() == nullptr);
  CHECK(value.as_string() == nullptr);
}

TEST_CASE("syntax errors are refused with their place") {
  check_refused("", "JSON_SYNTAX", 0);
  check_refused("{\"a\":1", "JSON_SYNTAX", 6);
  check_refused("{\"a\" 1}", "JSON_SYNTAX", 5);
  check_refused("[1,]", "JSON_SYNTAX", 3);
  check_refused("{'a':1}", "JSON_SYNTAX", 1);
  check_refused("[1] x", "JSON_SYNTAX", 4);
  check_refused("nul", "JSON_SYNTAX", 3);
  check_refused("[01]", "JSON_SYNTAX", 2);
  check_refused("[1] // no", "JSON_SYNTAX", 4);
  check_refused("\"\\x\"", "JSON_SYNTAX", 1);
  check_refused("\"a\nb\"", "JSON_SYNTAX", 2);
  check_refused("\xef\xbb\xbf{}", "JSON_SYNTAX", 0);
}

TEST_CASE("a NUL byte does not end the text") {
  check_refused("{}\0{}"s, "JSON_SYNTAX", 2);
  check_refused("{}\0"s, "JSON_SYNTAX", 2);
  check_refused("\"a\0b\""s, "JSON_SYNTAX", 2);
}

TEST_CASE("numbers that are no 64-bit integers are refused") {
  for (const std::string number :
       {"1.5", "1.0", "1e2", "-1e2", "18446744073709551616", "-9223372036854775809", "1e999",
        "123456789012345678901234567890"}) {
    INFO(number);
    const auto value = parse_json("[" + number + "]");
    REQUIRE_FALSE(value);
    CHECK(value.error().token == "JSON_NUMBER");
  }
  for (const std::string number : {"NaN", "Infinity", "+1", "0x10", "-", "1.", ".5"}) {
    INFO(number);
    const auto value = parse_json("[" + number + "]");
    REQUIRE_FALSE(value);
    CHECK(value.error().token == "JSON_SYNTAX");
  }
}

TEST_CASE("a key that is twice in one object is refused, in two objects it is not") {
  check_refused(R"({"a":1,"a":2})", "JSON_DUPLICATE_KEY", 10);
  check_refused(R"([{"x":{"a":1,"\u0061":2}}])", "JSON_DUPLICATE_KEY", 21);
  CHECK(parse_json(R"([{"a":1},{"a":{"a":2}}])").has_value());
}

TEST_CASE("text that is not UTF-8 is refused") {
  for (const std::string bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe4",
                                "\\ud800", "\\udc00", "\\ud800\\u0041"}) {
    for (const std::string& text : {"\"" + bad + "\"", "{\"" + bad + "\":1}"}) {
      INFO(text);
      const auto value = parse_json(text);
      REQUIRE_FALSE(value);
      CHECK(value.error().token == "JSON_ENCODING");
    }
  }
}

TEST_CASE("text past the limits is refused before it costs anything") {
  CHECK(parse_json("[[1]]", {.max_bytes = 5, .max_depth = 2}).has_value());
  CHECK(parse_json("[[1]] ", {.max_bytes = 5, .max_depth = 2}).error().token == "JSON_LIMIT");
  CHECK(parse_json("[[[]]]", {.max_bytes = 99, .max_depth = 2}).error().token == "JSON_LIMIT");
  const std::string deep = std::string(1'000'000, '[');
  CHECK(parse_json(deep).error().token == "JSON_LIMIT");
}

TEST_CASE("no prefix of a text is taken for the whole") {
  const std::string text = R"({"a":[1,{"b":"cé"},-3],"d":null,"e":true})";
  REQUIRE(parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    REQUIRE_FALSE(parse_json(std::string_view(text).substr(0, size)));
  }
}

TEST_CASE("a damaged text is refused or read as a value that writes and reads alike") {
  Trees trees;
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = trees.value(3).dump(static_cast<unsigned>(trees.below(2)));
    for (std::uint64_t i = 1 + trees.below(3); i > 0; --i) {
      text[trees.below(text.size())] = static_cast<char>(trees.below(256));
    }
    const auto value = parse_json(text);
    if (!value) {
      ++refused;
      REQUIRE_FALSE(value.error().token.empty());
      continue;
    }
    const auto again = parse_json(value->dump());
    REQUIRE(again);
    REQUIRE(*again == *value);
  }
  CHECK(refused > 0);
}

TEST_CASE("numbers that are no 64-bit integers are kept as written where they are wanted") {
  const std::string text =
      R"([1,-1,0,18446744073709551615,-9223372036854775808,1.50,-2e-3,1E+2,18446744073709551616])";
  const auto parsed = parse_json(text, {.decimals = true});
  REQUIRE(parsed);
  CHECK(parsed->dump() == text);
  const auto& items = *parsed->as_array();
  CHECK(items[1] == JsonValue(-1));
  CHECK(items[3] == JsonValue(~std::uint64_t{0}));
  CHECK(items[4].as_negative() != nullptr);
  REQUIRE(items[5].as_decimal() != nullptr);
  CHECK(items[5].as_decimal()->text == "1.50");
  CHECK(items[5].as_string() == nullptr);
  CHECK(items[8].as_decimal()->text == "18446744073709551616");
  CHECK_FALSE(parse_json(text));
  for (const std::string_view bad :
       {"NaN", "Infinity", "1.", ".5", "+1", "01", "0x1", "1e", "--1"}) {
    INFO(bad);
    const auto refused = parse_json(bad, {.decimals = true});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().token == "JSON_SYNTAX");
  }
  for (const std::string& huge : {std::string(100'000, '9'), "1e999"s, "1e999999999999"s}) {
    const auto refused = parse_json(huge, {.decimals = true});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().token == "JSON_NUMBER");
  }
  CHECK(parse_json("1e-999999999999", {.decimals = true}).has_value());
}

}  // namespace
}  // namespace weftline
