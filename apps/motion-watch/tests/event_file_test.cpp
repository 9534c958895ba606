// SPDX-License-Identifier: Apache-2.0
#include "event_file.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_folder.hpp"

namespace motion_watch {
namespace {

MotionEvent event_of(std::uint64_t frame) {
  MotionEvent event;
  event.frame_id = frame;
  event.capture_time_ns = -1;
  event.box_count = 2;
  event.total_regions = 3;
  event.boxes[0] = {1, 2, 3, 4};
  event.boxes[1] = {5, 6, 7, 65535};
  return event;
}

/// Limits how large a file may grow, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_) == 0);
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  sighandler_t old_handler_{};
};

}  // namespace

TEST_CASE("an event is one line of JSON with its boxes") {
  const TestFolder folder;
  auto file = EventFile::create(folder / "events");
  REQUIRE(file);
  MotionEvent empty;
  REQUIRE(file->add(event_of(7)));
  REQUIRE(file->add(empty));
  CHECK(read_file(folder / "events").empty());
  REQUIRE(file->flush());
  CHECK(read_file(folder / "events") ==
        "{\"frame\":7,\"capture_ns\":-1,\"regions\":3,\"boxes\":[[1,2,3,4],[5,6,7,65535]]}\n"
        "{\"frame\":0,\"capture_ns\":0,\"regions\":0,\"boxes\":[]}\n");
}

TEST_CASE("many events are written before anybody asks") {
  const TestFolder folder;
  auto file = EventFile::create(folder / "events");
  REQUIRE(file);
  for (std::uint64_t frame = 0; frame < 2000; ++frame) REQUIRE(file->add(event_of(frame)));
  CHECK(std::filesystem::file_size(folder / "events") > 60'000);
}

TEST_CASE("a file that can't be made is one line with the reason") {
  const TestFolder folder;
  const auto check_refused = [](const std::filesystem::path& path, const char* reason) {
    const auto file = EventFile::create(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().starts_with(path.string() + ": can't be written ("));
    CHECK(file.error().find(reason) != std::string::npos);
  };
  check_refused(folder.path(), "Is a directory");
  check_refused(folder / "no" / "events", "No such file or directory");
}

TEST_CASE("a full disk leaves whole lines only, and is told at once") {
  const TestFolder folder;
  auto file = EventFile::create(folder / "events");
  REQUIRE(file);
  REQUIRE(file->add(event_of(0)));
  REQUIRE(file->flush());
  const std::size_t line = read_file(folder / "events").size();
  const auto fill = [&](std::size_t room) {
    const FileSizeLimit limit(room);
    for (std::uint64_t frame = 1; frame < 4; ++frame) REQUIRE(file->add(event_of(frame)));
    return file->flush();
  };
  tl::expected<void, std::string> written;
  std::size_t whole = 0;
  SECTION("in the middle of a later line") {
    written = fill(3 * line + 5);
    whole = 3;
  }
  SECTION("in the middle of the first line since the last flush") {
    written = fill(line + 5);
    whole = 1;
  }
  SECTION("between two lines") {
    written = fill(2 * line);
    whole = 2;
  }
  REQUIRE_FALSE(written);
  CHECK(written.error().find("File too large") != std::string::npos);
  CHECK(written.error().find("the first " + std::to_string(whole) + " events;") !=
        std::string::npos);
  CHECK(read_file(folder / "events").size() == whole * line);
}

TEST_CASE("a device without room is refused with its reason") {
  if (!std::filesystem::exists("/dev/full")) SKIP("this system has no /dev/full");
  auto file = EventFile::create("/dev/full");
  REQUIRE(file);
  REQUIRE(file->add(event_of(0)));
  const auto written = file->flush();
  REQUIRE_FALSE(written);
  CHECK(written.error().find("No space left") != std::string::npos);
  CHECK(written.error().find("the first 0 events;") != std::string::npos);
}

}  // namespace motion_watch
