// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "available_memory.hpp"
#include "cuda_error.hpp"

namespace weftline::cuda_streams {
namespace {

void CUDART_CB run_host_task(void* slot) {
  HostTaskPool::run(static_cast<HostTaskPool::Slot*>(slot));
}

cudaMemoryType type_of(const void* data) noexcept {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, data) == cudaSuccess ? attributes.type
                                                                    : cudaMemoryTypeDevice;
}

bool is_host(cudaMemoryType type) noexcept {
  return type == cudaMemoryTypeHost || type == cudaMemoryTypeUnregistered;
}

cudaError_t allocate_kind(MemoryKind kind, void** data, std::uint64_t bytes) noexcept {
  switch (kind) {
    case MemoryKind::kPinnedHost:
      return cudaHostAlloc(data, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
    case MemoryKind::kCudaManaged:
      return cudaMallocManaged(data, bytes, cudaMemAttachGlobal);
    default:
      return cudaMalloc(data, bytes);
  }
}

}  // namespace

CudaDevice::CudaDevice(DeviceDescription description, StreamPriorities priorities,
                       const CudaDriver& driver, CUcontext context, bool exports_memory)
    : Device(std::move(description), priorities),
      driver_(driver),
      context_(context),
      exports_memory_(exports_memory) {}

/// Memory that lies on the host is the host's to refuse: the device's free bytes say nothing of it.
Error CudaDevice::memory_exhausted(MemoryKind kind, std::uint64_t bytes) const {
  std::string message = id().to_string() + " cannot allocate " + std::to_string(bytes) +
                        " bytes of " + std::string(memory_kind_name(kind)) + " memory: ";
  if (kind == MemoryKind::kPinnedHost) {
    message += "the host refused to pin them, and " + std::to_string(available_host_memory()) +
               " bytes of host memory are available. Use smaller or fewer buffers, or check the "
               "limit on locked memory (ulimit -l) and the container's memory limit.";
  } else {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // or check_launch() would report it
    }
    message +=
        std::to_string(free_bytes) + " of " + std::to_string(total_bytes) +
        " bytes of the device are free. Use smaller or fewer pools, or end other programs on "
        "the device.";
  }
  return Error{ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED", std::move(message), 0};
}

const DeviceRefusal* CudaDevice::do_unusable() const noexcept {
  static constexpr DeviceRefusal kProcessExits{ErrorCode::kClosed, "DEVICE_PROCESS_EXITS"};
  static constexpr DeviceRefusal kLost{ErrorCode::kFailure, "DEVICE_LOST"};
  if (process_exit_has_begun()) {
    return &kProcessExits;
  }
  return lost_.load(std::memory_order_relaxed) ? &kLost : nullptr;
}

expected<void, Error> CudaDevice::check(cudaError_t status, const char* call) noexcept {
  if (status == cudaSuccess) {
    return {};
  }
  static_cast<void>(cudaGetLastError());
  if (is_sticky(status) && lost_.exchange(true)) {
    return fail(ErrorCode::kFailure, "DEVICE_LOST");
  }
  return make_unexpected(describe_cuda_failure(status, call, id()));
}

expected<void, Error> CudaDevice::check_new_stream(cudaError_t status, const char* call) {
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return fail(ErrorCode::kResourceExhausted, "DEVICE_STREAMS_EXHAUSTED",
                id().to_string() + " cannot make one more stream: " + cuda_error_text(status) +
                    ". Use fewer streams, or end other programs on the device.");
  }
  return check(status, call);
}

expected<CUstream_st*, Error> CudaDevice::do_create_stream(const StreamOptions& options) {
  const CurrentContext current = enter();
  cudaStream_t stream = nullptr;
  WEFTLINE_TRY(check_new_stream(
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, options.priority),
      "cudaStreamCreateWithPriority"));
  return stream;
}

expected<CUevent_st*, Error> CudaDevice::do_create_event(const EventOptions& options, bool timed) {
  const CurrentContext current = enter();
  const unsigned int flags = (timed ? cudaEventDefault : cudaEventDisableTiming) |
                             (options.blocking_wait ? cudaEventBlockingSync : cudaEventDefault);
  cudaEvent_t event = nullptr;
  WEFTLINE_TRY(check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags"));
  return event;
}

expected<std::byte*, Error> CudaDevice::do_allocate(MemoryKind kind, std::uint64_t bytes) {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  void* data = nullptr;
  const cudaError_t status = allocate_kind(kind, &data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(memory_exhausted(kind, bytes));
  }
  WEFTLINE_TRY(check(status, "allocating memory"));
  return static_cast<std::byte*>(data);
}

expected<PointerInfo, Error> CudaDevice::do_pointer_info(const void* pointer) const noexcept {
  const CurrentContext current = enter();
  cudaPointerAttributes attributes{};
  if (const cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
      status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(describe_cuda_failure(status, "cudaPointerGetAttributes", id()));
  }
  const DeviceId owner{DeviceKind::kCuda, static_cast<std::uint32_t>(attributes.device)};
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      return PointerInfo{MemoryKind::kCudaDevice, owner};
    case cudaMemoryTypeManaged:
      return PointerInfo{MemoryKind::kCudaManaged, owner};
    case cudaMemoryTypeHost:
      return PointerInfo{MemoryKind::kPinnedHost, std::nullopt};
    default:
      return PointerInfo{MemoryKind::kHost, std::nullopt};
  }
}

