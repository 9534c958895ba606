// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/json.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "weftline/core/json_writer.hpp"

namespace weftline {
namespace {

/// True when the text holds a surrogate half. RapidJSON checks raw UTF-8 but lets "\udc00" through.
bool has_lone_surrogate(std::string_view text) noexcept {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\xed' && static_cast<unsigned char>(text[i + 1]) >= 0xa0) return true;
  }
  return false;
}

struct Refusal {
  std::string_view token{};
  std::string reason{};
};

/// Receives RapidJSON's events and builds the tree. A member function that returns false ends
/// parsing.
class TreeBuilder {
 public:
  explicit TreeBuilder(unsigned max_depth) : max_depth_(max_depth) {}

  bool Null() { return add(JsonValue()); }
  bool Bool(bool value) { return add(value); }
  bool Int(int value) { return add(value); }
  bool Uint(unsigned value) { return add(value); }
  bool Int64(std::int64_t value) { return add(value); }
  bool Uint64(std::uint64_t value) { return add(value); }
  bool Double(double) {
    return refuse("JSON_NUMBER",
                  "the number is no integer of 64 bits; write a whole number from -2^63 to 2^64-1");
  }
  /// All numbers come here when decimals are kept.
  bool RawNumber(const char* data, rapidjson::SizeType size, bool) {
    const char* const end = data + size;
    if (std::uint64_t value = 0; std::from_chars(data, end, value) == read_all(end)) {
      return add(value);
    }
    if (std::int64_t value = 0; std::from_chars(data, end, value) == read_all(end)) {
      return add(value);
    }
    return add(JsonDecimal{std::string(data, size)});
  }

  bool String(const char* data, rapidjson::SizeType size, bool) {
    const std::string_view text(data, size);
    return check_encoding(text) && add(text);
  }

  bool StartObject() { return open(JsonValue::Object{}); }
  bool Key(const char* data, rapidjson::SizeType size, bool) {
    std::string key(data, size);
    if (!check_encoding(key)) return false;
    Container& top = stack_.back();
    if (std::get<JsonValue::Object>(top.items).contains(key)) {
      return refuse("JSON_DUPLICATE_KEY", "key '" + key + "' appears twice in one object");
    }
    top.key = std::move(key);
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return close(); }

  bool StartArray() { return open(JsonValue::Array{}); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  [[nodiscard]] const std::optional<Refusal>& refusal() const noexcept { return refusal_; }
  [[nodiscard]] JsonValue take() && { return std::move(root_); }

 private:
  struct Container {
    std::variant<JsonValue::Object, JsonValue::Array> items{};
    std::string key{};  ///< of the member that comes next
  };

  static std::from_chars_result read_all(const char* end) noexcept { return {end, std::errc{}}; }

  bool refuse(std::string_view token, std::string reason) {
    refusal_ = Refusal{token, std::move(reason)};
    return false;
  }

  bool check_encoding(std::string_view text) {
    if (!has_lone_surrogate(text)) return true;
    return refuse("JSON_ENCODING", "a \\u escape gives half a surrogate pair");
  }

  bool open(std::variant<JsonValue::Object, JsonValue::Array> items) {
    if (stack_.size() >= max_depth_) {
      return refuse("JSON_LIMIT", "nested deeper than " + std::to_string(max_depth_) + " levels");
    }
    stack_.push_back({std::move(items), {}});
    return true;
  }

  bool close() {
    Container done = std::move(stack_.back());
    stack_.pop_back();
    return std::visit([this](auto& items) { return add(JsonValue(std::move(items))); }, done.items);
  }

  bool add(JsonValue value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (auto* array = std::get_if<JsonValue::Array>(&stack_.back().items)) {
      array->push_back(std::move(value));
    } else {
      Container& top = stack_.back();
      std::get<JsonValue::Object>(top.items).emplace(std::move(top.key), std::move(value));
    }
    return true;
  }

  unsigned max_depth_;
  std::vector<Container> stack_{};
  JsonValue root_{};
  std::optional<Refusal> refusal_{};
};

std::string_view token_of(rapidjson::ParseErrorCode code) noexcept {
  switch (code) {
    case rapidjson::kParseErrorNumberTooBig:
      return "JSON_NUMBER";
    case rapidjson::kParseErrorStringInvalidEncoding:
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "JSON_ENCODING";
    default:
      return "JSON_SYNTAX";
  }
}

auto refuse_at(std::size_t offset, std::string_view token, std::string_view reason) {
  return fail(ErrorCode::kInvalidArgument, token,
              "JSON at byte " + std::to_string(offset) + ": " + std::string(reason));
}

}  // namespace

JsonValue::JsonValue(std::int64_t value) {
  if (value < 0) {
    value_ = value;
  } else {
    value_ = static_cast<std::uint64_t>(value);
  }
}

const JsonValue* JsonValue::find(std::string_view key) const noexcept {
  const Object* object = as_object();
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &found->second;
}

bool operator==(const JsonValue& a, const JsonValue& b) { return a.value_ == b.value_; }

std::string JsonValue::dump(unsigned indent) const {
  std::string text;
  JsonWriter writer(indent, indent, [&](std::string_view piece) { text.append(piece); });
  writer.value(*this);
  writer.finish();
  return text;
}

expected<JsonValue, Error> parse_json(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.max_bytes) {
    return refuse_at(limits.max_bytes, "JSON_LIMIT",
                     "the text has " + std::to_string(text.size()) + " bytes, the limit is " +
                         std::to_string(limits.max_bytes));
  }
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  TreeBuilder builder(limits.max_depth);
  // Iterative, so that hostile nesting can't use up the call stack.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  constexpr unsigned kWithDecimals = kFlags | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = limits.decimals
                                            ? reader.Parse<kWithDecimals>(stream, builder)
                                            : reader.Parse<kFlags>(stream, builder);
  if (const auto& refusal = builder.refusal()) {
    return refuse_at(stream.Tell(), refusal->token, refusal->reason);
  }
  if (result.IsError()) {
    return refuse_at(result.Offset(), token_of(result.Code()),
                     rapidjson::GetParseError_En(result.Code()));
  }
  // RapidJSON takes a NUL byte for the end of the text.
  if (stream.Tell() != text.size()) {
    return refuse_at(stream.Tell(), "JSON_SYNTAX", "text after the end of the value");
  }
  return std::move(builder).take();
}

}  // namespace weftline
