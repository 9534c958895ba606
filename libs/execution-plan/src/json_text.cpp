// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <cstdio>
#include <cstdlib>

namespace weftline {

JsonObjectText::JsonObjectText(std::initializer_list<Member> members) {
  std::size_t size = 2;
  for (const Member& member : members) size += member.key.size() + member.value.text().size() + 4;
  text_.clear();
  text_.reserve(size);
  text_.push_back('{');
  std::string_view last;
  for (const Member& member : members) {
    if (text_.size() > 1) {
      if (!(last < member.key)) {
        std::fprintf(stderr, "weftline: keys of a record out of order: %.*s\n",
                     static_cast<int>(member.key.size()), member.key.data());
        std::abort();
      }
      text_.push_back(',');
    }
    last = member.key;
    text_.push_back('"');
    text_.append(member.key).append("\":").append(member.value.text());
  }
  text_.push_back('}');
}

void JsonArrayText::push_back(const JsonText& item) {
  text_.back() = ',';
  if (text_.size() == 2) text_.pop_back();  // it was "[]"
  text_.append(item.text()).push_back(']');
}

}  // namespace weftline
