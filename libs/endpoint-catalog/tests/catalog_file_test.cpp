// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "sample_catalog.hpp"
#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/testing/temporary_folder.hpp"

namespace weftline::catalog_tests {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}

/// As long as it lives, no file of this process grows past `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

TEST_CASE("a saved catalog is loaded as the same bytes") {
  const TemporaryFolder folder;
  const ChannelEndpointCatalog catalog = sample_catalog();
  const auto wrote = catalog.save_json(folder / "catalog.json");
  REQUIRE(wrote);
  CHECK(*wrote);
  CHECK(content(folder / "catalog.json") == catalog.json());
  CHECK(folder.files() == 1);
  const auto loaded = ChannelEndpointCatalog::load_json(folder / "catalog.json");
  REQUIRE(loaded);
  CHECK(loaded->json() == catalog.json());
  CHECK(loaded->digest() == catalog.digest());
}

TEST_CASE("a new file has the mode of the umask, a replaced one keeps its own") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  const Umask umask(027);
  REQUIRE(sample_catalog().save_json(path).value());
  CHECK((status_of(path).st_mode & 0777) == 0640);
  for (const mode_t mode : {mode_t{0600}, mode_t{0666}}) {
    put(path, "old");
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    REQUIRE(sample_catalog().save_json(path).value());
    CHECK((status_of(path).st_mode & 0777) == mode);
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("saving equal bytes leaves the file untouched") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  const ChannelEndpointCatalog catalog = sample_catalog();
  REQUIRE(catalog.save_json(path).value());
  const struct stat before = status_of(path);
  const auto wrote = ChannelEndpointCatalog::load_json(path)->save_json(path);
  REQUIRE(wrote);
  CHECK_FALSE(*wrote);
  const struct stat after = status_of(path);
  CHECK(after.st_ino == before.st_ino);
  CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
  CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
  CHECK(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

TEST_CASE("other bytes, shorter, longer or alike in size, are replaced") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  const ChannelEndpointCatalog catalog = sample_catalog();
  std::string changed = catalog.json();
  changed.back() = ' ';
  for (const std::string& old : {std::string(), changed, catalog.json() + "\n", std::string("{")}) {
    put(path, old);
    CHECK(catalog.save_json(path).value());
    CHECK(content(path) == catalog.json());
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("a reader that holds the old file open keeps the old bytes") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  put(path, "old");
  std::ifstream reader(path);
  REQUIRE(sample_catalog().save_json(path).value());
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
}

TEST_CASE("a relative path without a folder is saved in the working folder") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder / ".");
  const auto wrote = sample_catalog().save_json("catalog.json");
  fs::current_path(before);
  REQUIRE(wrote);
  CHECK(folder.files() == 1);
}

TEST_CASE("a path that can't be written is refused with the path and the system's reason") {
  const TemporaryFolder folder;
  const ChannelEndpointCatalog catalog = sample_catalog();
  const fs::path missing = folder / "no/such/catalog.json";
  const auto no_folder = catalog.save_json(missing);
  REQUIRE_FALSE(no_folder);
  CHECK(no_folder.error().code == ErrorCode::kNotFound);
  CHECK(no_folder.error().message == "cannot create a temporary file beside '" + missing.native() +
                                         "': No such file or directory");

  put(folder / "file", "x");
  const auto below_file = catalog.save_json(folder / "file/catalog.json");
  REQUIRE_FALSE(below_file);
  CHECK(below_file.error().message.ends_with("Not a directory"));
  CHECK(content(folder / "file") == "x");
}

TEST_CASE("what is no regular file is neither read nor replaced") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_directory(folder / "directory");
  for (const std::string_view name : {"pipe", "directory"}) {
    const auto saved = sample_catalog().save_json(folder / name);
    REQUIRE_FALSE(saved);
    CHECK(saved.error().token == "FILE_KIND");
    const auto loaded = ChannelEndpointCatalog::load_json(folder / name);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().message == "'" + (folder / name).native() + "' is no regular file");
  }
  CHECK(folder.files() == 2);
}

TEST_CASE("a disk without room leaves the old file and no temporary one") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  put(path, "old");
  expected<bool, Error> wrote = false;
  {
    const FileSizeLimit limit(100);
    wrote = sample_catalog().save_json(path);
  }
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().code == ErrorCode::kResourceExhausted);
  CHECK(wrote.error().token == "FILE_WRITE");
  CHECK(wrote.error().message ==
        "cannot write the temporary file beside '" + path.native() + "': File too large");
  CHECK(content(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("an empty catalog is not saved") {
  const TemporaryFolder folder;
  const auto wrote = ChannelEndpointCatalog().save_json(folder / "catalog.json");
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().token == "CATALOG_EMPTY");
  CHECK(folder.files() == 0);
}

TEST_CASE("a file that is missing, too large or no catalog is refused with its path") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  const auto missing = ChannelEndpointCatalog::load_json(path);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().message ==
        "cannot open '" + path.native() + "': No such file or directory");

  put(path, "{\"schema\": 1.5}");
  const auto malformed = ChannelEndpointCatalog::load_json(path);
  REQUIRE_FALSE(malformed);
  CHECK(malformed.error().token == "JSON_NUMBER");
  CHECK(
      malformed.error().message.starts_with("catalog file '" + path.native() + "': JSON at byte "));

  fs::resize_file(path, kMaximumCatalogBytes + 1);
  const auto large = ChannelEndpointCatalog::load_json(path);
  REQUIRE_FALSE(large);
  CHECK(large.error().code == ErrorCode::kResourceExhausted);
  CHECK(large.error().token == "FILE_TOO_LARGE");
}

TEST_CASE("readers see one whole catalog or the other while savers take turns") {
  const TemporaryFolder folder;
  const fs::path path = folder / "catalog.json";
  const ChannelEndpointCatalog first = sample_catalog();
  ChannelEndpointCatalogBuilder builder("other");
  REQUIRE(builder.add(record_of("poses")));
  const ChannelEndpointCatalog second = std::move(builder).build().value();
  REQUIRE(first.save_json(path));

  std::latch start(3);
  std::atomic<int> failures{0};
  const auto saver = [&](const ChannelEndpointCatalog& catalog) {
    start.arrive_and_wait();
    for (int i = 0; i < 40; ++i) {
      if (!catalog.save_json(path)) ++failures;
    }
  };
  std::thread one(saver, first);
  std::thread other(saver, second);
  start.arrive_and_wait();
  for (int i = 0; i < 200; ++i) {
    const auto loaded = ChannelEndpointCatalog::load_json(path);
    if (!loaded || (loaded->json() != first.json() && loaded->json() != second.json())) ++failures;
  }
  one.join();
  other.join();
  CHECK(failures == 0);
  CHECK(folder.files() == 1);
}

}  // namespace
}  // namespace weftline::catalog_tests
