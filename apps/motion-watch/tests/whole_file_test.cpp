// SPDX-License-Identifier: Apache-2.0
#include "whole_file.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "test_folder.hpp"

namespace motion_watch {

TEST_CASE("a written file has exactly its bytes and leaves nothing beside it") {
  const TestFolder folder;
  const std::string bytes("one\0two\n", 8);
  REQUIRE(write_whole_file(folder / "a.bin", bytes).has_value());
  CHECK(read_file(folder / "a.bin") == bytes);
  REQUIRE(write_whole_file(folder / "a.bin", "").has_value());
  CHECK(read_file(folder / "a.bin").empty());
  CHECK(folder.file_count() == 1);
}

TEST_CASE("a file that can't be written is one clear line, and nothing is left behind") {
  const TestFolder folder;
  const auto check_refused = [&](const std::filesystem::path& path, const char* reason) {
    const auto written = write_whole_file(path, "bytes");
    REQUIRE_FALSE(written.has_value());
    INFO(written.error());
    CHECK(written.error().starts_with(path.string() + ": can't be written ("));
    CHECK(written.error().find(reason) != std::string::npos);
    CHECK(written.error().find('\n') == std::string::npos);
  };
  check_refused(folder / "missing" / "a.bin", "No such file or directory");
  std::filesystem::create_directory(folder / "taken");
  check_refused(folder / "taken", "Is a directory");
  write_file(folder / "file", "x");
  check_refused(folder / "file" / "a.bin", "Not a directory");
  CHECK(folder.file_count() == 2);
}

TEST_CASE("a full disk leaves the older file as it was") {
  if (!std::filesystem::exists("/dev/full")) SKIP("this system has no /dev/full");
  const TestFolder folder;
  // The temporary file's name, made a link to a device that is always full.
  const std::string temporary = "a.bin.partial-" + std::to_string(::getpid());
  std::filesystem::create_symlink("/dev/full", folder / temporary);
  write_file(folder / "a.bin", "old");
  const auto written = write_whole_file(folder / "a.bin", std::string(100'000, 'x'));
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().find("No space left") != std::string::npos);
  CHECK(read_file(folder / "a.bin") == "old");
  CHECK(folder.file_count() == 1);
}

TEST_CASE("of several files none appears when the last one can't be written") {
  const TestFolder folder;
  write_file(folder / "a", "old");
  const auto check_nothing_changed = [&](const std::filesystem::path& last) {
    const std::vector<WholeFile> files{{folder / "a", "new"}, {folder / "b", "new"}, {last, "new"}};
    const std::size_t count = folder.file_count();
    const auto written = write_whole_files(files);
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().starts_with(last.string() + ": "));
    CHECK(read_file(folder / "a") == "old");
    CHECK(folder.file_count() == count);
  };
  check_nothing_changed(folder / "missing" / "c");
  std::filesystem::create_directory(folder / "taken");
  check_nothing_changed(folder / "taken");

  REQUIRE(write_whole_files(std::vector<WholeFile>{{folder / "a", "1"}, {folder / "b", "2"}}));
  CHECK(read_file(folder / "a") == "1");
  CHECK(read_file(folder / "b") == "2");
}

}  // namespace motion_watch
