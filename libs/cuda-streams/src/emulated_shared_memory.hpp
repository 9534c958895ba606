// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "annotated_mutex.hpp"
#include "memory_budget.hpp"
#include "memory_ranges.hpp"
#include "weftline/cuda/shared_memory.hpp"

namespace weftline::cuda_streams {

/// Memory of an emulated device in memfds. Their size is sealed, so that no peer can take pages
/// away from under a mapping.
class EmulatedSharedMemory final : public SharedMemory {
 public:
  EmulatedSharedMemory(Device& device, MemoryBudget& budget, MemoryRanges& ranges) noexcept
      : SharedMemory(device), device_(device), budget_(budget), ranges_(ranges) {}

  /// Unmaps what `allocate()` or `import_descriptor()` mapped at `data`; false for anything else.
  [[nodiscard]] bool free(std::byte* data) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Mapping {
    std::uint64_t bytes;
    FileDescriptor memory;  // empty for an import
  };

  expected<std::byte*, Error> do_allocate(std::uint64_t bytes) override;
  expected<FileDescriptor, Error> do_export(std::byte* data) override;
  expected<std::byte*, Error> do_import(int descriptor, std::uint64_t bytes,
                                        MemoryAccessMode mode) override;
  expected<void, Error> do_register(const void* begin, std::uint64_t bytes,
                                    MemoryAccessMode mode) override;
  void do_unregister(const void* begin) noexcept override;

  expected<std::byte*, Error> make_mapping(std::uint64_t bytes);
  expected<std::byte*, Error> map(int descriptor, std::uint64_t bytes, MemoryAccessMode mode);
  void keep(std::byte* data, Mapping mapping) ABSL_LOCKS_EXCLUDED(mutex_);

  Device& device_;
  MemoryBudget& budget_;
  MemoryRanges& ranges_;
  Mutex mutex_;
  std::map<const std::byte*, Mapping> mappings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
