// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace weftline {

/// Owns one file descriptor. Move-only; empty (-1) after a move or `release()`.
class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// The caller closes it from now on.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_{-1};
};

}  // namespace weftline
