// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "emulated_fence_words.hpp"
#include "emulated_shared_memory.hpp"
#include "hardware_queues.hpp"
#include "memory_budget.hpp"
#include "memory_ranges.hpp"
#include "sm_units.hpp"
#include "stepper_control.hpp"
#include "stream_scheduler.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline::cuda_streams {

/// What `emulated:<ordinal>` reports of itself; the same in every process.
[[nodiscard]] DeviceDescription describe_emulated_device(std::uint32_t ordinal,
                                                         const EmulatedDeviceOptions& options);

/// A device whose memory is host memory and whose streams are queues that a scheduler works off.
/// Destroying a stream only closes its queue.
class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(std::uint32_t ordinal, const EmulatedDeviceOptions& options);

 private:
  friend class EmulatedSmPartition;

  [[nodiscard]] const DeviceRefusal* do_unusable() const noexcept override;
  [[nodiscard]] expected<CUstream_st*, Error> do_create_stream(
      const StreamOptions& options) override;
  [[nodiscard]] expected<CUevent_st*, Error> do_create_event(const EventOptions& options,
                                                             bool timed) override;
  [[nodiscard]] expected<std::byte*, Error> do_allocate(MemoryKind kind,
                                                        std::uint64_t bytes) override;
  [[nodiscard]] expected<PointerInfo, Error> do_pointer_info(
      const void* pointer) const noexcept override;
  expected<void, Error> do_make_current() noexcept override { return {}; }

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
  expected<void, Error> do_check_launch() noexcept override { return {}; }
  expected<void, Error> do_synchronize_event(CUevent_st* event) noexcept override;
  expected<void, Error> do_synchronize_stream(CUstream_st* stream) noexcept override;

  [[nodiscard]] expected<std::shared_ptr<SmPartition>, Error> do_partition(
      std::uint32_t sm_count) override;
  [[nodiscard]] FenceWords* do_fence_words() noexcept override {
    return description().stream_memory_operations ? &fence_words_ : nullptr;
  }

  [[nodiscard]] SharedMemory* do_shared_memory() noexcept override { return &shared_memory_; }

  void do_destroy_stream(CUstream_st* stream) noexcept override;
  void do_destroy_event(CUevent_st* event) noexcept override;
  void do_free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept override;

  /// What a wait for work that the loss of the device has dropped comes to.
  [[nodiscard]] expected<void, Error> check_not_lost() const noexcept;

  const std::uint32_t queue_capacity_;
  HardwareQueues hardware_queues_;
  std::optional<SmUnits> sm_units_;  // none on a device without green contexts
  MemoryBudget budget_;
  MemoryRanges memory_;
  EmulatedSharedMemory shared_memory_{*this, budget_, memory_};
  EmulatedFenceWords fence_words_{*this};
  const std::shared_ptr<StepperControl> control_;  // null with worker threads
  const std::string lost_words_;
  const DeviceRefusal lost_in_words_{ErrorCode::kFailure, "DEVICE_LOST", lost_words_};
  mutable std::atomic<bool> loss_was_reported_{false};
  const std::unique_ptr<StreamScheduler> scheduler_;
};

}  // namespace weftline::cuda_streams
