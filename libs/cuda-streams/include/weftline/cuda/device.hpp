// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "weftline/core/device_catalog.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/cuda/event.hpp"
#include "weftline/cuda/fence_words.hpp"
#include "weftline/cuda/green_context.hpp"
#include "weftline/cuda/host_task.hpp"
#include "weftline/cuda/memory_access.hpp"
#include "weftline/cuda/memory_block.hpp"
#include "weftline/cuda/shared_memory.hpp"
#include "weftline/cuda/stream.hpp"
#include "weftline/cuda/stream_order_checker.hpp"
#include "weftline/cuda/timed_event.hpp"

namespace weftline {

struct DeviceOptions;

/// What a pointer points into.
struct PointerInfo {
  MemoryKind kind{MemoryKind::kUnknown};
  std::optional<DeviceId> device{};  ///< The owner of kCudaDevice and kCudaManaged memory.
  friend bool operator==(const PointerInfo&, const PointerInfo&) noexcept = default;
};

/// Why a call is refused; on the path of a frame without words.
struct DeviceRefusal {
  ErrorCode code;
  std::string_view token;
  std::string_view message{};
};

/// One device, behind either backend; owned by shared_ptrs. All members may be called from any
/// thread, also at the same time on one stream: each call queues its work whole, and which of two
/// comes first is then the callers' business. Only `make_current()` changes the caller's current
/// CUDA device.
///
/// Refusals of the hot calls carry code and token only: kInvalidArgument with
/// DEVICE_FOREIGN_OBJECT (an object of another device), DEVICE_NULL_OBJECT, DEVICE_NULL_POINTER,
/// DEVICE_EMPTY_TASK, or DEVICE_CALL_IN_HOST_TASK (see `HostTask`). A driver call that fails says
/// in words which call, why, and what to check (DEVICE_CALL_FAILED). A device that is lost to a
/// sticky CUDA error says so once in words, and from then on answers kFailure (DEVICE_LOST)
/// without. Once the process exits (its exit handlers and static destructors run), a CUDA device
/// answers kClosed (DEVICE_PROCESS_EXITS) to everything.
///
/// A thread may capture its CUDA stream into a graph, in any mode, while other threads record,
/// wait, query, synchronize, make, allocate and free: that spoils no capture of another stream.
class Device : public std::enable_shared_from_this<Device> {
 public:
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device();

  [[nodiscard]] const DeviceDescription& description() const noexcept { return description_; }
  [[nodiscard]] DeviceId id() const noexcept { return description_.id; }
  /// Null unless the device is watched: see DeviceOptions.
  [[nodiscard]] StreamOrderChecker* order_checker() const noexcept { return order_checker_.get(); }

  // Cold: may allocate, may block.

  [[nodiscard]] StreamPriorities stream_priorities() const noexcept { return priorities_; }
  /// kResourceExhausted (DEVICE_STREAMS_EXHAUSTED) where threads or memory run out.
  [[nodiscard]] expected<Stream, Error> create_stream(const StreamOptions& options);
  /// kInvalidArgument (DEVICE_GREEN_CONTEXT_EMPTY) for no SMs; kResourceExhausted
  /// (DEVICE_SMS_EXHAUSTED) names what is left, and the multiples in which it is given out;
  /// kNotSupported (DEVICE_NO_GREEN_CONTEXTS) where the device, or its driver, has none.
  [[nodiscard]] expected<GreenContext, Error> create_green_context(
      const GreenContextOptions& options);
  [[nodiscard]] expected<Event, Error> create_event(const EventOptions& options = {});
  [[nodiscard]] expected<TimedEvent, Error> create_timed_event(const EventOptions& options = {});
  /// kPinnedHost, kCudaDevice or kCudaManaged; any other kind is kInvalidArgument
  /// (DEVICE_MEMORY_KIND): kHost is `allocate_host_memory()`. 0 bytes give a block without data.
  /// kResourceExhausted (DEVICE_MEMORY_EXHAUSTED) names the size wanted and what is left.
  [[nodiscard]] expected<MemoryBlock, Error> allocate(MemoryKind kind, std::uint64_t bytes);
  /// What `pointer` points into. Memory of another device, too, is known for what it is on CUDA; an
  /// emulated device knows what it allocated itself, and takes everything else for kHost. Allocates
  /// nothing and never blocks.
  [[nodiscard]] expected<PointerInfo, Error> pointer_info(const void* pointer) const noexcept;
  /// Makes this device the calling thread's current one (cudaSetDevice). Before every callback on
  /// CUDA; nothing on an emulated device.
  expected<void, Error> make_current() noexcept;

