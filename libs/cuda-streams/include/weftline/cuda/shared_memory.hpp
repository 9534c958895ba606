// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/cuda/file_descriptor.hpp"
#include "weftline/cuda/memory_block.hpp"

namespace weftline {

class Device;
class SharedMemory;

enum class MemoryAccessMode : std::uint8_t { kReadOnly, kReadWrite };

/// Keeps a range of the program's own host memory registered with a device: until destruction the
/// range counts as pinned memory. Move-only. The range must outlive it, and no work on the range
/// may be pending when it ends. On CUDA the end may block until other work of the device is done.
class HostRegistration {
 public:
  HostRegistration() noexcept = default;
  HostRegistration(HostRegistration&& other) noexcept
      : device_(std::move(other.device_)),
        memory_(other.memory_),
        begin_(std::exchange(other.begin_, nullptr)) {}
  HostRegistration& operator=(HostRegistration&& other) noexcept;
  ~HostRegistration();

  [[nodiscard]] explicit operator bool() const noexcept { return begin_ != nullptr; }

 private:
  friend class SharedMemory;
  HostRegistration(std::shared_ptr<Device> device, SharedMemory& memory, const void* begin) noexcept
      : device_(std::move(device)), memory_(&memory), begin_(begin) {}

  std::shared_ptr<Device> device_{};
  SharedMemory* memory_{nullptr};
  const void* begin_{nullptr};
};

/// A device's ability to share memory with other processes. Had from `Device::shared_memory()`, and
/// lives as long as the device. All of it is cold and may be called from any thread.
class SharedMemory {
 public:
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// As `Device::allocate(kCudaDevice, bytes)`, of a kind that can be exported.
  [[nodiscard]] expected<MemoryBlock, Error> allocate(std::uint64_t bytes);

  /// A descriptor of the memory of a block from `allocate()`, to be sent to another process. The
  /// memory lives until the block and every import of it are gone. Any other block is
  /// kInvalidArgument (DEVICE_BLOCK_NOT_SHARED).
  [[nodiscard]] expected<FileDescriptor, Error> export_descriptor(const MemoryBlock& block);

  /// Maps exported memory, `bytes` of it from its beginning, in this process, also for another
  /// device of the same backend. The descriptor stays the caller's, and may be closed. Read-only
  /// memory is guarded on this side only: a stream's or a host thread's write to it is an access
  /// violation, which costs the process its CUDA context, or its life.
  ///
  /// kInvalidArgument (DEVICE_SHARED_DESCRIPTOR) for a descriptor of anything else; kIncompatible
  /// (DEVICE_SHARED_SIZE) where the memory has less than `bytes`, which may be rounded up to what
  /// the backend allocates in.
  [[nodiscard]] expected<MemoryBlock, Error> import_descriptor(int descriptor, std::uint64_t bytes,
                                                               MemoryAccessMode mode);

  /// Makes the program's own memory pinned, shared mappings among it. kInvalidArgument
  /// (DEVICE_HOST_RANGE) for a range that is empty, not mapped, or overlaps one that is registered.
  [[nodiscard]] expected<HostRegistration, Error> register_host_memory(const void* begin,
                                                                       std::uint64_t bytes,
                                                                       MemoryAccessMode mode);

 protected:
  explicit SharedMemory(Device& device) noexcept : device_(device) {}
  ~SharedMemory() = default;

 private:
  friend class HostRegistration;
  virtual expected<std::byte*, Error> do_allocate(std::uint64_t bytes) = 0;
  virtual expected<FileDescriptor, Error> do_export(std::byte* data) = 0;
  virtual expected<std::byte*, Error> do_import(int descriptor, std::uint64_t bytes,
                                                MemoryAccessMode mode) = 0;
  virtual expected<void, Error> do_register(const void* begin, std::uint64_t bytes,
                                            MemoryAccessMode mode) = 0;
  virtual void do_unregister(const void* begin) noexcept = 0;

  Device& device_;
};

}  // namespace weftline
