// SPDX-License-Identifier: Apache-2.0
#include "output_folder.hpp"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "whole_file.hpp"

namespace motion_watch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCatalog = "catalog.json";

std::optional<std::string> read_regular_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)),
      made_(std::move(other.made_)),
      wrote_catalog_(other.wrote_catalog_),
      older_catalog_(std::move(other.older_catalog_)),
      undo_(std::exchange(other.undo_, false)) {}

OutputFolder::~OutputFolder() {
  if (!undo_) return;
  std::error_code ignored;
  if (wrote_catalog_ && older_catalog_) {
    (void)write_whole_file(path_ / kCatalog, *older_catalog_);
  } else if (wrote_catalog_) {
    fs::remove(path_ / kCatalog, ignored);
  }
  // Removes empty folders only: what others have put there stays.
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
}

tl::expected<OutputFolder, std::string> OutputFolder::prepare(const fs::path& path) {
  std::error_code error;
  OutputFolder folder(path);
  for (fs::path each = path; !each.empty(); each = each.parent_path()) {
    if (fs::exists(fs::symlink_status(each, error)) || each == each.parent_path()) break;
    folder.made_.push_back(each);
  }
  fs::create_directories(path, error);
  if (error) {
    return tl::unexpected("--out " + path.string() + ": cannot make this folder (" +
                          error.message() + "); name another");
  }
  const fs::path probe = path / ".motion-watch-probe";
  if (auto written = write_whole_file(probe, ""); !written) {
    return tl::unexpected("--out " + path.string() + ": " + written.error());
  }
  fs::remove(probe, error);
  return folder;
}

tl::expected<void, std::string> OutputFolder::save_catalog(
    const weftline::ChannelEndpointCatalog& catalog) {
  older_catalog_ = read_regular_file(path_ / kCatalog);
  const auto saved = catalog.save_json(path_ / kCatalog);
  if (!saved) return tl::unexpected(saved.error().to_string());
  wrote_catalog_ = *saved;
  return {};
}

}  // namespace motion_watch
