// SPDX-License-Identifier: Apache-2.0
#include "event_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace motion_watch {
namespace {

constexpr std::size_t kMuch = std::size_t{64} * 1024;

std::string line_of(const MotionEvent& event) {
  std::string line = "{\"frame\":" + std::to_string(event.frame_id) +
                     ",\"capture_ns\":" + std::to_string(event.capture_time_ns) +
                     ",\"regions\":" + std::to_string(event.total_regions) + ",\"boxes\":[";
  for (std::uint32_t index = 0; index < event.box_count && index < kMaxBoxes; ++index) {
    const Box& box = event.boxes[index];
    line += (index == 0 ? "[" : ",[") + std::to_string(box.x) + "," + std::to_string(box.y) + "," +
            std::to_string(box.w) + "," + std::to_string(box.h) + "]";
  }
  return line + "]}\n";
}

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

tl::expected<EventFile, std::string> EventFile::create(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) return EventFile(path, fd);
  return tl::unexpected(path.string() + ": can't be written (" +
                        std::generic_category().message(errno) +
                        "); name a file in a folder that exists and is writable");
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      lines_(std::move(other.lines_)),
      whole_bytes_(other.whole_bytes_),
      whole_events_(other.whole_events_) {}

EventFile::~EventFile() {
  if (fd_ >= 0) ::close(fd_);
}

tl::expected<void, std::string> EventFile::add(const MotionEvent& event) {
  lines_ += line_of(event);
  if (lines_.size() < kMuch) return {};
  return flush();
}

tl::expected<void, std::string> EventFile::flush() {
  std::size_t written = 0;
  while (written < lines_.size()) {
    const ssize_t count = ::write(fd_, lines_.data() + written, lines_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cut_back(written, errno);
    written += static_cast<std::size_t>(count);
  }
  whole_bytes_ += written;
  whole_events_ += count_lines(lines_);
  lines_.clear();
  return {};
}

tl::unexpected<std::string> EventFile::cut_back(std::size_t written, int error) {
  const std::string_view there(lines_.data(), written);
  const std::string_view whole = there.substr(0, there.rfind('\n') + 1);
  const bool cut = whole.size() == there.size() ||
                   ::ftruncate(fd_, static_cast<off_t>(whole_bytes_ + whole.size())) == 0;
  return tl::unexpected(path_.string() + ": can't be written further (" +
                        std::generic_category().message(error) + "); it holds the first " +
                        std::to_string(whole_events_ + count_lines(whole)) + " events" +
                        (cut ? "" : " and a part of the next") + "; make room and record again");
}

}  // namespace motion_watch
