// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "weftline/core/device_catalog.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/cuda/event.hpp"
#include "weftline/cuda/host_task.hpp"
#include "weftline/cuda/memory_block.hpp"
#include "weftline/cuda/stream.hpp"

namespace weftline {

/// One device, behind either backend. All members may be called from any thread, also at the same
/// time on one stream: each call queues its work whole, and which of two comes first is then the
/// callers' business. Only `make_current()` changes the caller's current CUDA device.
///
/// Refusals of the hot calls carry code and token only: kInvalidArgument with
/// DEVICE_FOREIGN_OBJECT (an object of another device), DEVICE_NULL_OBJECT, DEVICE_NULL_POINTER or
/// DEVICE_EMPTY_TASK. A driver call that fails says in words which call, why, and what to check
/// (DEVICE_CALL_FAILED). A device that is lost to a sticky CUDA error says so once in words, and
/// from then on answers kFailure (DEVICE_LOST) without. Once the process exits (its exit handlers
/// and static destructors run), a CUDA device answers kClosed (DEVICE_PROCESS_EXITS) to everything.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceDescription& description() const noexcept = 0;
  [[nodiscard]] DeviceId id() const noexcept { return description().id; }

  // Cold: may allocate, may block.

  /// kResourceExhausted (DEVICE_STREAMS_EXHAUSTED) where threads or memory run out.
  [[nodiscard]] virtual expected<Stream, Error> create_stream(const StreamOptions& options) = 0;
  [[nodiscard]] virtual expected<Event, Error> create_event() = 0;
  /// kPinnedHost, kCudaDevice or kCudaManaged; any other kind is kInvalidArgument
  /// (DEVICE_MEMORY_KIND): kHost is `allocate_host_memory()`. 0 bytes give a block without data.
  /// kResourceExhausted (DEVICE_MEMORY_EXHAUSTED) names the size wanted and what is left.
  [[nodiscard]] virtual expected<MemoryBlock, Error> allocate(MemoryKind kind,
                                                              std::uint64_t bytes) = 0;
  /// Makes this device the calling thread's current one (cudaSetDevice). Before every callback on
  /// CUDA; nothing on an emulated device.
  virtual expected<void, Error> make_current() noexcept = 0;

  // Hot: queue and return; no allocation. An emulated stream has a bounded queue (like a driver)
  // and blocks the caller only when it is full.

  virtual expected<void, Error> record(EventRef event, StreamRef stream) noexcept = 0;
  /// Later work on `stream` waits for the last record of `event` before this call; the event may
  /// be of another device of the same backend.
  virtual expected<void, Error> wait(StreamRef stream, EventRef event) noexcept = 0;
  /// Whether the last record is complete. Never blocks; safe beside a stream capture of another
  /// thread.
  [[nodiscard]] virtual expected<bool, Error> is_complete(EventRef event) noexcept = 0;
  /// Memory of any kind; the ranges must not overlap. 0 bytes queue nothing.
  ///
  /// Plain kHost memory is not in the stream's order on CUDA: towards a device its bytes are read
  /// during the call, before earlier work of the stream, and from a device the caller blocks until
  /// the copy is done. An emulated device reads and writes it in stream order, after the call. So
  /// portable code has a plain source complete before the call, and lets a plain range live and be
  /// untouched until the stream has passed. Every other kind is in stream order on both.
  virtual expected<void, Error> copy(StreamRef stream, void* destination, const void* source,
                                     std::uint64_t bytes) noexcept = 0;
  /// Memory that the device reaches: every kind but kHost. 0 bytes queue nothing.
  virtual expected<void, Error> fill(StreamRef stream, void* destination, std::byte value,
                                     std::uint64_t bytes) noexcept = 0;
  /// Runs `task` on a host thread when all earlier work on `stream` is done; later work waits for
  /// it. The CUDA backend holds at most 1024 tasks in flight per device, in a pool of its own, and
  /// copies between two ranges of host memory count: one more is kResourceExhausted
  /// (DEVICE_HOST_TASKS_EXHAUSTED).
  virtual expected<void, Error> launch_host(StreamRef stream, const HostTask& task) noexcept = 0;
  /// The outcome of kernel launches made directly on this device's streams by the calling thread
  /// since the last call (cudaGetLastError).
  virtual expected<void, Error> check_launch() noexcept = 0;

  // Block the calling host thread.

  /// Until the last record before this call is complete.
  virtual expected<void, Error> synchronize(EventRef event) noexcept = 0;
  /// Until all work queued before this call is done.
  virtual expected<void, Error> synchronize(StreamRef stream) noexcept = 0;

  // For the owner types only.

  virtual void destroy_stream(CUstream_st* stream) noexcept = 0;
  virtual void destroy_event(CUevent_st* event) noexcept = 0;
  virtual void free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept = 0;
};

}  // namespace weftline