expected<void, Error> CudaDevice::do_make_current() noexcept {
  return check(cudaSetDevice(static_cast<int>(id().ordinal)), "cudaSetDevice");
}

expected<void, Error> CudaDevice::do_preload(std::span<const void* const> kernels) {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  for (const void* const kernel : kernels) {
    cudaFuncAttributes attributes{};  // known only of a kernel that is loaded
    WEFTLINE_TRY(check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes"));
  }
  return {};
}

expected<void, Error> CudaDevice::do_record(CUevent_st* event, CUstream_st* stream) noexcept {
  const CurrentContext current = enter();
  return check(cudaEventRecord(event, stream), "cudaEventRecord");
}

expected<void, Error> CudaDevice::do_wait(CUstream_st* stream, CUevent_st* event) noexcept {
  const CurrentContext current = enter();
  return check(cudaStreamWaitEvent(stream, event, cudaEventWaitDefault), "cudaStreamWaitEvent");
}

expected<bool, Error> CudaDevice::do_is_complete(CUevent_st* event) noexcept {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // or check_launch() would report it
    return false;
  }
  WEFTLINE_TRY(check(status, "cudaEventQuery"));
  return true;
}

expected<std::chrono::nanoseconds, Error> CudaDevice::do_elapsed(CUevent_st* from,
                                                                 CUevent_st* to) noexcept {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  float milliseconds = 0;
  const cudaError_t status = cudaEventElapsedTime(&milliseconds, from, to);
  if (status == cudaErrorNotReady || status == cudaErrorInvalidResourceHandle) {
    static_cast<void>(cudaGetLastError());  // or check_launch() would report it
    return status == cudaErrorNotReady
               ? fail(ErrorCode::kNotReady, "DEVICE_EVENT_INCOMPLETE")
               : fail(ErrorCode::kInvalidArgument, "DEVICE_EVENT_NOT_RECORDED");
  }
  WEFTLINE_TRY(check(status, "cudaEventElapsedTime"));
  return std::chrono::round<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(milliseconds));
}

expected<void, Error> CudaDevice::do_copy(CUstream_st* stream, void* destination,
                                          const void* source, std::uint64_t bytes) noexcept {
  const CurrentContext current = enter();
  const cudaMemoryType target = type_of(destination);
  if (is_host(target) && is_host(type_of(source))) {
    // Between two ranges of host memory cudaMemcpyAsync blocks until the stream gets there.
    return do_launch_host(stream, HostTask([=] { std::memcpy(destination, source, bytes); }));
  }
  WEFTLINE_TRY(check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream),
                     "cudaMemcpyAsync"));
  if (target == cudaMemoryTypeUnregistered) {
    count_blocking_copy();
  }
  return {};
}

expected<void, Error> CudaDevice::do_fill(CUstream_st* stream, void* destination, std::byte value,
                                          std::uint64_t bytes) noexcept {
  const CurrentContext current = enter();
  return check(cudaMemsetAsync(destination, std::to_integer<int>(value), bytes, stream),
               "cudaMemsetAsync");
}

expected<void, Error> CudaDevice::do_launch_host(CUstream_st* stream,
                                                 const HostTask& task) noexcept {
  const CurrentContext current = enter();
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  WEFTLINE_TRY(check(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing"));
  if (capture != cudaStreamCaptureStatusNone) {
    return fail(ErrorCode::kNotSupported, "DEVICE_STREAM_CAPTURED");  // a slot serves one run only
  }
  HostTaskPool::Slot* const slot = host_tasks_->take(task);
  if (slot == nullptr) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_HOST_TASKS_EXHAUSTED");
  }
  auto result = check(cudaLaunchHostFunc(stream, &run_host_task, slot), "cudaLaunchHostFunc");
  if (!result) {
    HostTaskPool::give_back(slot);
  }
  return result;
}

expected<void, Error> CudaDevice::do_check_launch() noexcept {
  return check(cudaGetLastError(), "a kernel launch");
}

expected<void, Error> CudaDevice::do_synchronize_event(CUevent_st* event) noexcept {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  return check(cudaEventSynchronize(event), "cudaEventSynchronize");
}

expected<void, Error> CudaDevice::do_synchronize_stream(CUstream_st* stream) noexcept {
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void CudaDevice::do_destroy_stream(CUstream_st* stream) noexcept {
  release([stream] { return cudaStreamDestroy(stream); });
}

void CudaDevice::do_destroy_event(CUevent_st* event) noexcept {
  release([event] { return cudaEventDestroy(event); });
}

void CudaDevice::do_free(MemoryKind kind, std::byte* data, std::uint64_t) noexcept {
  release([this, kind, data] {
    if (shared_memory_.free(data)) {
      return cudaSuccess;
    }
    return kind == MemoryKind::kPinnedHost ? cudaFreeHost(data) : cudaFree(data);
  });
}

}  // namespace weftline::cuda_streams
