// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/error.hpp"

namespace weftline {

class ChannelEndpointCatalogBuilder;

inline constexpr std::size_t kMaximumCatalogBytes = std::size_t{16} << 20;

/// The one thing that processes share: an immutable list of boundary endpoints. Copies share state
/// and may be read from any thread. It holds no live authority. Equal content gives equal bytes and
/// digest.
class ChannelEndpointCatalog {
 public:
  ChannelEndpointCatalog() = default;  ///< Empty.

  [[nodiscard]] static ChannelEndpointCatalogBuilder builder(std::string deployment_id);
  /// Reads a regular file of at most kMaximumCatalogBytes and parses it. The message names file,
  /// endpoint and field. kNotFound when there is no such file.
  [[nodiscard]] static expected<ChannelEndpointCatalog, Error> load_json(
      const std::filesystem::path& path);
  /// Takes untrusted text. It need not be canonical, but every key has to be there, none may be
  /// unknown, and every record obeys the rules of the builder.
  [[nodiscard]] static expected<ChannelEndpointCatalog, Error> parse(std::string_view json);

  /// Writes the canonical bytes through a verified temporary file and a rename, and only when the
  /// file's bytes differ; so a reader sees the old file or the new one. Returns true when it wrote.
  /// A new file's mode is 0666 less the umask, one that is replaced keeps its mode. Blocks until
  /// the bytes are on the disk. After a failure the old or the new file is there, whole (the new
  /// one if only its folder could not be brought to the disk), and the message names the path and
  /// the system's reason; an empty catalog is refused (CATALOG_EMPTY).
  [[nodiscard]] expected<bool, Error> save_json(const std::filesystem::path& path) const;

  [[nodiscard]] const std::string& json() const noexcept;    ///< "" when empty.
  [[nodiscard]] const std::string& digest() const noexcept;  ///< "sha256:…", "" when empty.
  [[nodiscard]] const std::string& deployment_id() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return endpoints().empty(); }
  /// Sorted by name.
  [[nodiscard]] std::span<const EndpointRecord> endpoints() const noexcept;
  [[nodiscard]] const EndpointRecord* find(std::string_view name) const noexcept;

 private:
  friend class ChannelEndpointCatalogBuilder;
  struct State;
  explicit ChannelEndpointCatalog(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_{};
};

}  // namespace weftline
