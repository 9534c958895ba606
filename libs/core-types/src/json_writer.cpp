// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/json_writer.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace weftline {
namespace {

constexpr std::size_t kPieceBytes = 16'384;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "weftline: JsonWriter: %s\n", what);
  std::abort();
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out.append("\\\"");
      break;
    case '\\':
      out.append("\\\\");
      break;
    case '\b':
      out.append("\\b");
      break;
    case '\f':
      out.append("\\f");
      break;
    case '\n':
      out.append("\\n");
      break;
    case '\r':
      out.append("\\r");
      break;
    case '\t':
      out.append("\\t");
      break;
    default: {
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\u00").push_back(kDigits[byte >> 4]);
      out.push_back(kDigits[byte & 0xf]);
    }
  }
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, std::numeric_limits<Number>::digits10 + 3> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  std::size_t plain = 0;  // where the run of characters begins that need no escape
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(plain, at - plain));
    append_escape(out, c);
    plain = at + 1;
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

JsonWriter::JsonWriter(JsonLines lines, Sink sink)
    : JsonWriter(lines == JsonLines::kOne ? 0 : 2, lines == JsonLines::kAll ? 2 : 0,
                 std::move(sink)) {}

JsonWriter::JsonWriter(unsigned indent, unsigned value_indent, Sink sink)
    : indent_(indent), value_indent_(value_indent), sink_(std::move(sink)) {}

void JsonWriter::open_object() {
  before_item();
  levels_.push_back({.object = true});
  begin('{');
}

void JsonWriter::open_array() {
  before_item();
  levels_.push_back({});
  begin('[');
}

void JsonWriter::key(std::string_view name) {
  require(!levels_.empty() && levels_.back().object && !key_given_, "a key without its object");
  Level& level = levels_.back();
  require(level.empty || level.last_key < name, "keys out of order");
  level.last_key = name;
  if (!std::exchange(level.empty, false)) text_.push_back(',');
  break_line(indent_);
  write_key(name, indent_);
  key_given_ = true;
}

void JsonWriter::close() {
  require(!levels_.empty() && !key_given_, "nothing to close");
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  end(level.object ? '}' : ']', level.empty, indent_);
  drain_full();
}

void JsonWriter::value(const JsonValue& value) {
  before_item();
  write_tree(value);
  drain_full();
}

void JsonWriter::text(std::string_view canonical) {
  before_item();
  text_.append(canonical);
  drain_full();
}

void JsonWriter::finish() {
  require(levels_.empty() && !key_given_, "the document has no end");
  if (indent_ != 0) text_.push_back('\n');
  sink_(text_);
  text_.clear();
}

void JsonWriter::before_item() {
  if (std::exchange(key_given_, false) || levels_.empty()) return;
  Level& level = levels_.back();
  require(!level.object, "a member without a key");
  if (!std::exchange(level.empty, false)) text_.push_back(',');
  break_line(indent_);
}

void JsonWriter::begin(char bracket) {
  text_.push_back(bracket);
  ++depth_;
}

void JsonWriter::end(char bracket, bool empty, unsigned indent) {
  --depth_;
  if (!empty) break_line(indent);
  text_.push_back(bracket);
}

void JsonWriter::break_line(unsigned indent) {
  if (indent == 0) return;
  text_.push_back('\n');
  text_.append(std::size_t{indent} * depth_, ' ');
}

void JsonWriter::write_key(std::string_view name, unsigned indent) {
  append_json_string(text_, name);
  text_.append(indent == 0 ? ":" : ": ");
}

void JsonWriter::drain_full() {
  if (text_.size() < kPieceBytes) return;
  sink_(text_);
  text_.clear();
}

void JsonWriter::write_tree(const JsonValue& value) {
  if (const auto* object = value.as_object()) {
    begin('{');
    bool first = true;
    for (const auto& member : *object) {
      if (!std::exchange(first, false)) text_.push_back(',');
      break_line(value_indent_);
      write_key(member.first, value_indent_);
      write_tree(member.second);
    }
    end('}', object->empty(), value_indent_);
  } else if (const auto* array = value.as_array()) {
    begin('[');
    bool first = true;
    for (const JsonValue& item : *array) {
      if (!std::exchange(first, false)) text_.push_back(',');
      break_line(value_indent_);
      write_tree(item);
    }
    end(']', array->empty(), value_indent_);
  } else if (const auto* string = value.as_string()) {
    append_json_string(text_, *string);
  } else if (const auto* number = value.as_uint()) {
    append_number(text_, *number);
  } else if (const auto* negative = value.as_negative()) {
    append_number(text_, *negative);
  } else if (const auto* boolean = value.as_bool()) {
    text_.append(*boolean ? "true" : "false");
  } else if (const auto* decimal = value.as_decimal()) {
    text_.append(decimal->text);
  } else {
    text_.append("null");
  }
}

}  // namespace weftline
