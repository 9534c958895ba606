// SPDX-License-Identifier: Apache-2.0
#include "text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "text.hpp"

namespace weftline {
namespace {

constexpr std::size_t kMaximumCellWidth = 48;
constexpr std::size_t kMaximumNoteWidth = 400;
constexpr std::string_view kMargin = "  ";
constexpr std::string_view kNoteMargin = "      ";

}  // namespace

TextTable::TextTable(std::initializer_list<Column> columns) : columns_(columns) {
  Row header;
  for (const Column& column : columns_) header.cells.emplace_back(column.title);
  rows_.push_back(std::move(header));
}

void TextTable::add_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = shorten(one_line(cell), kMaximumCellWidth);
  rows_.push_back({std::move(cells), {}});
}

void TextTable::add_note(std::string note) {
  rows_.back().notes.push_back(shorten(one_line(note), kMaximumNoteWidth));
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      widths[i] = std::max(widths[i], count_code_points(row.cells[i]));
    }
  }
  std::string text;
  for (const Row& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string padding(widths[i] - count_code_points(row.cells[i]), ' ');
      line.append(kMargin);
      if (columns_[i].align == Align::kRight) line.append(padding);
      line.append(row.cells[i]);
      if (columns_[i].align == Align::kLeft) line.append(padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
    for (const std::string& note : row.notes) text.append(kNoteMargin).append(note).append("\n");
  }
  return text;
}

}  // namespace weftline
