// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "event.hpp"

namespace motion_watch {

/// Events in a file, one JSON object a line. Whatever happens, the file ends with a whole line:
/// what a full disk has cut off is removed again. One thread. Every error is one line: the path,
/// the system's reason, what is there and what to do.
class EventFile {
 public:
  /// Makes the file, or empties it.
  static tl::expected<EventFile, std::string> create(const std::filesystem::path& path);

  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;
  /// Writes nothing.
  ~EventFile();

  /// Keeps the line in memory, or writes what has gathered if that is much. Allocates.
  tl::expected<void, std::string> add(const MotionEvent& event);

  /// Writes what has gathered. After an error only the destructor may be called.
  tl::expected<void, std::string> flush();

 private:
  EventFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  tl::unexpected<std::string> cut_back(std::size_t written, int error);

  std::filesystem::path path_;
  int fd_;
  std::string lines_{};           ///< Not yet written.
  std::uint64_t whole_bytes_{0};  ///< Of the lines before those.
  std::uint64_t whole_events_{0};
};

}  // namespace motion_watch
