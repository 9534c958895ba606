// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.hpp"

namespace weftline::cuda_streams {
namespace {

/// The first driver version that has them all in the form of our headers, and that of green
/// contexts.
constexpr unsigned int kDriverApiVersion = 12000;
constexpr unsigned int kGreenContextVersion = 12050;

template <class Function>
cudaError_t look_up(const char* name, unsigned int version, Function& function) noexcept {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (status != cudaSuccess) {
    return status;
  }
  function = reinterpret_cast<Function>(address);
  return found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound;
}

}  // namespace

cudaError_t CudaDriver::load() noexcept {
  cudaError_t status = cudaSuccess;
  unsigned int version = kDriverApiVersion;
  const auto next = [&status, &version](const char* name, auto& function) {
    if (status == cudaSuccess) {
      status = look_up(name, version, function);
    }
  };
  next("cuDeviceGet", device_get);
  next("cuDeviceGetAttribute", device_get_attribute);
  next("cuDevicePrimaryCtxRetain", primary_context_retain);
  next("cuCtxGetCurrent", context_get_current);
  next("cuCtxPushCurrent", context_push_current);
  next("cuCtxPopCurrent", context_pop_current);
  next("cuStreamWriteValue64", stream_write_value_64);
  next("cuStreamWaitValue64", stream_wait_value_64);
  next("cuStreamBatchMemOp", stream_batch_mem_op);
  next("cuMemGetAllocationGranularity", mem_get_allocation_granularity);
  next("cuMemCreate", mem_create);
  next("cuMemRelease", mem_release);
  next("cuMemAddressReserve", mem_address_reserve);
  next("cuMemAddressFree", mem_address_free);
  next("cuMemMap", mem_map);
  next("cuMemUnmap", mem_unmap);
  next("cuMemSetAccess", mem_set_access);
  next("cuMemExportToShareableHandle", mem_export_to_shareable_handle);
  next("cuMemImportFromShareableHandle", mem_import_from_shareable_handle);
  if (status != cudaSuccess) {
    return status;
  }
  version = kGreenContextVersion;
  next("cuDeviceGetDevResource", device_get_resource);
  next("cuDevSmResourceSplitByCount", sm_resource_split_by_count);
  next("cuDevResourceGenerateDesc", resource_generate_description);
  next("cuGreenCtxCreate", green_context_create);
  next("cuGreenCtxDestroy", green_context_destroy);
  next("cuGreenCtxStreamCreate", green_context_stream_create);
  if (status != cudaSuccess) {
    green_context_stream_create = nullptr;
    static_cast<void>(cudaGetLastError());
  }
  return cudaSuccess;
}

}  // namespace weftline::cuda_streams
