// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/artifacts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sample_plan.hpp"
#include "weftline/core/digest.hpp"
#include "weftline/core/file.hpp"
#include "weftline/testing/temporary_folder.hpp"

namespace weftline {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string content(const fs::path& path) { return read_file(path, 1 << 20).value(); }

const std::vector<std::string> kAll{"endpoint-catalog.json", "manifest.json", "plan.dot",
                                    "plan.json", "plan.txt"};

TEST_CASE("a bundle holds the plan in every form, and a manifest that its files agree with") {
  const TemporaryFolder folder;
  const PlanRecords plan = sample_plan();
  const auto bundle = emit_artifacts(plan, {folder.path(), "line-1"});
  REQUIRE(bundle);
  CHECK(bundle->folder == folder / "line-1");
  CHECK(bundle->files == kAll);
  CHECK(bundle->written == kAll);
  CHECK(content(bundle->folder / "plan.json") == plan_json(plan));
  CHECK(content(bundle->folder / "plan.txt") == render_plan(plan));
  CHECK(ChannelEndpointCatalog::load_json(bundle->folder / "endpoint-catalog.json")->digest() ==
        plan.endpoint_catalog.digest());

  const JsonValue manifest = parse_json(content(bundle->folder / "manifest.json")).value();
  CHECK(manifest.find("schema")->dump() == R"("weftline.artifact-bundle")");
  CHECK(*manifest.find("plan_digest")->as_string() == plan_digest(plan));
  CHECK(*manifest.find("deployment_id")->as_string() == "line-1");
  const auto& files = *manifest.find("files")->as_array();
  CHECK(files.size() == kAll.size() - 1);
  for (const JsonValue& file : files) {
    const std::string bytes = content(bundle->folder / *file.find("name")->as_string());
    CHECK(*file.find("bytes")->as_uint() == bytes.size());
    CHECK(*file.find("digest")->as_string() == digest_text(sha256(bytes)));
  }
}

TEST_CASE("only what changed is written again") {
  const TemporaryFolder folder;
  PlanRecords plan = sample_plan();
  REQUIRE(emit_artifacts(plan, {folder.path(), "a"}));
  CHECK(emit_artifacts(plan, {folder.path(), "a"})->written.empty());
  REQUIRE(save_file(folder / "a" / "plan.dot", "edited"));
  CHECK(emit_artifacts(plan, {folder.path(), "a"})->written ==
        std::vector<std::string>{"plan.dot"});
  plan.operators[0].type_version = 9;  // the drawing does not show it, nor do peers see it
  CHECK(emit_artifacts(plan, {folder.path(), "a"})->written ==
        std::vector<std::string>{"manifest.json", "plan.json", "plan.txt"});
}

TEST_CASE("a plan without endpoints takes the old catalog away, and nothing else") {
  const TemporaryFolder folder;
  PlanRecords plan = sample_plan();
  REQUIRE(emit_artifacts(plan, {folder.path(), "a"}));
  REQUIRE(save_file(folder / "a" / "notes.txt", "mine"));
  plan.endpoint_catalog = {};
  plan.export_edges.clear();
  const auto bundle = emit_artifacts(plan, {folder.path(), "a"});
  REQUIRE(bundle);
  CHECK(bundle->files.size() == kAll.size() - 1);
  CHECK_FALSE(fs::exists(folder / "a" / "endpoint-catalog.json"));
  CHECK(content(folder / "a" / "notes.txt") == "mine");
}

TEST_CASE("a bundle that can't be made is refused, and says why") {
  const TemporaryFolder folder;
  const PlanRecords plan = sample_plan();
  PlanRecords rejected = plan;
  rejected.diagnostics[0].severity = DiagnosticSeverity::kError;
  CHECK(emit_artifacts(rejected, {folder.path(), "a"}).error().token == "ARTIFACT_PLAN_REJECTED");
  for (const std::string& name :
       {std::string(), std::string(".."), std::string("a/b"), std::string("a\0b", 3),
        std::string(129, 'a'), std::string(".hidden"), std::string("é")}) {
    const auto refused = emit_artifacts(plan, {folder.path(), name});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().token == "ARTIFACT_NAME_INVALID");
  }
  CHECK(fs::is_empty(folder.path()));
  CHECK(emit_artifacts(plan, {folder.path(), std::string(128, 'a')}));
  const auto no_root = emit_artifacts(plan, {folder / "none", "a"});
  REQUIRE_FALSE(no_root);
  CHECK(no_root.error().token == "ARTIFACT_FOLDER");
  CHECK(no_root.error().message.find("none") != std::string::npos);
  REQUIRE(save_file(folder / "file", "x"));
  CHECK(emit_artifacts(plan, {folder.path(), "file"}).error().token == "ARTIFACT_FOLDER");
  fs::create_directories(folder / "b" / "plan.txt");
  CHECK(emit_artifacts(plan, {folder.path(), "b"}).error().token == "FILE_KIND");
}

}  // namespace
}  // namespace weftline
