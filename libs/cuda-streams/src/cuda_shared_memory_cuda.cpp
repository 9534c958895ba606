// SPDX-License-Identifier: Apache-2.0
#include "cuda_shared_memory.hpp"

#include <string>

#include "cuda_device.hpp"
#include "cuda_error.hpp"

namespace weftline::cuda_streams {
namespace {

CUmemAllocationProp properties_of(const CudaDevice& device) noexcept {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = static_cast<int>(device.id().ordinal);
  return properties;
}

std::byte* as_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

CudaSharedMemory::CudaSharedMemory(CudaDevice& device) noexcept
    : SharedMemory(device), device_(device) {}

expected<std::size_t, Error> CudaSharedMemory::round_up(std::uint64_t bytes) {
  const CUmemAllocationProp properties = properties_of(device_);
  std::size_t granularity = 0;
  WEFTLINE_TRY(device_.check(device_.driver().mem_get_allocation_granularity(
                                 &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                             "cuMemGetAllocationGranularity"));
  const std::uint64_t rounded = (bytes + granularity - 1) / granularity * granularity;
  // A size past the end of the address space is CUDA's to refuse, as too much memory.
  return rounded < bytes ? bytes / granularity * granularity : rounded;
}

expected<std::byte*, Error> CudaSharedMemory::do_allocate(std::uint64_t bytes) {
  const CurrentContext current = device_.enter();
  WEFTLINE_ASSIGN(const std::size_t rounded, round_up(bytes));
  const CUmemAllocationProp properties = properties_of(device_);
  CUmemGenericAllocationHandle memory = 0;
  const CUresult status = device_.driver().mem_create(&memory, rounded, &properties, 0);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) {
    return make_unexpected(device_.memory_exhausted(MemoryKind::kCudaDevice, bytes));
  }
  WEFTLINE_TRY(device_.check(status, "cuMemCreate"));
  return map({memory, rounded, false}, MemoryAccessMode::kReadWrite);
}

expected<FileDescriptor, Error> CudaSharedMemory::do_export(std::byte* data) {
  const CurrentContext current = device_.enter();
  MutexLock lock(mutex_);
  const auto found = mappings_.find(data);
  if (found == mappings_.end() || found->second.imported) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_BLOCK_NOT_SHARED",
                device_.id().to_string() +
                    " exports blocks that its own SharedMemory::allocate() made, not imported or "
                    "ordinary ones.");
  }
  int descriptor = -1;
  WEFTLINE_TRY(device_.check(
      device_.driver().mem_export_to_shareable_handle(&descriptor, found->second.memory,
                                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      "cuMemExportToShareableHandle"));
  return FileDescriptor(descriptor);
}

expected<std::byte*, Error> CudaSharedMemory::do_import(int descriptor, std::uint64_t bytes,
                                                        MemoryAccessMode mode) {
  const CurrentContext current = device_.enter();
  WEFTLINE_ASSIGN(const std::size_t rounded, round_up(bytes));
  CUmemGenericAllocationHandle memory = 0;
  const CUresult status = device_.driver().mem_import_from_shareable_handle(
      &memory, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (status != CUDA_SUCCESS) {
    return fail(
        ErrorCode::kInvalidArgument, "DEVICE_SHARED_DESCRIPTOR",
        "descriptor " + std::to_string(descriptor) + " is not memory that a device exported (" +
            cuda_error_text(static_cast<cudaError_t>(status)) + "), so " +
            device_.id().to_string() + " can't import it. Pass on what export_descriptor() gave.");
  }
  return map({memory, rounded, true}, mode);
}

expected<std::byte*, Error> CudaSharedMemory::map(Mapping mapping, MemoryAccessMode mode) {
  const CudaDriver& driver = device_.driver();
  CUdeviceptr address = 0;
  const CUresult reserved = driver.mem_address_reserve(&address, mapping.bytes, 0, 0, 0);
  if (reserved != CUDA_SUCCESS) {
    driver.mem_release(mapping.memory);
    WEFTLINE_TRY(device_.check(reserved, "cuMemAddressReserve"));
  }
  const CUresult mapped = driver.mem_map(address, mapping.bytes, 0, mapping.memory, 0);
  CUmemAccessDesc access{};
  access.location = properties_of(device_).location;
  access.flags = mode == MemoryAccessMode::kReadOnly ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                     : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult accessible = mapped == CUDA_SUCCESS
                                  ? driver.mem_set_access(address, mapping.bytes, &access, 1)
                                  : CUDA_SUCCESS;
  if (mapped == CUDA_SUCCESS && accessible == CUDA_SUCCESS) {
    MutexLock lock(mutex_);
    mappings_.emplace(as_pointer(address), mapping);
    return as_pointer(address);
  }
  if (mapped == CUDA_SUCCESS) {
    driver.mem_unmap(address, mapping.bytes);
  }
  driver.mem_address_free(address, mapping.bytes);
  driver.mem_release(mapping.memory);
  // A size beyond the exported one: the first by the manual, the second from driver 580 on an H200.
  const bool refused_size =
      mapped == CUDA_ERROR_INVALID_VALUE || mapped == CUDA_ERROR_NOT_SUPPORTED;
  if (refused_size && mapping.imported) {
    return fail(ErrorCode::kIncompatible, "DEVICE_SHARED_SIZE",
                device_.id().to_string() + " cannot map " + std::to_string(mapping.bytes) +
                    " bytes of the exported memory (" +
                    cuda_error_text(static_cast<cudaError_t>(mapped)) +
                    "): it has fewer. Import what the exporter allocated.");
  }
  WEFTLINE_TRY(device_.check(mapped, "cuMemMap"));
  WEFTLINE_TRY(device_.check(accessible, "cuMemSetAccess"));
  return as_pointer(address);
}

expected<void, Error> CudaSharedMemory::do_register(const void* begin, std::uint64_t bytes,
                                                    MemoryAccessMode mode) {
  const CurrentContext current = device_.enter();
  const RelaxedCapture relaxed;
  const unsigned int flags =
      cudaHostRegisterPortable | cudaHostRegisterMapped |
      (mode == MemoryAccessMode::kReadOnly ? cudaHostRegisterReadOnly : cudaHostRegisterDefault);
  const cudaError_t status = cudaHostRegister(const_cast<void*>(begin), bytes, flags);
  if (status == cudaErrorInvalidValue || status == cudaErrorHostMemoryAlreadyRegistered) {
    static_cast<void>(cudaGetLastError());
    return fail(ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE",
                device_.id().to_string() + " cannot register " + std::to_string(bytes) +
                    " bytes of host memory: part of them is not mapped, or is registered or "
                    "allocated by the device already.");
  }
  return device_.check(status, "cudaHostRegister");
}

void CudaSharedMemory::do_unregister(const void* begin) noexcept {
  device_.release([begin] { return cudaHostUnregister(const_cast<void*>(begin)); });
}

bool CudaSharedMemory::free(std::byte* data) noexcept {
  MutexLock lock(mutex_);
  const auto found = mappings_.find(data);
  if (found == mappings_.end()) {
    return false;
  }
  const CudaDriver& driver = device_.driver();
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  driver.mem_unmap(address, found->second.bytes);
  driver.mem_address_free(address, found->second.bytes);
  driver.mem_release(found->second.memory);
  mappings_.erase(found);
  return true;
}

}  // namespace weftline::cuda_streams
