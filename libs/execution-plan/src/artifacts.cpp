// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/artifacts.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>
#include <utility>

#include "text.hpp"
#include "weftline/core/digest.hpp"
#include "weftline/core/file.hpp"
#include "weftline/core/json.hpp"
#include "weftline/plan/plan_dot.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kCatalog = "endpoint-catalog.json";
constexpr std::string_view kSchema = "weftline.artifact-bundle";
constexpr std::uint32_t kSchemaVersion = 1;
constexpr std::size_t kMaximumNameBytes = 128;

bool is_folder_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaximumNameBytes && name.front() != '.' &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
         });
}

struct File {
  std::string name{};
  std::string bytes{};
};

/// In the order of their names.
std::vector<File> files_of(const PlanRecords& records) {
  std::vector<File> files;
  if (!records.endpoint_catalog.empty()) {
    files.push_back({std::string(kCatalog), records.endpoint_catalog.json()});
  }
  files.push_back({"plan.dot", plan_dot(records)});
  files.push_back({"plan.json", plan_json(records)});
  files.push_back({"plan.txt", render_plan(records)});
  return files;
}

std::string manifest_of(const PlanRecords& records, const std::string& deployment_id,
                        const std::vector<File>& files) {
  JsonValue::Array list;
  for (const File& file : files) {
    list.push_back(JsonValue::Object{{"bytes", std::uint64_t{file.bytes.size()}},
                                     {"digest", digest_text(sha256(file.bytes))},
                                     {"name", file.name}});
  }
  return JsonValue(JsonValue::Object{{"deployment_id", deployment_id},
                                     {"files", std::move(list)},
                                     {"graph_name", valid_utf8(records.graph_name)},
                                     {"plan_digest", plan_digest(records)},
                                     {"plan_schema_version", kPlanSchemaVersion},
                                     {"schema", kSchema},
                                     {"version", kSchemaVersion}})
      .dump(2);
}

expected<void, Error> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (!error && std::filesystem::is_directory(folder, error) && !error) return {};
  return fail(ErrorCode::kInvalidArgument, "ARTIFACT_FOLDER",
              "cannot make the folder '" + folder.native() + "'" +
                  (error ? ": " + error.message() : std::string()) +
                  "; give an existing folder as ArtifactEmitOptions::root");
}

expected<void, Error> remove_old_catalog(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (!error) return {};
  return fail(
      ErrorCode::kFailure, "ARTIFACT_FOLDER",
      "cannot remove '" + path.native() + "', which this plan no longer has: " + error.message());
}

}  // namespace

expected<ArtifactBundle, Error> emit_artifacts(const PlanRecords& records,
                                               const ArtifactEmitOptions& options) {
  if (!records.ok()) {
    return fail(ErrorCode::kInvalidArgument, "ARTIFACT_PLAN_REJECTED",
                "the plan of " + one_line(records.graph_name) +
                    " was rejected; correct what its diagnostics name and compile again");
  }
  if (!is_folder_name(options.deployment_id)) {
    return fail(ErrorCode::kInvalidArgument, "ARTIFACT_NAME_INVALID",
                "a deployment id is 1 to 128 of A-Z a-z 0-9 . _ - with no dot in front, not '" +
                    shorten(one_line(options.deployment_id), kMaximumNameBytes) + "'");
  }
  ArtifactBundle bundle{.folder = options.root / options.deployment_id};
  WEFTLINE_TRY(make_folder(bundle.folder));
  std::vector<File> files = files_of(records);
  if (records.endpoint_catalog.empty()) {
    WEFTLINE_TRY(remove_old_catalog(bundle.folder / kCatalog));
  }
  std::string manifest = manifest_of(records, options.deployment_id, files);
  files.push_back({std::string(kManifest), std::move(manifest)});
  for (const File& file : files) {
    const auto wrote = save_file(bundle.folder / file.name, file.bytes);
    if (!wrote) return make_unexpected(wrote.error());
    bundle.files.push_back(file.name);
    if (*wrote) bundle.written.push_back(file.name);
  }
  std::ranges::sort(bundle.files);
  std::ranges::sort(bundle.written);
  return bundle;
}

}  // namespace weftline
