// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "available_memory.hpp"
#include "cuda_error.hpp"
#include "device_checks.hpp"
#include "process_exit.hpp"

namespace weftline::cuda_streams {
namespace {

void CUDART_CB run_host_task(void* slot) {
  HostTaskPool::run(static_cast<HostTaskPool::Slot*>(slot));
}

/// Lets this thread ask for completion while another thread captures a graph: in CUDA's default
/// mode a query would be refused, and would ruin that capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_{cudaStreamCaptureModeRelaxed};
};

bool is_host_memory(const void* data) noexcept {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, data) == cudaSuccess &&
         (attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered);
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

/// Memory that lies on the host is the host's to refuse: the device's free bytes say nothing of it.
Error memory_exhausted(DeviceId device, MemoryKind kind, std::uint64_t bytes) {
  std::string message = device.to_string() + " cannot allocate " + std::to_string(bytes) +
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

}  // namespace

CudaDevice::CudaDevice(DeviceDescription description, const CudaDriver& driver, CUcontext context)
    : description_(std::move(description)), driver_(driver), context_(context) {}

expected<void, Error> CudaDevice::check_usable() const noexcept {
  if (process_exit_has_begun()) {
    return fail(ErrorCode::kClosed, "DEVICE_PROCESS_EXITS");
  }
  if (lost_.load(std::memory_order_relaxed)) {
    return fail(ErrorCode::kFailure, "DEVICE_LOST");
  }
  return {};
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

template <class Call>
void CudaDevice::release(Call call) noexcept {
  if (process_exit_has_begun()) {
    return;  // CUDA is on its way out and takes what is left with it
  }
  const CurrentContext current = enter();
  // A sticky error is left for the next call to report: nobody would read it here.
  if (call() != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
}

expected<Stream, Error> CudaDevice::create_stream(const StreamOptions& options) {
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  cudaStream_t stream = nullptr;
  const cudaError_t status =
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, options.priority);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return fail(ErrorCode::kResourceExhausted, "DEVICE_STREAMS_EXHAUSTED",
                id().to_string() + " cannot make one more stream: " + cuda_error_text(status) +
                    ". Use fewer streams, or end other programs on the device.");
  }
  WEFTLINE_TRY(check(status, "cudaStreamCreateWithPriority"));
  return Stream(shared_from_this(), stream);
}

expected<Event, Error> CudaDevice::create_event() {
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  cudaEvent_t event = nullptr;
  WEFTLINE_TRY(
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags"));
  return Event(shared_from_this(), event);
}

expected<MemoryBlock, Error> CudaDevice::allocate(MemoryKind kind, std::uint64_t bytes) {
  WEFTLINE_TRY(check_kind(id(), kind));
  WEFTLINE_TRY(check_usable());
  if (bytes == 0) {
    return MemoryBlock(shared_from_this(), kind, nullptr, 0);
  }
  const CurrentContext current = enter();
  void* data = nullptr;
  const cudaError_t status = allocate_kind(kind, &data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(memory_exhausted(id(), kind, bytes));
  }
  WEFTLINE_TRY(check(status, "allocating memory"));
  return MemoryBlock(shared_from_this(), kind, static_cast<std::byte*>(data), bytes);
}

expected<void, Error> CudaDevice::make_current() noexcept {
  WEFTLINE_TRY(check_usable());
  return check(cudaSetDevice(static_cast<int>(id().ordinal)), "cudaSetDevice");
}

expected<void, Error> CudaDevice::record(EventRef event, StreamRef stream) noexcept {
  WEFTLINE_TRY(check_own(*this, event));
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  return check(cudaEventRecord(event.get(), stream.get()), "cudaEventRecord");
}

expected<void, Error> CudaDevice::wait(StreamRef stream, EventRef event) noexcept {
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_same_backend(*this, event));
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  return check(cudaStreamWaitEvent(stream.get(), event.get(), cudaEventWaitDefault),
               "cudaStreamWaitEvent");
}

expected<bool, Error> CudaDevice::is_complete(EventRef event) noexcept {
  WEFTLINE_TRY(check_own(*this, event));
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  const RelaxedCapture relaxed;
  const cudaError_t status = cudaEventQuery(event.get());
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // or check_launch() would report it
    return false;
  }
  WEFTLINE_TRY(check(status, "cudaEventQuery"));
  return true;
}

expected<void, Error> CudaDevice::copy(StreamRef stream, void* destination, const void* source,
                                       std::uint64_t bytes) noexcept {
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_range(destination, bytes));
  WEFTLINE_TRY(check_range(source, bytes));
  WEFTLINE_TRY(check_usable());
  if (bytes == 0) {
    return {};
  }
  const CurrentContext current = enter();
  if (is_host_memory(destination) && is_host_memory(source)) {
    // Between two ranges of host memory cudaMemcpyAsync blocks until the stream gets there.
    return launch_host(stream, HostTask([=] { std::memcpy(destination, source, bytes); }));
  }
  return check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream.get()),
               "cudaMemcpyAsync");
}

expected<void, Error> CudaDevice::fill(StreamRef stream, void* destination, std::byte value,
                                       std::uint64_t bytes) noexcept {
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_range(destination, bytes));
  WEFTLINE_TRY(check_usable());
  if (bytes == 0) {
    return {};
  }
  const CurrentContext current = enter();
  return check(cudaMemsetAsync(destination, std::to_integer<int>(value), bytes, stream.get()),
               "cudaMemsetAsync");
}

expected<void, Error> CudaDevice::launch_host(StreamRef stream, const HostTask& task) noexcept {
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_task(task));
  WEFTLINE_TRY(check_usable());
  HostTaskPool::Slot* const slot = host_tasks_->take(task);
  if (slot == nullptr) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_HOST_TASKS_EXHAUSTED");
  }
  const CurrentContext current = enter();
  auto result = check(cudaLaunchHostFunc(stream.get(), &run_host_task, slot), "cudaLaunchHostFunc");
  if (!result) {
    HostTaskPool::give_back(slot);
  }
  return result;
}

expected<void, Error> CudaDevice::check_launch() noexcept {
  WEFTLINE_TRY(check_usable());
  return check(cudaGetLastError(), "a kernel launch");
}

expected<void, Error> CudaDevice::synchronize(EventRef event) noexcept {
  WEFTLINE_TRY(check_own(*this, event));
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  return check(cudaEventSynchronize(event.get()), "cudaEventSynchronize");
}

expected<void, Error> CudaDevice::synchronize(StreamRef stream) noexcept {
  WEFTLINE_TRY(check_own(*this, stream));
  WEFTLINE_TRY(check_usable());
  const CurrentContext current = enter();
  return check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

void CudaDevice::destroy_stream(CUstream_st* stream) noexcept {
  release([stream] { return cudaStreamDestroy(stream); });
}

void CudaDevice::destroy_event(CUevent_st* event) noexcept {
  release([event] { return cudaEventDestroy(event); });
}

void CudaDevice::free(MemoryKind kind, std::byte* data, std::uint64_t) noexcept {
  release([kind, data] {
    return kind == MemoryKind::kPinnedHost ? cudaFreeHost(data) : cudaFree(data);
  });
}

}  // namespace weftline::cuda_streams
