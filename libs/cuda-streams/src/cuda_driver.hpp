// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace weftline::cuda_streams {

/// The driver calls that the runtime API does not offer. They are looked up at run time, never
/// linked, so that one binary starts on a machine without a driver.
struct CudaDriver {
  decltype(&cuDeviceGet) device_get{nullptr};
  decltype(&cuDeviceGetAttribute) device_get_attribute{nullptr};
  decltype(&cuDevicePrimaryCtxRetain) primary_context_retain{nullptr};
  decltype(&cuCtxGetCurrent) context_get_current{nullptr};
  decltype(&cuCtxPushCurrent) context_push_current{nullptr};
  decltype(&cuCtxPopCurrent) context_pop_current{nullptr};
  decltype(&cuStreamWriteValue64) stream_write_value_64{nullptr};
  decltype(&cuStreamWaitValue64) stream_wait_value_64{nullptr};
  decltype(&cuStreamBatchMemOp) stream_batch_mem_op{nullptr};
  decltype(&cuMemGetAllocationGranularity) mem_get_allocation_granularity{nullptr};
  decltype(&cuMemCreate) mem_create{nullptr};
  decltype(&cuMemRelease) mem_release{nullptr};
  decltype(&cuMemAddressReserve) mem_address_reserve{nullptr};
  decltype(&cuMemAddressFree) mem_address_free{nullptr};
  decltype(&cuMemMap) mem_map{nullptr};
  decltype(&cuMemUnmap) mem_unmap{nullptr};
  decltype(&cuMemSetAccess) mem_set_access{nullptr};
  decltype(&cuMemExportToShareableHandle) mem_export_to_shareable_handle{nullptr};
  decltype(&cuMemImportFromShareableHandle) mem_import_from_shareable_handle{nullptr};

  // Null where the driver is too old for green contexts.
  decltype(&cuDeviceGetDevResource) device_get_resource{nullptr};
  decltype(&cuDevSmResourceSplitByCount) sm_resource_split_by_count{nullptr};
  decltype(&cuDevResourceGenerateDesc) resource_generate_description{nullptr};
  decltype(&cuGreenCtxCreate) green_context_create{nullptr};
  decltype(&cuGreenCtxDestroy) green_context_destroy{nullptr};
  decltype(&cuGreenCtxStreamCreate) green_context_stream_create{nullptr};

  [[nodiscard]] bool has_green_contexts() const noexcept {
    return green_context_stream_create != nullptr;
  }

  /// Looks all of them up. Makes no context.
  [[nodiscard]] cudaError_t load() noexcept;
};

/// Makes a device's context the calling thread's current one for a scope. Unlike a pair of
/// cudaSetDevice calls it puts back exactly what was there, and makes no context on device 0 for a
/// thread that had none. Where the context is current already, as in every callback, it costs one
/// read of a thread-local.
class CurrentContext {
 public:
  CurrentContext(const CudaDriver& driver, CUcontext context) noexcept : driver_(driver) {
    CUcontext current = nullptr;
    driver_.context_get_current(&current);
    pushed_ = current != context && driver_.context_push_current(context) == CUDA_SUCCESS;
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext() {
    if (pushed_) {
      CUcontext ours = nullptr;
      driver_.context_pop_current(&ours);
    }
  }

 private:
  const CudaDriver& driver_;
  bool pushed_{false};
};

}  // namespace weftline::cuda_streams
