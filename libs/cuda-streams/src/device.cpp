// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/device.hpp"

#include <algorithm>

#include "device_checks.hpp"

// The public calls: what is the same on every backend.

namespace weftline {

using namespace cuda_streams;

Device::~Device() = default;

expected<Stream, Error> Device::create_stream(const StreamOptions& options) {
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  const int priority = std::clamp(options.priority, priorities_.greatest, priorities_.least);
  WEFTLINE_ASSIGN(CUstream_st* const handle, do_create_stream({.priority = priority}));
  Stream stream(shared_from_this(), handle, priority);
  if (OrderModel* const model = order_model()) {
    model->stream_made(stream.ref());
  }
  return stream;
}

expected<GreenContext, Error> Device::create_green_context(const GreenContextOptions& options) {
  if (options.sm_count == 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_GREEN_CONTEXT_EMPTY",
                "a green context of " + id().to_string() +
                    " needs SMs: GreenContextOptions::sm_count is 0.");
  }
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  WEFTLINE_ASSIGN(std::shared_ptr<SmPartition> partition, do_partition(options.sm_count));
  if (!partition) {
    return fail(ErrorCode::kNotSupported, "DEVICE_NO_GREEN_CONTEXTS",
                id().to_string() +
                    " has no green contexts (CUDA's have a driver of CUDA 12.5 or newer). Use "
                    "ordinary streams, which share all SMs.");
  }
  return GreenContext(std::move(partition));
}

expected<Event, Error> Device::create_event(const EventOptions& options) {
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  WEFTLINE_ASSIGN(CUevent_st* const handle, do_create_event(options, false));
  return Event(shared_from_this(), handle);
}

expected<TimedEvent, Error> Device::create_timed_event(const EventOptions& options) {
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  WEFTLINE_ASSIGN(CUevent_st* const handle, do_create_event(options, true));
  return TimedEvent(Event(shared_from_this(), handle));
}

expected<MemoryBlock, Error> Device::allocate(MemoryKind kind, std::uint64_t bytes) {
  WEFTLINE_TRY(check_kind(id(), kind));
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  std::byte* data = nullptr;
  if (bytes != 0) {
    WEFTLINE_ASSIGN(data, do_allocate(kind, bytes));
    note_memory(*this, data, bytes);
  }
  return MemoryBlock(shared_from_this(), kind, data, bytes);
}

expected<PointerInfo, Error> Device::pointer_info(const void* pointer) const noexcept {
  if (const DeviceRefusal* const why = first_of(check_range(pointer, 1), check_call())) {
    return refuse(*why);
  }
  return do_pointer_info(pointer);
}

expected<void, Error> Device::make_current() noexcept {
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  return do_make_current();
}

expected<void, Error> Device::preload(std::span<const void* const> kernels) {
  const bool complete = std::find(kernels.begin(), kernels.end(), nullptr) == kernels.end();
  if (const DeviceRefusal* const why = first_of(complete ? nullptr : &kNullPointer, check_call())) {
    return refuse(*why);
  }
  return do_preload(kernels);
}

expected<FenceWords*, Error> Device::fence_words() {
  if (FenceWords* const words = do_fence_words()) {
    return words;
  }
  return fail(ErrorCode::kNotSupported, "DEVICE_NO_FENCE_WORDS",
              id().to_string() +
                  " has no 64-bit stream memory operations, so its streams can't write or await "
                  "fence words. Order its streams by events.");
}

expected<SharedMemory*, Error> Device::shared_memory() {
  if (SharedMemory* const memory = do_shared_memory()) {
    return memory;
  }
  return fail(ErrorCode::kNotSupported, "DEVICE_NO_SHARED_MEMORY",
              id().to_string() +
                  " can't export its memory by file descriptors. Share host memory instead.");
}

expected<void, Error> Device::record(EventRef event, StreamRef stream) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, event), check_own(*this, stream), check_call())) {
    return refuse(*why);
  }
  if (OrderModel* const model = order_model()) {
    model->recorded(event, stream);
  }
  return do_record(event.get(), stream.get());
}

