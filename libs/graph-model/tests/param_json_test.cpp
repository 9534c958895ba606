// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <random>
#include <string>

#include "test_params.hpp"

using namespace weftline;

namespace {

/// "TOKEN message" of a refused document.
template <class P = app::All>
std::string refusal(std::string_view json) {
  const auto decoded = parse_params<P>(json);
  if (decoded) return "admitted";
  return std::string(decoded.error().token) + " " + decoded.error().message;
}

}  // namespace

TEST_CASE("values are written canonically, without the sensitive ones") {
  app::All values;
  values.huge = ~std::uint64_t{0};
  values.ratio = 0.1;
  values.bits = {true, false};
  CHECK(params_to_json(values).dump() ==
        R"({"age":2000000,"big":0,"bits":[true,false],"even":4,"flag":true,)"
        R"("huge":18446744073709551615,"left":{"gain":"0.5"},"name":"cam","ratio":"0.1",)"
        R"("right":{"gain":"0.75"},"shape":[1,2],"side":"left","size":[640,480],"small":-3,)"
        R"("storage":"host"})");
  CHECK(params_to_json(app::Nothing{}).dump() == "{}");
}

TEST_CASE("what was written is read back to the same values and bytes") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    app::All values;
    values.flag = random() % 2 == 0;
    values.small = static_cast<std::int8_t>(static_cast<int>(random() % 21) - 10);
    values.even = static_cast<std::uint16_t>(random() & 0xfffe);
    values.big = static_cast<std::int64_t>(random());
    values.huge = random();
    values.ratio = 0.1 + 0.8 * (static_cast<double>(random() % 1'000'003) / 1'000'003);
    values.storage = random() % 2 == 0 ? app::Storage::kHost : app::Storage::kPinned;
    values.right.gain = static_cast<float>(random() % 1'000'003) / 1'000'003;
    values.shape.assign(1 + random() % 3, static_cast<std::int32_t>(random() % 101));
    values.bits.assign(random() % 5, true);
    const JsonValue json = params_to_json(values);
    const auto read = parse_params<app::All>(json.dump());
    REQUIRE(read);
    CHECK(params_to_json(*read) == json);
    CHECK(read->ratio == values.ratio);
    CHECK(read->right.gain == values.right.gain);
    CHECK(read->big == values.big);
    CHECK(read->bits == values.bits);
  }
}

TEST_CASE("a document is read by name; what it leaves out has the default") {
  const auto read = parse_params<app::All>(
      R"({"right":{"gain":1,"secret":"s3cret"},"ratio":0.5,"age":1000000,"side":"right",)"
      R"("size":[1,2],"flag":false,"huge":18446744073709551615,"small":-10})");
  REQUIRE(read);
  CHECK(read->right.gain == 1.0F);
  CHECK(read->right.secret == "s3cret");
  CHECK(read->left.secret == "hunter2");
  CHECK(read->ratio == 0.5);
  CHECK(read->age == std::chrono::milliseconds(1));
  CHECK(read->side == app::Side::kRight);
  CHECK(read->size == std::array<std::uint32_t, 2>{1, 2});
  CHECK_FALSE(read->flag);
  CHECK(read->small == -10);
  CHECK(read->name == "cam");
  CHECK(parse_params<app::All>("{}"));
  CHECK(parse_params<app::Nothing>("{}"));
}

TEST_CASE("a float is rounded once, from the text to its own type") {
  // Just above the middle of two floats; as a double it is the middle, which rounds down.
  const std::string text = "0.50000002980232238769531250000001";
  REQUIRE(static_cast<float>(std::stod(text)) != std::stof(text));
  CHECK(parse_params<app::All>(R"({"left":{"gain":)" + text + "}}")->left.gain == std::stof(text));
  CHECK(parse_params<app::All>(R"({"left":{"gain":1e-1}})")->left.gain == 0.1F);
  CHECK(parse_params<app::All>(R"({"left":{"gain":"0.1"}})")->left.gain == 0.1F);
}

