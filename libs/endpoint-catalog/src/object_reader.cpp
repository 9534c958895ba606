// SPDX-License-Identifier: Apache-2.0
#include "object_reader.hpp"

#include <utility>

#include "text.hpp"

namespace weftline {

using catalog_text::concat;
using catalog_text::in_quotes;

ObjectReader::ObjectReader(const JsonValue& value, std::string path)
    : object_(value.as_object()), path_(std::move(path)) {
  if (object_ == nullptr) refuse("CATALOG_KIND_WRONG", concat({path_, " is no object"}));
}

const JsonValue* ObjectReader::member(std::string_view key) {
  if (error_) return nullptr;
  const auto found = object_->find(key);
  if (found == object_->end()) {
    refuse("CATALOG_KEY_MISSING", concat({path_of(key), " is missing; every key has to be there"}));
    return nullptr;
  }
  taken_.emplace(key);
  return &found->second;
}

std::string ObjectReader::text(std::string_view key) {
  const JsonValue* value = member(key);
  if (value == nullptr) return {};
  if (const std::string* string = value->as_string()) return *string;
  refuse_kind(key, "text");
  return {};
}

const JsonValue::Array* ObjectReader::array(std::string_view key) {
  const JsonValue* value = member(key);
  if (value == nullptr) return nullptr;
  if (value->as_array() == nullptr) refuse_kind(key, "a list");
  return value->as_array();
}

std::uint64_t ObjectReader::unsigned_member(std::string_view key, std::uint64_t maximum) {
  const JsonValue* value = member(key);
  if (value == nullptr) return 0;
  const std::uint64_t* number = value->as_uint();
  if (number == nullptr) {
    refuse_kind(key, "a whole number from 0");
    return 0;
  }
  if (*number > maximum) {
    refuse("CATALOG_NUMBER_OUT_OF_RANGE", concat({path_of(key), " is ", std::to_string(*number),
                                                  "; give at most ", std::to_string(maximum)}));
    return 0;
  }
  return *number;
}

void ObjectReader::refuse_choice(std::string_view key, std::string_view spelled) {
  refuse("CATALOG_CHOICE_UNKNOWN",
         concat({path_of(key), " is ", in_quotes(spelled), ", which this version does not know"}));
}

void ObjectReader::refuse_kind(std::string_view key, std::string_view wanted) {
  refuse("CATALOG_KIND_WRONG", concat({path_of(key), " has to be ", wanted}));
}

void ObjectReader::refuse(std::string_view token, std::string message) {
  if (!error_) error_ = Error{ErrorCode::kInvalidArgument, token, std::move(message), 0};
}

std::string ObjectReader::path_of(std::string_view key) const { return concat({path_, ".", key}); }

expected<void, Error> ObjectReader::finish() {
  if (!error_) {
    for (const auto& [key, value] : *object_) {
      if (taken_.contains(key)) continue;
      refuse("CATALOG_KEY_UNKNOWN", concat({path_, " has the key ", in_quotes(key),
                                            ", which this version does not know"}));
    }
  }
  if (error_) return make_unexpected(*error_);
  return {};
}

}  // namespace weftline
