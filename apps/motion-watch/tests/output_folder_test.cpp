// SPDX-License-Identifier: Apache-2.0
#include "output_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include "graph.hpp"
#include "test_folder.hpp"

namespace motion_watch {
namespace {

weftline::ChannelEndpointCatalog some_catalog() {
  const JobOptions options{.geometry = {64, 48}, .rate = {10, 1}};
  return compile_job(options, JobState(options.geometry), {}).endpoint_catalog();
}

}  // namespace

TEST_CASE("a run that keeps nothing leaves the folder as it was") {
  const TestFolder folder;
  const auto catalog = some_catalog();
  const std::filesystem::path inner = folder / "a" / "b" / "c";
  {
    auto out = OutputFolder::prepare(inner);
    REQUIRE(out);
    CHECK(std::filesystem::is_directory(inner));
    REQUIRE(out->save_catalog(catalog));
    CHECK(read_file(inner / "catalog.json") == catalog.json());
  }
  CHECK(folder.file_count() == 0);

  write_file(folder / "catalog.json", "of an earlier run");
  {
    auto out = OutputFolder::prepare(folder.path());
    REQUIRE(out);
    REQUIRE(out->save_catalog(catalog));
    CHECK(read_file(folder / "catalog.json") == catalog.json());
  }
  CHECK(read_file(folder / "catalog.json") == "of an earlier run");
  CHECK(folder.file_count() == 1);
}

TEST_CASE("files of others stay, and so do the folders that hold them") {
  const TestFolder folder;
  {
    auto out = OutputFolder::prepare(folder / "a" / "b");
    REQUIRE(out);
    write_file(folder / "a" / "other", "x");
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a" / "b"));
  CHECK(read_file(folder / "a" / "other") == "x");
}

TEST_CASE("a kept folder stays with its catalog") {
  const TestFolder folder;
  {
    auto out = OutputFolder::prepare(folder / "a" / "b/");
    REQUIRE(out);
    REQUIRE(out->save_catalog(some_catalog()));
    out->keep();
  }
  CHECK(std::filesystem::exists(folder / "a" / "b" / "catalog.json"));
}

TEST_CASE("a folder that can't be made or written leaves nothing behind") {
  const TestFolder folder;
  write_file(folder / "file", "x");
  const auto refused = OutputFolder::prepare(folder / "file" / "a");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().starts_with("--out "));
  CHECK_FALSE(OutputFolder::prepare(folder / "new" / std::string(300, 'n')));
  CHECK(folder.file_count() == 1);
}

}  // namespace motion_watch
