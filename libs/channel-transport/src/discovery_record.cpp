// SPDX-License-Identifier: Apache-2.0
#include "discovery_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <span>
#include <thread>

#include "peer_process.hpp"
#include "system_failure.hpp"
#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/core/digest.hpp"
#include "weftline/core/json.hpp"

namespace weftline::channel {

namespace {

bool same_file(int directory, const std::string& file_name, int fd) {
  struct stat by_path {};
  struct stat by_fd {};
  return ::fstatat(directory, file_name.c_str(), &by_path, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
         by_path.st_dev == by_fd.st_dev;
}

// An owner locks the whole file, who removes a dead one only its first byte: so the two exclude
// each other, and a third can tell them apart.
constexpr off_t kOwner = 0;
constexpr off_t kRemover = 1;

bool take_lock(int fd, off_t length) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = length;
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool has_owner(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_len == kOwner;
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string to_text(const RecordContent& content) {
  JsonValue::Object object{
      {"incarnation", to_hex(content.incarnation)},
      {"pid", static_cast<std::uint64_t>(content.pid)},
      {"schema", "weftline.channel_record"},
      {"wire_version", content.wire_version},
  };
  // Our own canonical text: it parses.
  object.emplace("endpoint", parse_json(content.endpoint_json).value_or(JsonValue{}));
  return JsonValue(std::move(object)).dump(2);
}

std::optional<Incarnation> incarnation_from_hex(std::string_view text) {
  Incarnation result{};
  if (text.size() != 2 * result.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = std::string_view("0123456789abcdef").find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    result[i / 2] = static_cast<std::uint8_t>(std::size_t{result[i / 2]} * 16 + digit);
  }
  return result;
}

std::optional<RecordContent> from_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return std::nullopt;
  const auto unsigned_member = [&](std::string_view key) -> const std::uint64_t* {
    const JsonValue* value = json->find(key);
    return value == nullptr ? nullptr : value->as_uint();
  };
  const JsonValue* incarnation = json->find("incarnation");
  const JsonValue* endpoint = json->find("endpoint");
  const std::uint64_t* pid = unsigned_member("pid");
  const std::uint64_t* version = unsigned_member("wire_version");
  if (incarnation == nullptr || incarnation->as_string() == nullptr || endpoint == nullptr ||
      pid == nullptr || *pid > std::numeric_limits<pid_t>::max() || version == nullptr ||
      *version > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  const auto id = incarnation_from_hex(*incarnation->as_string());
  if (!id || *id == Incarnation{}) return std::nullopt;
  return RecordContent{static_cast<std::uint32_t>(*version), static_cast<pid_t>(*pid), *id,
                       endpoint->dump()};
}

std::string read_whole(int fd) {
  std::string text;
  std::size_t used = 0;
  while (used <= kMaximumRecordFileBytes) {
    text.resize(used + 4096);
    const auto got = ::pread(fd, text.data() + used, text.size() - used, static_cast<off_t>(used));
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
}

auto publisher_exists(std::string_view endpoint, const RecordSighting& holder) {
  std::string who = "a process that is starting; end it first";
  if (holder.state == RecordState::kLive) {
    const std::string pid = std::to_string(holder.content.pid);
    const std::string_view state = process_state(holder.content.pid);
    // Locks and listening sockets are inherited: they last until the last holder ends.
    who = state == "gone" || state == "exited"
              ? "process " + pid +
                    " has ended, but a process that it forked still holds its files; "
                    "end that one first (lsof or fuser names it)"
              : "process " + pid + " (" + std::string(state) + "); end it first";
  }
  return fail(ErrorCode::kResourceExhausted, "CHANNEL_PUBLISHER_EXISTS",
              "endpoint '" + std::string(endpoint) + "' already has a publisher: " + who +
                  ", or use another endpoint or runtime folder");
}

}  // namespace

expected<std::string, Error> endpoint_to_json(const std::string& deployment_id,
                                              const EndpointRecord& endpoint) {
  ChannelEndpointCatalogBuilder builder(deployment_id);
  WEFTLINE_TRY(builder.add(endpoint));
  WEFTLINE_ASSIGN(const ChannelEndpointCatalog catalog, std::move(builder).build());
  const std::size_t bytes = catalog.json().size();
  if (bytes > kMaximumRecordBytes) {
    return fail(ErrorCode::kResourceExhausted, "CHANNEL_RECORD_TOO_LARGE",
                "endpoint '" + endpoint.name + "': its record has " + std::to_string(bytes) +
                    " bytes, at most " + std::to_string(kMaximumRecordBytes) +
                    " are exchanged between processes; declare fewer fields, or arrays of them");
  }
  return catalog.json();
}

expected<EndpointRecord, Error> endpoint_from_json(std::string_view json) {
  WEFTLINE_ASSIGN(const ChannelEndpointCatalog catalog, ChannelEndpointCatalog::parse(json));
  if (catalog.endpoints().size() != 1) {
    return fail(ErrorCode::kProtocolError, "CHANNEL_RECORD",
                "the peer's record has " + std::to_string(catalog.endpoints().size()) +
                    " endpoints, not 1");
  }
  return catalog.endpoints().front();
}

std::string record_file_name(std::string_view deployment_id, std::string_view endpoint) {
  constexpr std::size_t kReadableLength = 64;
  std::string name(endpoint.substr(0, kReadableLength));
  std::ranges::replace_if(
      name,
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_');
      },
      '_');
  std::string key(deployment_id);
  key.push_back('\0');
  key.append(endpoint);
  const Sha256Digest digest = sha256(key);
  return name + "." + to_hex(std::span<const std::uint8_t>(digest).first(8)) + ".pub";
}

expected<DiscoveryRecord, Error> DiscoveryRecord::create(int directory, std::string file_name,
                                                         const RecordContent& content,
                                                         std::string_view endpoint) {
  const std::string text = to_text(content);
  // Others get in the way for moments only: they create, look or remove. Who is stopped in such a
  // moment is waited for this long.
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kPause = std::chrono::microseconds(100);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    UniqueFd file{::openat(directory, file_name.c_str(),
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file.valid() && errno == EEXIST) {
      if (remove_dead_record(directory, file_name)) continue;
      const RecordSighting holder = look_for_record(directory, file_name);
      if (holder.state == RecordState::kLive || holder.state == RecordState::kUnreadable) {
        return publisher_exists(endpoint, holder);
      }
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!file.valid()) {
      return system_failure("CHANNEL_RECORD", "cannot create the record " + file_name, errno);
    }
    // Between creation and lock the file looks dead: somebody may have removed it.
    if (!take_lock(file.get(), kOwner) || !same_file(directory, file_name, file.get())) continue;
    if (!write_whole(file.get(), text)) {
      const int error = errno;
      ::unlinkat(directory, file_name.c_str(), 0);
      return system_failure("CHANNEL_RECORD", "cannot write the record " + file_name, error);
    }
    return DiscoveryRecord(directory, std::move(file_name), std::move(file));
  }
  return fail(ErrorCode::kFailure, "CHANNEL_RECORD_BUSY",
              "endpoint '" + std::string(endpoint) + "': another process keeps the old record " +
                  file_name + " without ending its removal; continue or end that process");
}

DiscoveryRecord::~DiscoveryRecord() {
  if (file_.valid() && same_file(directory_, file_name_, file_.get())) {
    ::unlinkat(directory_, file_name_.c_str(), 0);
  }
}

RecordSighting look_for_record(int directory, const std::string& file_name) {
  const UniqueFd file{
      ::openat(directory, file_name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file.valid()) return {is_passing(errno) ? RecordState::kUnopened : RecordState::kAbsent, {}};
  auto content = from_text(read_whole(file.get()));
  if (!has_owner(file.get())) return {RecordState::kDead, {}};
  if (!content) return {RecordState::kUnreadable, {}};
  return {RecordState::kLive, std::move(*content)};
}

bool remove_dead_record(int directory, const std::string& file_name) {
  const UniqueFd file{
      ::openat(directory, file_name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file.valid()) return errno == ENOENT;
  if (!take_lock(file.get(), kRemover)) return false;
  // The path may name a newer record by now; only the file that we hold may go.
  if (same_file(directory, file_name, file.get())) ::unlinkat(directory, file_name.c_str(), 0);
  return true;
}

}  // namespace weftline::channel
