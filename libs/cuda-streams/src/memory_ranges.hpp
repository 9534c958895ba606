// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "annotated_mutex.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::cuda_streams {

/// The ranges of memory that an emulated device has handed out or registered, and of which kind
/// each is. Ranges do not overlap. Asking allocates nothing.
class MemoryRanges {
 public:
  /// False, and nothing added, where it would overlap one.
  bool add(const std::byte* begin, std::uint64_t bytes, MemoryKind kind)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const std::uintptr_t last = address(begin) + bytes - 1;
    const auto after = ranges_.upper_bound(last);
    if (after != ranges_.begin() && std::prev(after)->second.last >= address(begin)) {
      return false;
    }
    ranges_.emplace(address(begin), Range{last, kind});
    return true;
  }
  void remove(const std::byte* begin) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    ranges_.erase(address(begin));
  }
  /// kHost for what lies in none of them.
  [[nodiscard]] MemoryKind kind_of(const void* pointer) const noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const auto after = ranges_.upper_bound(address(pointer));
    return after != ranges_.begin() && std::prev(after)->second.last >= address(pointer)
               ? std::prev(after)->second.kind
               : MemoryKind::kHost;
  }

 private:
  struct Range {
    std::uintptr_t last;
    MemoryKind kind;
  };
  static std::uintptr_t address(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  mutable Mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_ ABSL_GUARDED_BY(mutex_);  // by the first byte
};

}  // namespace weftline::cuda_streams
