// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <map>

#include "annotated_mutex.hpp"
#include "weftline/cuda/shared_memory.hpp"

namespace weftline::cuda_streams {

class CudaDevice;

/// Device memory by CUDA's virtual memory management, exported as POSIX file descriptors.
class CudaSharedMemory final : public SharedMemory {
 public:
  explicit CudaSharedMemory(CudaDevice& device) noexcept;

  /// Unmaps what `allocate()` or `import_descriptor()` mapped at `data`; false for anything else.
  /// With the device's context current.
  [[nodiscard]] bool free(std::byte* data) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Mapping {
    CUmemGenericAllocationHandle memory;
    std::size_t bytes;
    bool imported;
  };

  expected<std::byte*, Error> do_allocate(std::uint64_t bytes) override;
  expected<FileDescriptor, Error> do_export(std::byte* data) override;
  expected<std::byte*, Error> do_import(int descriptor, std::uint64_t bytes,
                                        MemoryAccessMode mode) override;
  expected<void, Error> do_register(const void* begin, std::uint64_t bytes,
                                    MemoryAccessMode mode) override;
  void do_unregister(const void* begin) noexcept override;

  /// The bytes that CUDA allocates for `bytes`.
  expected<std::size_t, Error> round_up(std::uint64_t bytes);
  /// Maps the memory and keeps it; gives it back where that fails.
  expected<std::byte*, Error> map(Mapping mapping, MemoryAccessMode mode);

  CudaDevice& device_;
  Mutex mutex_;
  std::map<const std::byte*, Mapping> mappings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
