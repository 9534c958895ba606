// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weftline {

/// Rows of text in columns that are as wide as their widest cell; long cells are shortened in the
/// middle.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string_view title{};
    Align align{Align::kLeft};
  };

  explicit TextTable(std::initializer_list<Column> columns);

  /// As many cells as columns.
  void add_row(std::vector<std::string> cells);
  /// A line of its own below the last row, indented, not in columns.
  void add_note(std::string note);
  /// Two spaces before each line; no trailing blanks.
  [[nodiscard]] std::string to_string() const;

 private:
  struct Row {
    std::vector<std::string> cells{};
    std::vector<std::string> notes{};
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace weftline
