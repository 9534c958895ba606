// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "cuda_driver.hpp"
#include "cuda_fence_words.hpp"
#include "cuda_green_contexts.hpp"
#include "cuda_relaxed_capture.hpp"
#include "cuda_shared_memory.hpp"
#include "host_task_pool.hpp"
#include "process_exit.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline::cuda_streams {

/// A CUDA device through the runtime API. Handles are CUDA's own.
///
/// Each call that CUDA serves from the current context sets the device's own for its length, and so
/// may come from any thread (see CurrentContext for the cost).
class CudaDevice final : public Device {
 public:
  /// `context` is the device's primary context, retained; it is kept until the process ends, since
  /// the last owner may be dropped where CUDA must not be called.
  CudaDevice(DeviceDescription description, StreamPriorities priorities, const CudaDriver& driver,
             CUcontext context, bool exports_memory);

  // For the backend.

  [[nodiscard]] CurrentContext enter() const noexcept { return {driver_, context_}; }
  /// Success, or the error of `call`. Clears the thread's last CUDA error, which is not the
  /// outcome of a kernel launch; notes the loss of the device.
  expected<void, Error> check(cudaError_t status, const char* call) noexcept;
  /// The same for a call of the driver, whose errors have the same numbers.
  expected<void, Error> check(CUresult status, const char* call) noexcept {
    return check(static_cast<cudaError_t>(status), call);
  }
  /// The same for a call that makes a stream: DEVICE_STREAMS_EXHAUSTED where memory runs out.
  expected<void, Error> check_new_stream(cudaError_t status, const char* call);
  [[nodiscard]] const CudaDriver& driver() const noexcept { return driver_; }
  /// Gives something back to CUDA, unless the process is at its end.
  template <class Call>
  void release(Call call) noexcept {
    if (process_exit_has_begun()) {
      return;  // CUDA is on its way out and takes what is left with it
    }
    const CurrentContext current = enter();
    const RelaxedCapture relaxed;
    // A sticky error is left for the next call to report: nobody would read it here.
    if (call() != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
    }
  }
  [[nodiscard]] Error memory_exhausted(MemoryKind kind, std::uint64_t bytes) const;

 private:
  /// DEVICE_LOST once the device is lost, DEVICE_PROCESS_EXITS once CUDA is on its way out.
  [[nodiscard]] const DeviceRefusal* do_unusable() const noexcept override;
  [[nodiscard]] expected<CUstream_st*, Error> do_create_stream(
      const StreamOptions& options) override;
  [[nodiscard]] expected<CUevent_st*, Error> do_create_event(const EventOptions& options,
                                                             bool timed) override;
  [[nodiscard]] expected<std::byte*, Error> do_allocate(MemoryKind kind,
                                                        std::uint64_t bytes) override;
  [[nodiscard]] expected<PointerInfo, Error> do_pointer_info(
      const void* pointer) const noexcept override;
  expected<void, Error> do_make_current() noexcept override;
  expected<void, Error> do_preload(std::span<const void* const> kernels) override;

  expected<void, Error> do_record(CUevent_st* event, CUstream_st* stream) noexcept override;
  expected<void, Error> do_wait(CUstream_st* stream, CUevent_st* event) noexcept override;
  [[nodiscard]] expected<bool, Error> do_is_complete(CUevent_st* event) noexcept override;
  [[nodiscard]] expected<std::chrono::nanoseconds, Error> do_elapsed(
      CUevent_st* from, CUevent_st* to) noexcept override;
  expected<void, Error> do_copy(CUstream_st* stream, void* destination, const void* source,
                                std::uint64_t bytes) noexcept override;
  expected<void, Error> do_fill(CUstream_st* stream, void* destination, std::byte value,
                                std::uint64_t bytes) noexcept override;
  expected<void, Error> do_launch_host(CUstream_st* stream, const HostTask& task) noexcept override;
  expected<void, Error> do_check_launch() noexcept override;
  expected<void, Error> do_synchronize_event(CUevent_st* event) noexcept override;
  expected<void, Error> do_synchronize_stream(CUstream_st* stream) noexcept override;

  [[nodiscard]] expected<std::shared_ptr<SmPartition>, Error> do_partition(
      std::uint32_t sm_count) override {
    return green_contexts_.create(sm_count);
  }

  [[nodiscard]] FenceWords* do_fence_words() noexcept override {
    return description().stream_memory_operations ? &fence_words_ : nullptr;
  }

  [[nodiscard]] SharedMemory* do_shared_memory() noexcept override {
    return exports_memory_ ? &shared_memory_ : nullptr;
  }

  void do_destroy_stream(CUstream_st* stream) noexcept override;
  void do_destroy_event(CUevent_st* event) noexcept override;
  void do_free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept override;

  const CudaDriver driver_;
  const CUcontext context_;
  const bool exports_memory_;
  const std::shared_ptr<HostTaskPool> host_tasks_ = std::make_shared<HostTaskPool>();
  std::atomic<bool> lost_{false};
  CudaGreenContexts green_contexts_{*this};
  CudaFenceWords fence_words_{*this};
  CudaSharedMemory shared_memory_{*this};
};

}  // namespace weftline::cuda_streams
