// SPDX-License-Identifier: Apache-2.0
#include "namesakes.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <memory>
#include <new>
#include <vector>

#include "discovery_record.hpp"
#include "unique_fd.hpp"
#include "weftline/catalog/endpoint_catalog.hpp"

namespace weftline::channel {

namespace {

std::vector<std::string> files_beside(int directory, std::string_view own_file) {
  // The readable part, up to the key and its dot, is the same for every deployment.
  const std::string_view prefix = own_file.substr(0, own_file.find('.') + 1);
  std::vector<std::string> names;
  const auto close = [](DIR* open) { ::closedir(open); };
  const int fd = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* opened = fd < 0 ? nullptr : ::fdopendir(fd);
  if (opened == nullptr) UniqueFd{fd}.reset();
  const std::unique_ptr<DIR, decltype(close)> folder(opened, close);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(prefix) && name != own_file) names.emplace_back(name);
  }
  return names;
}

std::string describe(int directory, std::string_view deployment_id, std::string_view endpoint) {
  const std::string own_file = record_file_name(deployment_id, endpoint);
  std::string text;
  for (const std::string& file : files_beside(directory, own_file)) {
    const RecordSighting seen = look_for_record(directory, file);
    if (seen.state != RecordState::kLive) continue;
    const auto catalog = ChannelEndpointCatalog::parse(seen.content.endpoint_json);
    if (!catalog || catalog->find(endpoint) == nullptr) continue;
    text += (text.empty() ? "" : "; ") + std::string("process ") +
            std::to_string(seen.content.pid) + " publishes '" + std::string(endpoint) +
            "' for deployment '" + catalog->deployment_id() + "'";
  }
  if (text.empty()) return text;
  return text + "; this catalog is of '" + std::string(deployment_id) +
         "': give both sides one catalog";
}

}  // namespace

std::string describe_namesakes(int directory, std::string_view deployment_id,
                               std::string_view endpoint) noexcept {
  try {
    return describe(directory, deployment_id, endpoint);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace weftline::channel
