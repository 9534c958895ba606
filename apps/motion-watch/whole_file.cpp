// SPDX-License-Identifier: Apache-2.0
#include "whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace motion_watch {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// 0, or the errno of the step that failed.
int write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return errno;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) return errno;
  // Closing flushes, and a full disk shows only here.
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

tl::expected<void, std::string> write_whole_file(const std::filesystem::path& path,
                                                 std::string_view bytes) {
  std::filesystem::path temporary = path;
  temporary += ".partial-" + std::to_string(::getpid());
  int error = write_bytes(temporary, bytes);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return tl::unexpected(path.string() + ": can't be written (" +
                        std::generic_category().message(error) +
                        "); choose an output folder that exists, is writable and has room");
}

}  // namespace motion_watch
