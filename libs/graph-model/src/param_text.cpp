// SPDX-License-Identifier: Apache-2.0
#include "param_text.hpp"

#include <algorithm>
#include <charconv>
#include <variant>

namespace weftline {
namespace {

constexpr std::size_t kMaximumQuotedBytes = 64;

}  // namespace

std::string param_type_name(const ParamType& type) {
  const std::string bits = std::to_string(type.bits);
  std::string name;
  switch (type.kind) {
    case ParamKind::kBool:
      name = "bool";
      break;
    case ParamKind::kInteger:
      name = "int" + bits;
      break;
    case ParamKind::kUnsigned:
      name = "uint" + bits;
      break;
    case ParamKind::kFloat:
      name = "float" + bits;
      break;
    case ParamKind::kDuration:
      name = "duration_ns";
      break;
    case ParamKind::kEnum:
      name = (type.is_signed ? "enum int" : "enum uint") + bits;
      break;
    case ParamKind::kString:
      name = "string";
      break;
  }
  if (type.shape == ParamShape::kArray) name.append("[" + std::to_string(type.count) + "]");
  if (type.shape == ParamShape::kList) name.append("[]");
  return name;
}

namespace params {

std::string float_text(double number, unsigned bits) {
  char text[64];
  const auto result = bits == 32
                          ? std::to_chars(text, text + sizeof text, static_cast<float>(number))
                          : std::to_chars(text, text + sizeof text, number);
  return std::string(text, result.ptr);
}

std::string quoted(std::string_view text) {
  if (text.size() <= kMaximumQuotedBytes) return JsonValue(text).dump();
  std::size_t end = kMaximumQuotedBytes;
  // Not inside a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return JsonValue(std::string(text.substr(0, end)) + "…").dump();
}

JsonValue scalar_json(const ParamFieldDescriptor& field, const ParamScalar& scalar) {
  if (field.type.kind == ParamKind::kEnum) {
    const auto named =
        std::ranges::find(field.choices, scalar, &ParamFieldDescriptor::Choice::value);
    if (named != field.choices.end()) return named->name;
  }
  if (const auto* number = std::get_if<double>(&scalar)) {
    return float_text(*number, field.type.bits);
  }
  if (const auto* boolean = std::get_if<bool>(&scalar)) return *boolean;
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return *integer;
  if (const auto* unsigned_integer = std::get_if<std::uint64_t>(&scalar)) return *unsigned_integer;
  return std::get<std::string>(scalar);
}

std::string scalar_text(const ParamFieldDescriptor& field, const ParamScalar& scalar) {
  const JsonValue json = scalar_json(field, scalar);
  std::string text;
  if (field.type.kind == ParamKind::kString) {
    text = quoted(*json.as_string());
  } else {
    text = json.as_string() != nullptr ? *json.as_string() : json.dump();
  }
  if (field.type.kind == ParamKind::kDuration) text.append(" ns");
  if (!field.unit.empty()) text.append(" ").append(field.unit);
  return text;
}

std::string choices_text(const ParamFieldDescriptor& field) {
  std::string text;
  for (const auto& choice : field.choices) {
    text.append(text.empty() ? "" : ", ").append(scalar_text(field, choice.value));
  }
  return text;
}

}  // namespace params
}  // namespace weftline