expected<void, Error> Device::wait(StreamRef stream, EventRef event) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, stream), check_same_backend(*this, event), check_call())) {
    return refuse(*why);
  }
  if (OrderModel* const model = order_model()) {
    model->waited(stream, event);
  }
  return do_wait(stream.get(), event.get());
}

expected<bool, Error> Device::is_complete(EventRef event) noexcept {
  if (const DeviceRefusal* const why = first_of(check_own(*this, event), check_call())) {
    return refuse(*why);
  }
  OrderModel* const model = order_model();
  if (model == nullptr) {
    return do_is_complete(event.get());
  }
  const OrderModel::Point point = model->point_of(event);
  expected<bool, Error> complete = do_is_complete(event.get());
  if (complete && *complete) {
    model->learned(point);
  }
  return complete;
}

expected<std::chrono::nanoseconds, Error> Device::elapsed(const TimedEvent& from,
                                                          const TimedEvent& to) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, from.ref()), check_own(*this, to.ref()), check_call())) {
    return refuse(*why);
  }
  return do_elapsed(from.ref().get(), to.ref().get());
}

expected<void, Error> Device::copy(StreamRef stream, void* destination, const void* source,
                                   std::uint64_t bytes) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, stream), check_range(destination, bytes),
                   check_range(source, bytes), check_call())) {
    return refuse(*why);
  }
  if (bytes == 0) {
    return {};
  }
  if (OrderModel* const model = order_model()) {
    const MemoryAccess read{source, bytes};
    const MemoryAccess write{destination, bytes};
    model->used(stream, {&read, 1}, {&write, 1}, "copy");
  }
  return do_copy(stream.get(), destination, source, bytes);
}

expected<void, Error> Device::fill(StreamRef stream, void* destination, std::byte value,
                                   std::uint64_t bytes) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, stream), check_range(destination, bytes), check_call())) {
    return refuse(*why);
  }
  if (bytes == 0) {
    return {};
  }
  if (OrderModel* const model = order_model()) {
    const MemoryAccess write{destination, bytes};
    model->used(stream, {}, {&write, 1}, "fill");
  }
  return do_fill(stream.get(), destination, value, bytes);
}

expected<void, Error> Device::launch_host(StreamRef stream, const HostTask& task) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, stream), check_task(task), check_call())) {
    return refuse(*why);
  }
  if (OrderModel* const model = order_model()) {
    HostTask watched = task;
    watched.watch_ = {model, model->task_queued(stream)};
    return do_launch_host(stream.get(), watched);
  }
  return do_launch_host(stream.get(), task);
}

expected<void, Error> Device::launch_step(StreamRef stream, std::span<const MemoryAccess> reads,
                                          std::span<const MemoryAccess> writes,
                                          const HostTask& task) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(*this, stream), check_task(task), check_call())) {
    return refuse(*why);
  }
  declare_step(stream, reads, writes);
  return do_launch_host(stream.get(), task);
}

void Device::declare_step(StreamRef stream, std::span<const MemoryAccess> reads,
                          std::span<const MemoryAccess> writes) noexcept {
  if (OrderModel* const model = order_model()) {
    model->used(stream, reads, writes, "launch");
  }
}

expected<void, Error> Device::check_launch() noexcept {
  if (const DeviceRefusal* const why = check_call()) {
    return refuse(*why);
  }
  return do_check_launch();
}

expected<void, Error> Device::synchronize(EventRef event) noexcept {
  if (const DeviceRefusal* const why = first_of(check_own(*this, event), check_call())) {
    return refuse(*why);
  }
  OrderModel* const model = order_model();
  const OrderModel::Point point = model != nullptr ? model->point_of(event) : nullptr;
  WEFTLINE_TRY(do_synchronize_event(event.get()));
  if (model != nullptr) {
    model->learned(point);
  }
  return {};
}

expected<void, Error> Device::synchronize(StreamRef stream) noexcept {
  if (const DeviceRefusal* const why = first_of(check_own(*this, stream), check_call())) {
    return refuse(*why);
  }
  OrderModel* const model = order_model();
  const OrderModel::Point point = model != nullptr ? model->point_of(stream) : nullptr;
  WEFTLINE_TRY(do_synchronize_stream(stream.get()));
  if (model != nullptr) {
    model->learned(point);
  }
  return {};
}

}  // namespace weftline
