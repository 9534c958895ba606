// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "unique_fd.hpp"
#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/error.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

// A discovery record is one small JSON file that a publisher leaves in the runtime folder while it
// lives. Its owner locks the whole file with an open-file-description lock: a record without such a
// lock is dead, and anybody may remove it, holding a lock on its first byte meanwhile. Only
// publishers have one; subscribers look for it and connect.

/// One endpoint in canonical JSON (a catalog of this one endpoint), and back. kResourceExhausted:
/// more than kMaximumRecordBytes, as a POD of thousands of fields has.
[[nodiscard]] expected<std::string, Error> endpoint_to_json(const std::string& deployment_id,
                                                            const EndpointRecord& endpoint);
[[nodiscard]] expected<EndpointRecord, Error> endpoint_from_json(std::string_view json);

/// "<name>.<16 hexadecimal digits>.pub": a readable form of the endpoint's name, and a key made of
/// deployment id and name. What must match is not part of it, so that a mismatch is met and named.
[[nodiscard]] std::string record_file_name(std::string_view deployment_id,
                                           std::string_view endpoint);

struct RecordContent {
  std::uint32_t wire_version{kWireVersion};
  pid_t pid{0};
  Incarnation incarnation{};
  std::string endpoint_json{};
};

/// The publisher's own record: there while this object lives, removed by its destructor.
class DiscoveryRecord {
 public:
  /// CHANNEL_PUBLISHER_EXISTS (kResourceExhausted) names the live holder. A dead record is
  /// replaced. Waits for who is just removing one, CHANNEL_RECORD_BUSY after a second.
  [[nodiscard]] static expected<DiscoveryRecord, Error> create(int directory, std::string file_name,
                                                               const RecordContent& content,
                                                               std::string_view endpoint);
  DiscoveryRecord(DiscoveryRecord&&) noexcept = default;
  DiscoveryRecord& operator=(DiscoveryRecord&&) = delete;
  ~DiscoveryRecord();

 private:
  DiscoveryRecord(int directory, std::string file_name, UniqueFd file) noexcept
      : directory_(directory), file_name_(std::move(file_name)), file_(std::move(file)) {}
  int directory_;
  std::string file_name_;
  UniqueFd file_;
};

enum class RecordState : std::uint8_t {
  kAbsent = 0,
  kUnopened,  ///< It cannot be opened now: something is used up (is_passing()).
  kDead,
  kUnreadable,  ///< Held, but not (yet) a whole record.
  kLive,
};

struct RecordSighting {
  RecordState state{RecordState::kAbsent};
  RecordContent content{};  ///< Only when live.
};
[[nodiscard]] RecordSighting look_for_record(int directory, const std::string& file_name);

/// Removes the file if nobody holds it. False: it is held.
bool remove_dead_record(int directory, const std::string& file_name);

}  // namespace weftline::channel
