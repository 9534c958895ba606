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

std::filesystem::path temporary_of(const std::filesystem::path& path) {
  std::filesystem::path temporary = path;
  temporary += ".partial-" + std::to_string(::getpid());
  return temporary;
}

}  // namespace

tl::expected<void, std::string> write_whole_files(std::span<const WholeFile> files) {
  std::error_code ignored;
  const auto give_up = [&](const std::filesystem::path& path, int error) {
    for (const WholeFile& file : files) std::filesystem::remove(temporary_of(file.path), ignored);
    return tl::unexpected(path.string() + ": can't be written (" +
                          std::generic_category().message(error) +
                          "); choose an output folder that exists, is writable and has room");
  };
  for (const auto& [path, bytes] : files) {
    const int error = std::filesystem::is_directory(path, ignored)
                          ? EISDIR
                          : write_bytes(temporary_of(path), bytes);
    if (error != 0) return give_up(path, error);
  }
  for (const auto& [path, bytes] : files) {
    if (std::rename(temporary_of(path).c_str(), path.c_str()) != 0) return give_up(path, errno);
  }
  return {};
}

tl::expected<void, std::string> write_whole_file(const std::filesystem::path& path,
                                                 std::string_view bytes) {
  const WholeFile file{path, bytes};
  return write_whole_files({&file, 1});
}

}  // namespace motion_watch
