// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "annotated_mutex.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::cuda_streams {

/// The ranges of memory that an emulated device has handed out, and of which kind each is. Ranges
/// do not overlap. Asking allocates nothing.
class MemoryRanges {
 public:
  void add(const std::byte* begin, std::uint64_t bytes, MemoryKind kind)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    ranges_.emplace(address(begin) + bytes - 1, Range{address(begin), kind});
  }
  void remove(const std::byte* begin, std::uint64_t bytes) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    ranges_.erase(address(begin) + bytes - 1);
  }
  /// kHost for what lies in none of them.
  [[nodiscard]] MemoryKind kind_of(const void* pointer) const noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const auto range = ranges_.lower_bound(address(pointer));
    return range != ranges_.end() && range->second.begin <= address(pointer) ? range->second.kind
                                                                             : MemoryKind::kHost;
  }

 private:
  struct Range {
    std::uintptr_t begin;
    MemoryKind kind;
  };
  static std::uintptr_t address(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  mutable Mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_ ABSL_GUARDED_BY(mutex_);  // by the last byte
};

}  // namespace weftline::cuda_streams