TEST_CASE("wrong types are refused with path, both types and how to write it") {
  CHECK(refusal(R"({"flag":1})") ==
        "PARAM_TYPE_MISMATCH flag: the document gives 1, the field is bool (write true or false)");
  CHECK(refusal(R"({"even":"4"})") ==
        "PARAM_TYPE_MISMATCH even: the document gives the string \"4\", the field is uint16 (write "
        "an integer without fraction or exponent)");
  CHECK(refusal(R"({"even":4.0})") ==
        "PARAM_TYPE_MISMATCH even: the document gives 4.0, the field is uint16 (write an integer "
        "without fraction or exponent)");
  CHECK(
      refusal(R"({"even":null})").starts_with("PARAM_TYPE_MISMATCH even: the document gives null"));
  CHECK(refusal(R"({"even":[4]})")
            .starts_with("PARAM_TYPE_MISMATCH even: the document gives an array"));
  CHECK(refusal(R"({"ratio":true})") ==
        "PARAM_TYPE_MISMATCH ratio: the document gives true, the field is float64 (write a finite "
        "number)");
  for (const std::string text :
       {"", " 0.5", "0.5 ", "+0.5", "0x1p-1", "half", "0,5", "0.5\\u0000"}) {
    INFO(text);
    CHECK(refusal(R"({"ratio":")" + text + R"("})").starts_with("PARAM_TYPE_MISMATCH ratio: "));
  }
  CHECK(refusal(R"({"age":1.5})") ==
        "PARAM_TYPE_MISMATCH age: the document gives 1.5, the field is duration_ns (write an "
        "integer, in nanoseconds)");
  CHECK(refusal(R"({"storage":0})") ==
        "PARAM_TYPE_MISMATCH storage: the document gives 0, the field is enum uint8 (write one of "
        "host, pinned as a string)");
  CHECK(refusal(R"({"storage":"Host"})") ==
        "PARAM_VALUE_NOT_ALLOWED storage: the document gives the string \"Host\", admitted are "
        "host, pinned (give one of these)");
  CHECK(refusal(R"({"name":7})").starts_with("PARAM_TYPE_MISMATCH name: "));
  CHECK(refusal(R"({"size":7})") ==
        "PARAM_TYPE_MISMATCH size: the document gives 7, the field is uint32[2] (write an array)");
  CHECK(refusal(R"({"size":[1,"2"]})").starts_with("PARAM_TYPE_MISMATCH size[1]: "));
  CHECK(refusal(R"({"size":[1]})") ==
        "PARAM_LENGTH size: the length is 1, the field takes 2 elements (give a value of that "
        "length)");
  CHECK(refusal(R"({"left":7})") ==
        "PARAM_TYPE_MISMATCH left: the document gives a number, the field is a struct (write an "
        "object with a member for each field)");
  CHECK(refusal("[]") ==
        "PARAM_TYPE_MISMATCH the document is no object (write an object with a member for each "
        "field)");
}

TEST_CASE("numbers beyond the field's type are refused, not cut") {
  CHECK(refusal(R"({"small":128})") ==
        "PARAM_OVERFLOW small: the document gives 128, beyond the type int8 (give a number that "
        "the type can hold)");
  CHECK(refusal(R"({"small":-129})").starts_with("PARAM_OVERFLOW small: "));
  CHECK(refusal(R"({"small":-128})").starts_with("PARAM_OUT_OF_RANGE small: "));
  CHECK(refusal(R"({"small":127})").starts_with("PARAM_OUT_OF_RANGE small: "));
  CHECK(refusal(R"({"even":65536})").starts_with("PARAM_OVERFLOW even: "));
  CHECK(refusal(R"({"even":-1})").starts_with("PARAM_OVERFLOW even: "));
  CHECK(refusal(R"({"big":9223372036854775808})").starts_with("PARAM_OVERFLOW big: "));
  CHECK(refusal(R"({"big":-9223372036854775808})") == "admitted");
  CHECK(refusal(R"({"huge":18446744073709551616})") ==
        "PARAM_OVERFLOW huge: the document gives 18446744073709551616, beyond the type uint64 "
        "(give a number that the type can hold)");
  CHECK(refusal(R"({"big":-9223372036854775809})").starts_with("PARAM_OVERFLOW big: "));
  CHECK(refusal(R"({"left":{"gain":1e39}})").starts_with("PARAM_OVERFLOW left.gain: "));
  CHECK(refusal(R"({"left":{"gain":1e-60}})").starts_with("PARAM_OVERFLOW left.gain: "));
  CHECK(refusal(R"({"ratio":"1e400"})").starts_with("PARAM_OVERFLOW ratio: "));
  CHECK(refusal(R"({"ratio":1e400})").starts_with("JSON_NUMBER "));
  for (const std::string text : {"nan", "inf", "-inf", "NAN", "infinity"}) {
    INFO(text);
    CHECK(refusal(R"({"ratio":")" + text + R"("})").starts_with("PARAM_NOT_FINITE ratio: "));
  }
  const std::string digits(300, '9');
  const std::string message = refusal(R"({"huge":)" + digits + "}");
  CHECK(message.starts_with("PARAM_OVERFLOW huge: "));
  CHECK(message.find(std::string(65, '9')) == std::string::npos);
}

