// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/json.hpp"

namespace weftline {

/// How a document is broken into lines. All of them are canonical.
enum class JsonLines : std::uint8_t {
  kOne = 0,    ///< All on one line.
  kEachValue,  ///< Levels that were opened are indented by 2, each value() is on one line.
  kAll,        ///< As JsonValue::dump(2).
};

/// Writes one canonical document (see JsonValue::dump) piece by piece, so that a large one need not
/// be held as a tree. Calls that make no document, keys out of order among them, abort: they are
/// mistakes of the program.
class JsonWriter {
 public:
  /// Takes the text in pieces of a few KiB. Called by the writer's functions and by finish().
  using Sink = std::function<void(std::string_view piece)>;

  JsonWriter(JsonLines lines, Sink sink);

  void open_object();
  /// Of the next member; keys come in byte order.
  void key(std::string_view name);
  void open_array();
  /// Ends the innermost object or array.
  void close();
  void value(const JsonValue& value);
  /// A value that is canonical text on one line already.
  void text(std::string_view canonical);
  /// After the document: the rest goes to the sink.
  void finish();

 private:
  friend class JsonValue;
  JsonWriter(unsigned indent, unsigned value_indent, Sink sink);

  struct Level {
    bool object{false};
    bool empty{true};
    std::string last_key{};
  };

  void before_item();
  void begin(char bracket);
  void end(char bracket, bool empty, unsigned indent);
  void break_line(unsigned indent);
  void drain_full();
  void write_tree(const JsonValue& value);
  void write_key(std::string_view name, unsigned indent);

  unsigned indent_;        ///< Of what is opened and closed.
  unsigned value_indent_;  ///< Inside values.
  Sink sink_;
  std::string text_{};
  std::vector<Level> levels_{};
  std::size_t depth_{0};
  bool key_given_{false};
};

}  // namespace weftline
