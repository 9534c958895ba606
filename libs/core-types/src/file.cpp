// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace weftline {
namespace {

/// Of what is there but no regular file.
constexpr std::string_view kKindToken = "FILE_KIND";

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool valid() const noexcept { return descriptor_ >= 0; }
  /// False with errno when the system reports a late write error.
  bool close() noexcept {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

/// Removes a file unless it was renamed away.
class TemporaryName {
 public:
  explicit TemporaryName(std::string name) noexcept : name_(std::move(name)) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  [[nodiscard]] const char* c_str() const noexcept { return name_.c_str(); }
  void release() noexcept { name_.clear(); }

 private:
  std::string name_;
};

ErrorCode code_of(int error) noexcept {
  switch (error) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kResourceExhausted;
    default:
      return ErrorCode::kFailure;
  }
}

/// Refuses with the reason in errno.
auto refuse(std::string_view token, std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  return fail(code_of(error), token,
              "cannot " + std::string(what) + " '" + path.native() +
                  "': " + std::generic_category().message(error));
}

/// Reads up to `size` bytes from the start. Nothing on failure, with errno.
std::optional<std::string> read_up_to(int descriptor, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(descriptor, bytes.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.empty() ? "." : folder;
}

/// Opens a new file of a name that nobody has, and sets `name`. Not mkstemp: its mode is always
/// 0600.
int create_beside(const std::filesystem::path& folder, mode_t mode, std::string& name) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) return -1;
    name = (folder / (".weftline-" + std::to_string(random))).native();
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/// Writes it anew, whatever is there.
expected<void, Error> replace_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path folder = folder_of(path);
  struct stat old {};
  const bool replaces = ::lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  // A new file's mode is what the umask leaves of 0666; what has one keeps it, and is private until
  // then.
  std::string name;
  FileDescriptor file(create_beside(folder, replaces ? 0600 : 0666, name));
  if (!file.valid()) return refuse("FILE_WRITE", "create a temporary file beside", path);
  TemporaryName temporary(std::move(name));

  if ((replaces && ::fchmod(file.get(), old.st_mode & 0777) != 0) ||
      !write_all(file.get(), bytes) || ::fsync(file.get()) != 0) {
    return refuse("FILE_WRITE", "write the temporary file beside", path);
  }
  const auto written = read_up_to(file.get(), bytes.size() + 1);
  if (!written) return refuse("FILE_WRITE", "read back the temporary file beside", path);
  if (*written != bytes) {
    return fail(ErrorCode::kFailure, "FILE_VERIFY",
                "the temporary file beside '" + path.native() +
                    "' does not hold what was written; check the disk");
  }
  if (!file.close()) return refuse("FILE_WRITE", "write the temporary file beside", path);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return refuse("FILE_WRITE", "replace", path);
  }
  temporary.release();

  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that has nothing to bring to a disk for a folder.
  if (!directory.valid() || (::fsync(directory.get()) != 0 && errno != EINVAL)) {
    return refuse("FILE_WRITE", "bring to the disk the folder of", path);
  }
  return {};
}

}  // namespace

expected<std::string, Error> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // O_NONBLOCK, so that a FIFO at this path can't hold us.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return refuse("FILE_OPEN", "open", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refuse("FILE_READ", "read", path);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, kKindToken,
                "'" + path.native() + "' is no regular file");
  }
  // One byte past the limit is enough to see that the file is too large.
  const auto size = static_cast<std::size_t>(status.st_size);
  auto bytes = read_up_to(file.get(), std::min(size, max_bytes) + 1);
  if (!bytes) return refuse("FILE_READ", "read", path);
  if (bytes->size() > max_bytes) {
    return fail(ErrorCode::kResourceExhausted, "FILE_TOO_LARGE",
                "'" + path.native() + "' has more than the " + std::to_string(max_bytes) +
                    " bytes that it may have");
  }
  if (bytes->size() != size) {
    return fail(ErrorCode::kFailure, "FILE_READ",
                "'" + path.native() + "' changed while it was read; try again");
  }
  return *std::move(bytes);
}

expected<bool, Error> save_file(const std::filesystem::path& path, std::string_view bytes) {
  const auto present = read_file(path, bytes.size());
  if (present && *present == bytes) return false;
  // Only a file may be replaced: never a device, a pipe or a folder.
  if (!present && present.error().token == kKindToken) return make_unexpected(present.error());
  WEFTLINE_TRY(replace_file(path, bytes));
  return true;
}

}  // namespace weftline
