// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "annotated_mutex.hpp"
#include "emulated_stream.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline::cuda_streams {

/// What `emulated:<ordinal>` reports of itself; the same in every process.
[[nodiscard]] DeviceDescription describe_emulated_device(std::uint32_t ordinal,
                                                         const EmulatedDeviceOptions& options);

/// A device whose memory is host memory and whose streams are worker threads.
///
/// It owns every stream's worker. Destroying a stream only closes its queue; the worker is joined
/// when it has come to its end: by the next `create_stream()`, or by the destructor.
class EmulatedDevice final : public Device, public std::enable_shared_from_this<EmulatedDevice> {
 public:
  EmulatedDevice(std::uint32_t ordinal, const EmulatedDeviceOptions& options);
  ~EmulatedDevice() override;

  [[nodiscard]] const DeviceDescription& description() const noexcept override {
    return description_;
  }
  [[nodiscard]] expected<Stream, Error> create_stream(const StreamOptions& options) override;
  [[nodiscard]] expected<Event, Error> create_event() override;
  [[nodiscard]] expected<MemoryBlock, Error> allocate(MemoryKind kind,
                                                      std::uint64_t bytes) override;
  expected<void, Error> make_current() noexcept override { return {}; }

  expected<void, Error> record(EventRef event, StreamRef stream) noexcept override;
  expected<void, Error> wait(StreamRef stream, EventRef event) noexcept override;
  [[nodiscard]] expected<bool, Error> is_complete(EventRef event) noexcept override;
  expected<void, Error> copy(StreamRef stream, void* destination, const void* source,
                             std::uint64_t bytes) noexcept override;
  expected<void, Error> fill(StreamRef stream, void* destination, std::byte value,
                             std::uint64_t bytes) noexcept override;
  expected<void, Error> launch_host(StreamRef stream, const HostTask& task) noexcept override;
  expected<void, Error> check_launch() noexcept override { return {}; }

  expected<void, Error> synchronize(EventRef event) noexcept override;
  expected<void, Error> synchronize(StreamRef stream) noexcept override;

  void destroy_stream(CUstream_st* stream) noexcept override;
  void destroy_event(CUevent_st* event) noexcept override;
  void free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept override;

 private:
  [[nodiscard]] expected<void, Error> take_from_budget(MemoryKind kind, std::uint64_t bytes);
  void give_to_budget(MemoryKind kind, std::uint64_t bytes) noexcept;

  const DeviceDescription description_;
  const std::uint32_t queue_capacity_;
  std::atomic<std::uint64_t> allocated_bytes_{0};
  Mutex mutex_;
  std::vector<std::shared_ptr<EmulatedStream>> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
