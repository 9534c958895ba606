// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/json_writer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace weftline {
namespace {

JsonValue random_tree(std::mt19937& random, unsigned depth) {
  switch (random() % (depth == 0 ? 5 : 8)) {
    case 0:
      return {};
    case 1:
      return random() % 2 == 0;
    case 2:
      return std::uint64_t{random()} << 32;
    case 3:
      return -static_cast<std::int64_t>(random()) - 1;
    case 4: {
      std::string text;
      for (auto size = random() % 9; size > 0; --size) {
        text.push_back(static_cast<char>(random() % 128));
      }
      return text;
    }
    case 5: {
      JsonValue::Array items;
      for (auto size = random() % 5; size > 0; --size)
        items.push_back(random_tree(random, depth - 1));
      return items;
    }
    default: {
      JsonValue::Object members;
      for (auto size = random() % 5; size > 0; --size) {
        members.emplace(std::to_string(random() % 100), random_tree(random, depth - 1));
      }
      return members;
    }
  }
}

/// Opens what can be opened and writes leaves as values.
void write_pieces(JsonWriter& writer, const JsonValue& value) {
  if (const auto* object = value.as_object()) {
    writer.open_object();
    for (const auto& member : *object) {
      writer.key(member.first);
      write_pieces(writer, member.second);
    }
    writer.close();
  } else if (const auto* array = value.as_array()) {
    writer.open_array();
    for (const JsonValue& item : *array) write_pieces(writer, item);
    writer.close();
  } else {
    writer.value(value);
  }
}

TEST_CASE("a document written in pieces is the one that its tree dumps, and reads back") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const JsonValue tree = random_tree(random, 4);
    for (const JsonLines lines : {JsonLines::kOne, JsonLines::kAll, JsonLines::kEachValue}) {
      std::string text;
      JsonWriter writer(lines, [&](std::string_view piece) { text.append(piece); });
      write_pieces(writer, tree);
      writer.finish();
      // A leaf has one line anyway, so where all levels are opened, the latter two are the same.
      REQUIRE(text == tree.dump(lines == JsonLines::kOne ? 0 : 2));
      REQUIRE(parse_json(text).value() == tree);
    }
  }
}

TEST_CASE("canonical text is written as the format says") {
  const JsonValue tree = JsonValue::Object{
      {"a", JsonValue::Array{}},
      {"b", JsonValue::Array{1, JsonValue::Object{}}},
      {"c", std::numeric_limits<std::int64_t>::min()},
      {"d", std::numeric_limits<std::uint64_t>::max()},
      {"e", std::string("\x01\"\\\b\f\n\r\t\x1fé", 11)},
  };
  CHECK(tree.dump() == R"({"a":[],"b":[1,{}],"c":-9223372036854775808,"d":18446744073709551615,)"
                       R"("e":"\u0001\"\\\b\f\n\r\t\u001fé"})");
  CHECK(tree.dump(1) ==
        "{\n \"a\": [],\n \"b\": [\n  1,\n  {}\n ],\n \"c\": -9223372036854775808,\n"
        " \"d\": 18446744073709551615,\n \"e\": \"\\u0001\\\"\\\\\\b\\f\\n\\r\\t\\u001fé\"\n}\n");
}

TEST_CASE("values are on a line each where levels are opened and values are trees") {
  std::string text;
  JsonWriter writer(JsonLines::kEachValue, [&](std::string_view piece) { text.append(piece); });
  writer.open_object();
  writer.key("list");
  writer.open_array();
  writer.value(JsonValue::Object{{"a", 1}, {"b", JsonValue::Array{2, 3}}});
  writer.value(JsonValue::Array{});
  writer.close();
  writer.key("none");
  writer.open_array();
  writer.close();
  writer.close();
  writer.finish();
  CHECK(text == R"({
  "list": [
    {"a":1,"b":[2,3]},
    []
  ],
  "none": []
}
)");
}

TEST_CASE("a large document goes to the sink in pieces") {
  std::size_t pieces = 0;
  std::size_t largest = 0;
  std::size_t bytes = 0;
  JsonWriter writer(JsonLines::kOne, [&](std::string_view piece) {
    ++pieces;
    largest = std::max(largest, piece.size());
    bytes += piece.size();
  });
  writer.open_array();
  for (std::uint32_t item = 0; item < 100'000; ++item) writer.value(7);
  writer.close();
  writer.finish();
  CHECK(bytes == 200'001);
  CHECK(pieces > 5);
  CHECK(largest < 20'000);
}

}  // namespace
}  // namespace weftline
