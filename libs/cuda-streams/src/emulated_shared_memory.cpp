// SPDX-License-Identifier: Apache-2.0
#include "emulated_shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "available_memory.hpp"
#include "host_memory.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline::cuda_streams {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

std::string last_error() { return std::strerror(errno); }

/// Whether every page of the range is mapped.
bool is_mapped(const void* begin, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kPages = 256;  // looked at in one call
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  if (first + bytes < first) {
    return false;
  }
  std::array<unsigned char, kPages> resident{};
  const std::uint64_t before = first % page;  // of the first page
  auto* const first_page = static_cast<std::byte*>(const_cast<void*>(begin)) - before;
  for (std::uint64_t done = 0; done < before + bytes; done += kPages * page) {
    if (mincore(first_page + done, std::min(before + bytes - done, kPages * page),
                resident.data()) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

expected<std::byte*, Error> EmulatedSharedMemory::do_allocate(std::uint64_t bytes) {
  WEFTLINE_TRY(budget_.take(device_.id(), MemoryKind::kCudaDevice, bytes));
  expected<std::byte*, Error> data = make_mapping(bytes);
  if (!data) {
    budget_.give(bytes);
  }
  return data;
}

expected<std::byte*, Error> EmulatedSharedMemory::make_mapping(std::uint64_t bytes) {
  if (const std::uint64_t available = available_host_memory(bytes); bytes > available) {
    return fail(ErrorCode::kResourceExhausted, "HOST_MEMORY_EXHAUSTED",
                device_.id().to_string() + " cannot allocate " + std::to_string(bytes) +
                    " bytes of shared memory: " + std::to_string(available) +
                    " bytes are available to this process. Use smaller or fewer buffers.");
  }
  FileDescriptor memory(memfd_create("weftline-device", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, kSizeSeals) != 0) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED",
                device_.id().to_string() + " cannot make a memfd of " + std::to_string(bytes) +
                    " bytes: " + last_error() + ". Close descriptors, or raise ulimit -n.");
  }
  WEFTLINE_ASSIGN(std::byte* const data, map(memory.get(), bytes, MemoryAccessMode::kReadWrite));
  mark_unwritten(data, bytes);
  keep(data, {bytes, std::move(memory)});
  return data;
}

expected<FileDescriptor, Error> EmulatedSharedMemory::do_export(std::byte* data) {
  MutexLock lock(mutex_);
  const auto found = mappings_.find(data);
  if (found == mappings_.end() || !found->second.memory) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_BLOCK_NOT_SHARED",
                device_.id().to_string() +
                    " exports blocks that its own SharedMemory::allocate() made, not imported or "
                    "ordinary ones.");
  }
  FileDescriptor copy(fcntl(found->second.memory.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_DESCRIPTORS_EXHAUSTED",
                device_.id().to_string() + " cannot copy a descriptor: " + last_error() +
                    ". Close descriptors, or raise ulimit -n.");
  }
  return copy;
}

expected<std::byte*, Error> EmulatedSharedMemory::do_import(int descriptor, std::uint64_t bytes,
                                                            MemoryAccessMode mode) {
  struct stat status {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (fstat(descriptor, &status) != 0 || seals < 0 || (seals & kSizeSeals) != kSizeSeals) {
    return fail(
        ErrorCode::kInvalidArgument, "DEVICE_SHARED_DESCRIPTOR",
        "descriptor " + std::to_string(descriptor) + " is not memory that a device exported (" +
            (seals < 0 ? last_error() : "its size is not sealed") + "), so " +
            device_.id().to_string() + " can't import it. Pass on what export_descriptor() gave.");
  }
  if (bytes > static_cast<std::uint64_t>(status.st_size)) {
    return fail(ErrorCode::kIncompatible, "DEVICE_SHARED_SIZE",
                "an import of " + std::to_string(bytes) + " bytes to " + device_.id().to_string() +
                    ", but the exported memory has " + std::to_string(status.st_size) +
                    ". Import what the exporter allocated.");
  }
  WEFTLINE_ASSIGN(std::byte* const data, map(descriptor, bytes, mode));
  keep(data, {bytes, FileDescriptor{}});
  return data;
}

expected<void, Error> EmulatedSharedMemory::do_register(const void* begin, std::uint64_t bytes,
                                                        MemoryAccessMode) {
  const auto* const first = static_cast<const std::byte*>(begin);
  if (!is_mapped(begin, bytes) || !ranges_.add(first, bytes, MemoryKind::kPinnedHost)) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE",
                device_.id().to_string() + " cannot register " + std::to_string(bytes) +
                    " bytes of host memory: part of them is not mapped, or is registered or "
                    "allocated by the device already.");
  }
  return {};
}

void EmulatedSharedMemory::do_unregister(const void* begin) noexcept {
  ranges_.remove(static_cast<const std::byte*>(begin));
}

expected<std::byte*, Error> EmulatedSharedMemory::map(int descriptor, std::uint64_t bytes,
                                                      MemoryAccessMode mode) {
  const int protection = mode == MemoryAccessMode::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  void* const data = mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED",
                device_.id().to_string() + " cannot map " + std::to_string(bytes) +
                    " bytes of shared memory: " + last_error() +
                    ". A descriptor that was opened read-only is imported read-only.");
  }
  return static_cast<std::byte*>(data);
}

void EmulatedSharedMemory::keep(std::byte* data, Mapping mapping) {
  ranges_.add(data, mapping.bytes, MemoryKind::kCudaDevice);
  MutexLock lock(mutex_);
  mappings_.emplace(data, std::move(mapping));
}

bool EmulatedSharedMemory::free(std::byte* data) noexcept {
  MutexLock lock(mutex_);
  const auto found = mappings_.find(data);
  if (found == mappings_.end()) {
    return false;
  }
  ranges_.remove(data);
  munmap(data, found->second.bytes);
  if (found->second.memory) {
    budget_.give(found->second.bytes);
  }
  mappings_.erase(found);
  return true;
}

}  // namespace weftline::cuda_streams
