// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/shared_memory.hpp"

#include <unistd.h>

#include <string>

#include "device_checks.hpp"

namespace weftline {

using namespace cuda_streams;

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

HostRegistration& HostRegistration::operator=(HostRegistration&& other) noexcept {
  HostRegistration taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(memory_, taken.memory_);
  std::swap(begin_, taken.begin_);
  return *this;
}

HostRegistration::~HostRegistration() {
  if (begin_ != nullptr) {
    memory_->do_unregister(begin_);
  }
}

expected<MemoryBlock, Error> SharedMemory::allocate(std::uint64_t bytes) {
  if (const DeviceRefusal* const why = device_.check_call()) {
    return refuse(*why);
  }
  std::byte* data = nullptr;
  if (bytes != 0) {
    WEFTLINE_ASSIGN(data, do_allocate(bytes));
    note_memory(device_, data, bytes);
  }
  return MemoryBlock(device_.shared_from_this(), MemoryKind::kCudaDevice, data, bytes);
}

expected<FileDescriptor, Error> SharedMemory::export_descriptor(const MemoryBlock& block) {
  if (const DeviceRefusal* const why = device_.check_call()) {
    return refuse(*why);
  }
  if (block.data() == nullptr || block.device() != &device_) {
    return fail(
        ErrorCode::kInvalidArgument, "DEVICE_BLOCK_NOT_SHARED",
        device_.id().to_string() +
            " exports blocks with data that its own SharedMemory::allocate() made; this one "
            "is empty, or another device's.");
  }
  return do_export(block.data());
}

expected<MemoryBlock, Error> SharedMemory::import_descriptor(int descriptor, std::uint64_t bytes,
                                                             MemoryAccessMode mode) {
  if (const DeviceRefusal* const why = device_.check_call()) {
    return refuse(*why);
  }
  if (bytes == 0) {
    return fail(ErrorCode::kIncompatible, "DEVICE_SHARED_SIZE",
                "an import of 0 bytes to " + device_.id().to_string() +
                    ": exported memory is never empty.");
  }
  WEFTLINE_ASSIGN(std::byte* const data, do_import(descriptor, bytes, mode));
  note_memory(device_, data, bytes);
  return MemoryBlock(device_.shared_from_this(), MemoryKind::kCudaDevice, data, bytes);
}

expected<HostRegistration, Error> SharedMemory::register_host_memory(const void* begin,
                                                                     std::uint64_t bytes,
                                                                     MemoryAccessMode mode) {
  if (const DeviceRefusal* const why = device_.check_call()) {
    return refuse(*why);
  }
  if (begin == nullptr || bytes == 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE",
                "an empty range can't be registered with " + device_.id().to_string() + ".");
  }
  WEFTLINE_TRY(do_register(begin, bytes, mode));
  return HostRegistration(device_.shared_from_this(), *this, begin);
}

}  // namespace weftline
