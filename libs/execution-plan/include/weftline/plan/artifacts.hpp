// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

struct ArtifactEmitOptions {
  std::filesystem::path root{};  ///< An existing folder.
  /// Names the bundle's folder in `root`: 1 to 128 of A-Z a-z 0-9 . _ - with no dot in front.
  std::string deployment_id{};
};

/// What emit_artifacts() did. File names are relative to `folder`, sorted.
struct ArtifactBundle {
  std::filesystem::path folder{};
  std::vector<std::string> files{};    ///< All of the bundle, manifest.json included.
  std::vector<std::string> written{};  ///< Those whose bytes changed.
};

/// Writes what a deployment needs to see of an accepted plan into `root`/`deployment_id`:
///
///   plan.json              the canonical plan
///   plan.txt               the same for people, as render_plan()
///   plan.dot               a drawing, as plan_dot()
///   endpoint-catalog.json  for peers; only when the plan has endpoints
///   manifest.json          schema marker, deployment, digest of the plan; bytes and SHA-256 of
///   each
///                          other file
///
/// A file is written only when its bytes differ, and replaced whole; the manifest comes last, so a
/// bundle that was interrupted does not match its manifest. A catalog of an earlier plan is removed
/// when this one has none; other files in the folder are left alone. Blocks until all is on the
/// disk. Refuses a rejected plan (ARTIFACT_PLAN_REJECTED), a bad name (ARTIFACT_NAME_INVALID) and
/// a folder that can't be made (ARTIFACT_FOLDER), and returns what the file system refuses (FILE_…,
/// see core/file.hpp). There is no way back from a bundle to a plan.
[[nodiscard]] expected<ArtifactBundle, Error> emit_artifacts(const PlanRecords& records,
                                                             const ArtifactEmitOptions& options);

}  // namespace weftline