TEST_CASE("values that were decoded are checked against the schema") {
  CHECK(refusal(R"({"left":{"gain":1.5}})") ==
        "PARAM_OUT_OF_RANGE left.gain: the value is 1.5, the range is 0 to 1 (give a value in the "
        "range)");
  CHECK(refusal(R"({"even":3})").starts_with("PARAM_RULE_BROKEN even: "));
  CHECK(refusal(R"({"name":"x"})").starts_with("PARAM_VALUE_NOT_ALLOWED name: "));
  CHECK(refusal(R"({"shape":[]})").starts_with("PARAM_LENGTH shape: "));
  CHECK(refusal(R"({"shape":[1,2,101]})").starts_with("PARAM_OUT_OF_RANGE shape[2]: "));
}

TEST_CASE("fields that the schema does not have are named, with those it has") {
  CHECK(refusal<app::Camera>(R"({"path":"/v","fsp":30})") ==
        "PARAM_FIELD_UNKNOWN fsp: the schema has no such field; it has fps, path (correct the "
        "name, or take it out)");
  CHECK(refusal(R"({"left":{"gian":1}})") ==
        "PARAM_FIELD_UNKNOWN left.gian: the schema has no such field; it has gain, secret (correct "
        "the name, or take it out)");
  CHECK(refusal<app::Nothing>(R"({"x":1})") ==
        "PARAM_FIELD_UNKNOWN x: the schema has no such field, and no other (correct the name, or "
        "take it out)");
  CHECK(refusal(R"({"left.gain":1})").starts_with("PARAM_FIELD_UNKNOWN \"left.gain\": "));
  CHECK(refusal(R"({"":1})").starts_with("PARAM_FIELD_UNKNOWN \"\": "));
  CHECK(refusal(R"({"not_a_parameter":1})").starts_with("PARAM_FIELD_UNKNOWN "));
  const std::string hostile = refusal(R"({"\u001b[31m)" + std::string(100'000, 'x') + R"(":1})");
  CHECK(hostile.starts_with("PARAM_FIELD_UNKNOWN \"\\u001b[31mxx"));
  CHECK(hostile.size() < 1'000);
}

TEST_CASE("a required field has to be there") {
  CHECK(refusal<app::Camera>(R"({"fps":30})") ==
        "PARAM_FIELD_MISSING path: the document lacks this required field (add it: write a "
        "string)");
  CHECK(refusal<app::Camera>(R"({"path":"/dev/video0"})") == "admitted");
  CHECK(refusal<app::Camera>(R"({"path":""})").starts_with("PARAM_LENGTH path: "));
}

TEST_CASE("all mistakes of a document are told at once") {
  const auto decoded = parse_params<app::Camera>(R"({"fps":0,"x":1,"path":3})");
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().message ==
        "path: the document gives 3, the field is string (write a string); x: the schema has no "
        "such field; it has fps, path (correct the name, or take it out); fps: the value is 0, the "
        "range is 1 to 120 (give a value in the range)");
}

TEST_CASE("hostile documents are refused in bounded time and space") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(refusal(R"({"left":)" + deep + "}").starts_with("JSON_LIMIT "));
  std::string nested;
  for (int i = 0; i < 60; ++i) nested += R"({"left":)";
  CHECK(
      refusal(nested + "1" + std::string(60, '}')).starts_with("PARAM_FIELD_UNKNOWN left.left: "));
  CHECK(refusal(R"({"even":2,"even":4})").starts_with("JSON_DUPLICATE_KEY "));
  CHECK(refusal(R"({"left":{"gain":0,"gain":1}})").starts_with("JSON_DUPLICATE_KEY "));
  CHECK(refusal("{\"name\":\"\xff\"}").starts_with("JSON_ENCODING "));
  CHECK(refusal("{\"\xc0\xaf\":1}").starts_with("JSON_ENCODING "));
  CHECK(refusal(R"({"name":"\ud800"})").starts_with("JSON_ENCODING "));
  CHECK(refusal("").starts_with("JSON_SYNTAX "));
  CHECK(refusal("{} {}").starts_with("JSON_SYNTAX "));
  CHECK(refusal(R"({"ratio":NaN})").starts_with("JSON_SYNTAX "));
  std::string many = R"({"k0":0)";
  for (int i = 1; i < 20'000; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  CHECK(refusal(many + "}").size() < 12'800);
  std::string list = R"({"shape":[1)";
  for (int i = 0; i < 100'000; ++i) list += ",1";
  CHECK(refusal(list + "]}").starts_with("PARAM_LENGTH shape: the length is 100001"));
}

TEST_CASE("damaged documents give values that the schema admits, or a named error") {
  const std::string whole =
      R"({"age":2000000,"big":-5,"bits":[true,false],"even":4,"flag":true,"huge":7,)"
      R"("left":{"gain":"0.5","secret":"hunter3"},"name":"cam","ratio":0.25,"shape":[1,2],)"
      R"("side":"left","size":[640,480],"small":-3,"storage":"host"})";
  REQUIRE(parse_params<app::All>(whole));
  constexpr std::string_view kBytes = "0123456789-+.eE\"\\[]{},:tfn\xff\x01u ";
  std::mt19937 random(3);
  std::size_t admitted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
    }
    const auto decoded = parse_params<app::All>(text);
    if (decoded) {
      ++admitted;
      REQUIRE(validate_params(*decoded).empty());
    } else {
      REQUIRE_FALSE(decoded.error().token.empty());
      REQUIRE(decoded.error().message.find("hunter3") == std::string::npos);
    }
  }
  CHECK(admitted > 100);
}

