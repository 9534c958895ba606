// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/open_device.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "cuda_backend.hpp"
#include "emulated_device.hpp"

namespace weftline {
namespace {

expected<void, Error> check_options(const EmulatedDeviceOptions& options) {
  if (options.device_count > kMaxEmulatedDevices) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID",
                "EmulatedDeviceOptions::device_count is " + std::to_string(options.device_count) +
                    "; it may be at most " + std::to_string(kMaxEmulatedDevices) + ".");
  }
  if (options.hardware_queues == 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID",
                "EmulatedDeviceOptions::hardware_queues is 0; it must be at least 1.");
  }
  if (options.stream_queue_capacity == 0 ||
      options.stream_queue_capacity > kMaxStreamQueueCapacity) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID",
                "EmulatedDeviceOptions::stream_queue_capacity is " +
                    std::to_string(options.stream_queue_capacity) + "; it must be 1 to " +
                    std::to_string(kMaxStreamQueueCapacity) + ".");
  }
  return {};
}

auto unknown_device(DeviceId id, const DeviceOptions& options) {
  std::string known;
  for (const DeviceDescription& device : capture_device_catalog(options).devices) {
    known += (known.empty() ? "" : ", ") + device.id.to_string();
  }
  return fail(ErrorCode::kNotFound, "DEVICE_UNKNOWN",
              "there is no device " + id.to_string() + "; this machine has: " +
                  (known.empty() ? "none" : known) + ". Choose one of these" +
                  (id.kind == DeviceKind::kEmulated
                       ? ", or raise EmulatedDeviceOptions::device_count."
                       : ", or check what nvidia-smi and CUDA_VISIBLE_DEVICES show."));
}

expected<std::shared_ptr<Device>, Error> open_unwatched(DeviceId id, const DeviceOptions& options) {
  WEFTLINE_TRY(check_options(options.emulated));
  if (id.kind == DeviceKind::kEmulated) {
    if (id.ordinal >= options.emulated.device_count) {
      return unknown_device(id, options);
    }
    return std::make_shared<cuda_streams::EmulatedDevice>(id.ordinal, options.emulated);
  }
  auto device = cuda_streams::open_cuda_device(id);
  if (!device && device.error().code == ErrorCode::kNotFound) {
    return unknown_device(id, options);
  }
  return device;
}

}  // namespace

DeviceCatalog capture_device_catalog(const DeviceOptions& options) {
  DeviceCatalog catalog;
  catalog.host_cpu_count = std::thread::hardware_concurrency();
  const std::uint32_t emulated = std::min(options.emulated.device_count, kMaxEmulatedDevices);
  for (std::uint32_t ordinal = 0; ordinal < emulated; ++ordinal) {
    catalog.devices.push_back(cuda_streams::describe_emulated_device(ordinal, options.emulated));
  }
  for (DeviceDescription& device : cuda_streams::describe_cuda_devices()) {
    catalog.devices.push_back(std::move(device));
  }
  return catalog;
}

expected<std::shared_ptr<Device>, Error> open_device(DeviceId id, const DeviceOptions& options) {
  WEFTLINE_ASSIGN(std::shared_ptr<Device> device, open_unwatched(id, options));
  device->order_checker_ = options.order_checker;
  return device;
}

}  // namespace weftline