  /// Loads kernels now, so that no first launch of one has to: on CUDA that may block until all
  /// streams of the device have nothing left to do, which is for ever where one waits for a fence
  /// word that is not written. `kernels` are addresses of `__global__` functions of this program,
  /// `reinterpret_cast<const void*>(kernel)`; those of a shared library that has a CUDA runtime of
  /// its own are that library's to load. Call it before work is queued. Nothing on an emulated
  /// device.
  expected<void, Error> preload(std::span<const void* const> kernels);

  /// The device's fence words. kNotSupported (DEVICE_NO_FENCE_WORDS) where it has no stream memory
  /// operations: `description()` says so, too.
  [[nodiscard]] expected<FenceWords*, Error> fence_words();

  /// Memory that other processes can use. kNotSupported (DEVICE_NO_SHARED_MEMORY) where the device
  /// can't export it by file descriptors.
  [[nodiscard]] expected<SharedMemory*, Error> shared_memory();

  // Hot: queue and return; no allocation. An emulated stream has a bounded queue (like a driver)
  // and blocks the caller only when it is full.

  expected<void, Error> record(EventRef event, StreamRef stream) noexcept;
  /// Later work on `stream` waits for the last record of `event` before this call; the event may
  /// be of another device of the same backend.
  expected<void, Error> wait(StreamRef stream, EventRef event) noexcept;
  /// Whether the last record is complete. Never blocks.
  [[nodiscard]] expected<bool, Error> is_complete(EventRef event) noexcept;
  /// The time from the last record of one event to that of the other, by the device's clock (ticks
  /// of about half a microsecond on CUDA). kNotReady (DEVICE_EVENT_INCOMPLETE) until both are
  /// complete; kInvalidArgument (DEVICE_EVENT_NOT_RECORDED) where one was never recorded. Never
  /// blocks.
  [[nodiscard]] expected<std::chrono::nanoseconds, Error> elapsed(const TimedEvent& from,
                                                                  const TimedEvent& to) noexcept;
  /// Memory of any kind; the ranges must not overlap. 0 bytes queue nothing.
  ///
  /// Plain kHost memory is not in the stream's order on CUDA: towards a device its bytes are read
  /// during the call, before earlier work of the stream, and from a device the caller blocks until
  /// the copy is done. An emulated device reads and writes it in stream order, after the call. So
  /// portable code has a plain source complete before the call, and lets a plain range live and be
  /// untouched until the stream has passed. Every other kind is in stream order on both.
  expected<void, Error> copy(StreamRef stream, void* destination, const void* source,
                             std::uint64_t bytes) noexcept;
  /// How many copies so far blocked their caller: on CUDA those from a device to plain kHost
  /// memory, none on an emulated device. (A plain source is not counted: to find it would cost
  /// every copy towards a device a look-up.)
  [[nodiscard]] std::uint64_t blocking_copies() const noexcept {
    return blocking_copies_.load(std::memory_order_relaxed);
  }
  /// Memory that the device reaches: every kind but kHost. 0 bytes queue nothing.
  expected<void, Error> fill(StreamRef stream, void* destination, std::byte value,
                             std::uint64_t bytes) noexcept;
  /// Runs `task` on a host thread when all earlier work on `stream` is done; later work waits for
  /// it. The CUDA backend holds at most 1024 tasks in flight per device, in a pool of its own, and
  /// copies between two ranges of host memory count: one more is kResourceExhausted
  /// (DEVICE_HOST_TASKS_EXHAUSTED). A task runs once, so it is no part of a graph: while `stream`
  /// is captured, a task and such a copy are kNotSupported (DEVICE_STREAM_CAPTURED).
  expected<void, Error> launch_host(StreamRef stream, const HostTask& task) noexcept;
  // For `launch()`, which is how a step of work that touches memory is queued.
  /// As `launch_host()`, for a task whose only effect is on these bytes.
  expected<void, Error> launch_step(StreamRef stream, std::span<const MemoryAccess> reads,
                                    std::span<const MemoryAccess> writes,
                                    const HostTask& task) noexcept;
  /// That a step just queued on the stream touches these bytes. Nothing but for a checker.
  void declare_step(StreamRef stream, std::span<const MemoryAccess> reads,
                    std::span<const MemoryAccess> writes) noexcept;
  /// The outcome of kernel launches made directly on this device's streams by the calling thread
  /// since the last call (cudaGetLastError).
  expected<void, Error> check_launch() noexcept;

