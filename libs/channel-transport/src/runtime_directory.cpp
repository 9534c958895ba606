// SPDX-License-Identifier: Apache-2.0
#include "runtime_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "system_failure.hpp"

namespace weftline::channel {

namespace {

std::filesystem::path default_directory() {
  if (const char* own = std::getenv("WEFTLINE_RUNTIME_DIR"); own != nullptr && *own != '\0') {
    return own;
  }
  if (const char* xdg = std::getenv("XDG_RUNTIME_DIR"); xdg != nullptr && *xdg != '\0') {
    return std::filesystem::path(xdg) / "weftline";
  }
  return "/tmp/weftline-" + std::to_string(::geteuid());
}

auto unsafe(const std::filesystem::path& path, const std::string& why) {
  return fail(ErrorCode::kPermissionDenied, "CHANNEL_DIRECTORY_UNSAFE",
              "runtime folder " + path.string() + " " + why +
                  "; use a folder of your own with mode 0700 (WEFTLINE_RUNTIME_DIR)");
}

}  // namespace

expected<RuntimeDirectory, Error> open_runtime_directory(std::filesystem::path path) {
  if (path.empty()) path = default_directory();
  constexpr std::string_view kHint = "set WEFTLINE_RUNTIME_DIR to a folder that can be created";
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure("CHANNEL_DIRECTORY", "cannot create the runtime folder " + path.string(),
                          errno, kHint);
  }
  UniqueFd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fd.valid()) {
    if (errno == ELOOP || errno == ENOTDIR) return unsafe(path, "is not a plain folder");
    return system_failure("CHANNEL_DIRECTORY", "cannot open the runtime folder " + path.string(),
                          errno, kHint);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return system_failure("CHANNEL_DIRECTORY", "cannot examine the runtime folder " + path.string(),
                          errno, kHint);
  }
  if (status.st_uid != ::geteuid()) {
    return unsafe(path, "belongs to user " + std::to_string(status.st_uid) + ", not to " +
                            std::to_string(::geteuid()));
  }
  if ((status.st_mode & 077) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof(mode), "%04o", static_cast<unsigned>(status.st_mode & 07777));
    return unsafe(path, "has mode " + std::string(mode) + ", open to other users");
  }
  return RuntimeDirectory{std::move(path), std::move(fd)};
}

}  // namespace weftline::channel
