// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "cuda_driver.hpp"
#include "host_task_pool.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline::cuda_streams {

/// A CUDA device through the runtime API. Handles are CUDA's own.
///
/// Each call that CUDA serves from the current context sets the device's own for its length, and so
/// may come from any thread (see CurrentContext for the cost).
class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  /// `context` is the device's primary context, retained; it is kept until the process ends, since
  /// the last owner may be dropped where CUDA must not be called.
  CudaDevice(DeviceDescription description, const CudaDriver& driver, CUcontext context);

  [[nodiscard]] const DeviceDescription& description() const noexcept override {
    return description_;
  }
  [[nodiscard]] expected<Stream, Error> create_stream(const StreamOptions& options) override;
  [[nodiscard]] expected<Event, Error> create_event() override;
  [[nodiscard]] expected<MemoryBlock, Error> allocate(MemoryKind kind,
                                                      std::uint64_t bytes) override;
  expected<void, Error> make_current() noexcept override;

  expected<void, Error> record(EventRef event, StreamRef stream) noexcept override;
  expected<void, Error> wait(StreamRef stream, EventRef event) noexcept override;
  [[nodiscard]] expected<bool, Error> is_complete(EventRef event) noexcept override;
  expected<void, Error> copy(StreamRef stream, void* destination, const void* source,
                             std::uint64_t bytes) noexcept override;
  expected<void, Error> fill(StreamRef stream, void* destination, std::byte value,
                             std::uint64_t bytes) noexcept override;
  expected<void, Error> launch_host(StreamRef stream, const HostTask& task) noexcept override;
  expected<void, Error> check_launch() noexcept override;

  expected<void, Error> synchronize(EventRef event) noexcept override;
  expected<void, Error> synchronize(StreamRef stream) noexcept override;

  void destroy_stream(CUstream_st* stream) noexcept override;
  void destroy_event(CUevent_st* event) noexcept override;
  void free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept override;

 private:
  [[nodiscard]] CurrentContext enter() const noexcept { return {driver_, context_}; }
  /// DEVICE_LOST once the device is lost, DEVICE_PROCESS_EXITS once CUDA is on its way out.
  [[nodiscard]] expected<void, Error> check_usable() const noexcept;
  /// Success, or the error of `call`. Clears the thread's last CUDA error, which is not the
  /// outcome of a kernel launch; notes the loss of the device.
  expected<void, Error> check(cudaError_t status, const char* call) noexcept;
  /// Gives something back to CUDA, unless the process is at its end.
  template <class Call>
  void release(Call call) noexcept;

  const DeviceDescription description_;
  const CudaDriver driver_;
  const CUcontext context_;
  const std::shared_ptr<HostTaskPool> host_tasks_ = std::make_shared<HostTaskPool>();
  std::atomic<bool> lost_{false};
};

}  // namespace weftline::cuda_streams