  // Block the calling host thread.

  /// Until the last record before this call is complete.
  expected<void, Error> synchronize(EventRef event) noexcept;
  /// Until all work queued before this call is done.
  expected<void, Error> synchronize(StreamRef stream) noexcept;

 protected:
  explicit Device(DeviceDescription description, StreamPriorities priorities = {})
      : description_(std::move(description)), priorities_(priorities) {}
  void count_blocking_copy() noexcept { blocking_copies_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class Stream;
  friend class GreenContext;
  friend class Event;
  friend class MemoryBlock;
  friend class FenceWords;
  friend class SharedMemory;
  friend expected<std::shared_ptr<Device>, Error> open_device(DeviceId id,
                                                              const DeviceOptions& options);

  /// The model to tell of a call; null where nobody watches.
  [[nodiscard]] cuda_streams::OrderModel* order_model() const noexcept {
    return order_checker_ ? &order_checker_->model() : nullptr;
  }
  /// Whether this thread may call the device now.
  [[nodiscard]] const DeviceRefusal* check_call() const noexcept;

  // What a backend implements. Arguments are checked already: objects are this device's own, ranges
  // are not null, sizes not 0, tasks not empty, priorities in range, and the call may be made now.

  /// Why the device can't be used at all; null while it can. Asked before each call.
  [[nodiscard]] virtual const DeviceRefusal* do_unusable() const noexcept { return nullptr; }
  [[nodiscard]] virtual expected<CUstream_st*, Error> do_create_stream(
      const StreamOptions& options) = 0;
  [[nodiscard]] virtual expected<CUevent_st*, Error> do_create_event(const EventOptions& options,
                                                                     bool timed) = 0;
  [[nodiscard]] virtual expected<std::byte*, Error> do_allocate(MemoryKind kind,
                                                                std::uint64_t bytes) = 0;
  [[nodiscard]] virtual expected<PointerInfo, Error> do_pointer_info(
      const void* pointer) const noexcept = 0;
  virtual expected<void, Error> do_make_current() noexcept = 0;
  virtual expected<void, Error> do_preload(std::span<const void* const>) { return {}; }

  virtual expected<void, Error> do_record(CUevent_st* event, CUstream_st* stream) noexcept = 0;
  /// The event may be of another device of the same class.
  virtual expected<void, Error> do_wait(CUstream_st* stream, CUevent_st* event) noexcept = 0;
  virtual expected<bool, Error> do_is_complete(CUevent_st* event) noexcept = 0;
  /// Both events were made timed.
  virtual expected<std::chrono::nanoseconds, Error> do_elapsed(CUevent_st* from,
                                                               CUevent_st* to) noexcept = 0;
  virtual expected<void, Error> do_copy(CUstream_st* stream, void* destination, const void* source,
                                        std::uint64_t bytes) noexcept = 0;
  virtual expected<void, Error> do_fill(CUstream_st* stream, void* destination, std::byte value,
                                        std::uint64_t bytes) noexcept = 0;
  virtual expected<void, Error> do_launch_host(CUstream_st* stream,
                                               const HostTask& task) noexcept = 0;
  virtual expected<void, Error> do_check_launch() noexcept = 0;
  virtual expected<void, Error> do_synchronize_event(CUevent_st* event) noexcept = 0;
  virtual expected<void, Error> do_synchronize_stream(CUstream_st* stream) noexcept = 0;

  // Abilities that not every device has: null where it does not.
  [[nodiscard]] virtual expected<std::shared_ptr<SmPartition>, Error> do_partition(std::uint32_t) {
    return std::shared_ptr<SmPartition>{};
  }
  [[nodiscard]] virtual FenceWords* do_fence_words() noexcept { return nullptr; }
  [[nodiscard]] virtual SharedMemory* do_shared_memory() noexcept { return nullptr; }

  // For the owner types, at any time.
  virtual void do_destroy_stream(CUstream_st* stream) noexcept = 0;
  virtual void do_destroy_event(CUevent_st* event) noexcept = 0;
  virtual void do_free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept = 0;

  const DeviceDescription description_;
  const StreamPriorities priorities_;
  std::shared_ptr<StreamOrderChecker> order_checker_{};  // set before anybody has the device
  std::atomic<std::uint64_t> blocking_copies_{0};
};

}  // namespace weftline