TEST_CASE("a tree that no parser made is checked as well") {
  const auto decode = [](JsonValue::Object object) {
    const auto decoded = decode_params<app::All>(std::move(object));
    return decoded ? std::string() : std::string(decoded.error().token);
  };
  CHECK(decode({{"name", std::string("\xff")}}) == "PARAM_ENCODING");
  CHECK(decode({{"ratio", JsonDecimal{"nan"}}}) == "PARAM_NOT_FINITE");
  CHECK(decode({{"big", JsonDecimal{"x"}}}) == "PARAM_OVERFLOW");
  CHECK(decode({{"big", JsonDecimal{""}}}) == "PARAM_OVERFLOW");
  CHECK(decode({{"even", JsonValue(-0)}}).empty());
}

TEST_CASE("a sensitive value is in no message, whatever is wrong with it") {
  for (const std::string value :
       {R"("hunter3hunter3hunter3")", R"(["hunter3"])", R"({"hunter3":1})", "73115731157311573115",
        "7311573115.5", "true"}) {
    INFO(value);
    const std::string message = refusal(R"({"left":{"secret":)" + value + "}}");
    CHECK(message.find("left.secret") != std::string::npos);
    CHECK(message.find("hunter3") == std::string::npos);
    CHECK(message.find("73115") == std::string::npos);
    CHECK(message.find("true") == std::string::npos);
    CHECK(message.find("20") == std::string::npos);
  }
  CHECK(refusal(R"({"left":"hunter3"})").find("hunter3") == std::string::npos);
}
