// SPDX-License-Identifier: Apache-2.0
// What else save_file() promises (modes, failures, readers at the same time) is tried through the
// endpoint catalog, see its catalog_file_test.
#include "weftline/core/file.hpp"

#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "weftline/testing/temporary_folder.hpp"

namespace weftline {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

TEST_CASE("a file holds what was saved, and is written only when that changes") {
  const TemporaryFolder folder;
  const fs::path path = folder / "numbers";
  const std::string bytes("1\0\n2", 4);
  CHECK(save_file(path, bytes).value());
  CHECK(read_file(path, 4).value() == bytes);
  CHECK_FALSE(save_file(path, bytes).value());
  CHECK(save_file(path, "").value());
  CHECK(read_file(path, 0).value().empty());
  CHECK(save_file(path, "longer than before").value());
  CHECK(read_file(path, 100).value() == "longer than before");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("what can't be read or replaced is refused with its path") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file";
  const auto missing = read_file(path, 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().token == "FILE_OPEN");
  CHECK(missing.error().message.find(path.native()) != std::string::npos);

  REQUIRE(save_file(path, "12345"));
  CHECK(read_file(path, 5).value() == "12345");
  const auto large = read_file(path, 4);
  REQUIRE_FALSE(large);
  CHECK(large.error().token == "FILE_TOO_LARGE");

  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& other : {pipe, folder.path()}) {
    CHECK(read_file(other, 10).error().token == "FILE_KIND");
    CHECK(save_file(other, "x").error().token == "FILE_KIND");
  }
  CHECK(save_file(folder / "no" / "such", "x").error().token == "FILE_WRITE");
}

}  // namespace
}  // namespace weftline
