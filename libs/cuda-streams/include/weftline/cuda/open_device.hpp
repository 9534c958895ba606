// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "weftline/cuda/device.hpp"
#include "weftline/cuda/emulated_stepper.hpp"

namespace weftline {

inline constexpr std::uint32_t kMaxEmulatedDevices = 100;
inline constexpr std::uint32_t kMaxStreamQueueCapacity = 1U << 20;

/// What an emulated device imitates.
struct EmulatedDeviceOptions {
  std::uint32_t device_count{1};  ///< emulated:0 … emulated:N-1 exist; at most 100.
  std::uint32_t sm_count{16};
  /// Green contexts have SMs in multiples of this; 0 for a device without green contexts.
  std::uint32_t sm_granularity{2};
  /// Its streams, those of green contexts included, are dealt to these in order of creation; the
  /// place of a destroyed stream whose work is done is dealt again. While a stream waits for a
  /// fence word, no other one of its queue begins an operation, be it queued before the wait or
  /// after it; what runs already goes on. Waits for events hold up nobody else. As long as a device
  /// has no more streams than queues, none shares one. At least 1.
  std::uint32_t hardware_queues{32};
  /// What kCudaDevice and kCudaManaged blocks of one opened device may take together. Pinned memory
  /// is the host's, as on a real device.
  std::uint64_t memory_bytes{std::uint64_t{8} << 30};
  /// Whether streams write and await fence words (see FenceWords).
  bool stream_memory_operations{true};
  /// What advances the streams; without one each stream has a thread of its own.
  std::shared_ptr<EmulatedStepper> stepper{};
  /// Operations that one stream queues before the caller has to wait: 1 to 1,048,576, each taking
  /// about 230 bytes of host memory from the stream's creation on.
  std::uint32_t stream_queue_capacity{1024};
};

struct DeviceOptions {
  EmulatedDeviceOptions emulated{};
  /// Who watches the device's calls. Devices that wait for each other's events share one.
  std::shared_ptr<StreamOrderChecker> order_checker{StreamOrderChecker::of_environment()};
};

/// What this machine offers, emulated devices included. Never fails: a machine without a driver has
/// no CUDA devices. Cold; starts the CUDA driver where there is one.
[[nodiscard]] DeviceCatalog capture_device_catalog(const DeviceOptions& options = {});

/// Opens one device. kNotFound (DEVICE_UNKNOWN) lists the devices that exist; kNotSupported
/// (DEVICE_CUDA_NOT_BUILT, DEVICE_CUDA_NO_DRIVER) says what is missing; kInvalidArgument
/// (DEVICE_OPTIONS_INVALID) names the option.
///
/// The device lives as long as anything made from it. Each call opens a device of its own: two of
/// the same id share no streams, events or memory budget, and refuse each other's objects as
/// foreign. Open a device once per session.
///
/// The last owner of an emulated device waits for work that is still queued, so that nothing runs
/// after it; where a host task drops that last owner, nothing waits. Closing a
/// CUDA device waits for nothing; its context stays until the process ends.
[[nodiscard]] expected<std::shared_ptr<Device>, Error> open_device(
    DeviceId id, const DeviceOptions& options = {});

}  // namespace weftline
