// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "weftline/catalog/endpoint_catalog.hpp"

namespace motion_watch {

/// The folder for the results of one run. Unless the run keeps it, the destructor brings back what
/// was there before: an older catalog or none, and no folder that was not there. One thread; every
/// call blocks on the file system.
class OutputFolder {
 public:
  /// A folder that takes files; it and those above it are made if need be. The error is one line.
  static tl::expected<OutputFolder, std::string> prepare(const std::filesystem::path& path);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();

  const std::filesystem::path& path() const { return path_; }

  /// Writes catalog.json, which other processes wait for. The error is one line.
  tl::expected<void, std::string> save_catalog(const weftline::ChannelEndpointCatalog& catalog);

  /// All results are there: the destructor leaves them alone.
  void keep() { undo_ = false; }

 private:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_{};  ///< The innermost one first.
  bool wrote_catalog_{false};
  std::optional<std::string> older_catalog_{};
  bool undo_{true};
};

}  // namespace motion_watch
