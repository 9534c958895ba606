// SPDX-License-Identifier: Apache-2.0
#include "cuda_backend.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cuda_device.hpp"
#include "cuda_driver.hpp"
#include "cuda_error.hpp"
#include "process_exit.hpp"

namespace weftline::cuda_streams {
namespace {

/// CUDA's own default and limit for CUDA_DEVICE_MAX_CONNECTIONS.
constexpr std::uint32_t kDefaultHardwareQueues = 8;
constexpr std::uint32_t kMaxHardwareQueues = 32;

std::uint32_t hardware_queues() noexcept {
  const char* const variable = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const std::string_view text = variable != nullptr ? variable : "";
  std::uint32_t queues = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), queues);
  if (error != std::errc{} || queues == 0) {
    return kDefaultHardwareQueues;
  }
  return std::min(queues, kMaxHardwareQueues);
}

bool has(const CudaDriver& driver, int ordinal, CUdevice_attribute attribute) noexcept {
  CUdevice device = 0;
  int supported = 0;
  return driver.device_get(&device, ordinal) == CUDA_SUCCESS &&
         driver.device_get_attribute(&supported, attribute, device) == CUDA_SUCCESS &&
         supported != 0;
}

/// What Device::create_green_context() gives out. Needs no context.
GreenContextSupport green_contexts(const CudaDriver& driver, int ordinal) {
  CUdevice device = 0;
  CUdevResource all{};
  CUdevResource group{};
  unsigned int count = 1;
  const bool divisible =
      driver.has_green_contexts() && driver.device_get(&device, ordinal) == CUDA_SUCCESS &&
      driver.device_get_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS &&
      driver.sm_resource_split_by_count(&group, &count, &all, nullptr, 0, 1) == CUDA_SUCCESS;
  if (!divisible || count == 0) return {};
  GreenContextSupport support{group.sm.smCount, group.sm.smCount};
#if CUDA_VERSION >= 13000
  if (all.sm.smCoscheduledAlignment != 0) {
    support.coscheduled_alignment_sms = all.sm.smCoscheduledAlignment;
  }
#endif
  return support;
}

expected<DeviceDescription, cudaError_t> describe(const CudaDriver& driver, int ordinal) {
  cudaDeviceProp properties{};
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, ordinal);
      status != cudaSuccess) {
    return make_unexpected(status);
  }
  DeviceDescription description;
  description.id = {DeviceKind::kCuda, static_cast<std::uint32_t>(ordinal)};
  std::transform(std::begin(properties.uuid.bytes), std::end(properties.uuid.bytes),
                 description.uuid.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  description.name = properties.name;
  description.sm_count = static_cast<std::uint32_t>(properties.multiProcessorCount);
  description.hardware_queues = hardware_queues();
  description.memory_bytes = properties.totalGlobalMem;
  description.stream_memory_operations =
      has(driver, ordinal, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
  description.green_contexts = green_contexts(driver, ordinal);
  return description;
}

/// Makes the device's primary context where the process has none yet.
cudaError_t retain_context(const CudaDriver& driver, int ordinal, CUcontext& context) noexcept {
  if (const cudaError_t status = cudaInitDevice(ordinal, 0, 0); status != cudaSuccess) {
    return status;
  }
  CUdevice device = 0;
  const bool retained = driver.device_get(&device, ordinal) == CUDA_SUCCESS &&
                        driver.primary_context_retain(&context, device) == CUDA_SUCCESS;
  return retained ? cudaSuccess : cudaErrorDeviceUninitialized;
}

/// One priority for all where the driver does not say.
StreamPriorities stream_priorities(const CudaDriver& driver, CUcontext context) noexcept {
  const CurrentContext current(driver, context);
  StreamPriorities priorities;
  if (cudaDeviceGetStreamPriorityRange(&priorities.least, &priorities.greatest) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  return priorities;
}

/// The number of devices, with the driver's calls looked up.
expected<int, cudaError_t> start_driver(CudaDriver& driver) noexcept {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  if (status == cudaSuccess) {
    status = driver.load();
  }
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(status);
  }
  return count;
}

Error driver_missing(cudaError_t status, DeviceId id) {
  return Error{ErrorCode::kNotSupported, "DEVICE_CUDA_NO_DRIVER",
               id.to_string() +
                   " needs a working NVIDIA driver of CUDA 12 or newer, and this "
                   "machine's answer is " +
                   cuda_error_text(status) +
                   ". Install or update the driver (nvidia-smi must run), or choose an emulated "
                   "device.",
               0};
}

}  // namespace

std::vector<DeviceDescription> describe_cuda_devices() {
  std::vector<DeviceDescription> devices;
  CudaDriver driver;
  const int count = start_driver(driver).value_or(0);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (auto description = describe(driver, ordinal)) {
      devices.push_back(*std::move(description));
    }
  }
  static_cast<void>(cudaGetLastError());
  return devices;
}

expected<std::shared_ptr<Device>, Error> open_cuda_device(DeviceId id) {
  CudaDriver driver;
  const expected<int, cudaError_t> count = start_driver(driver);
  if (!count) {
    return make_unexpected(driver_missing(count.error(), id));
  }
  if (id.ordinal >= static_cast<std::uint32_t>(*count)) {
    return fail(ErrorCode::kNotFound, "DEVICE_UNKNOWN");
  }
  const int ordinal = static_cast<int>(id.ordinal);
  auto description = describe(driver, ordinal);
  if (!description) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(
        describe_cuda_failure(description.error(), "cudaGetDeviceProperties", id));
  }
  CUcontext context = nullptr;
  if (const cudaError_t status = retain_context(driver, ordinal, context); status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return make_unexpected(describe_cuda_failure(status, "making its context", id));
  }
  watch_process_exit();
  const bool exports_memory =
      has(driver, ordinal, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
      has(driver, ordinal, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
  return std::make_shared<CudaDevice>(*std::move(description), stream_priorities(driver, context),
                                      driver, context, exports_memory);
}

}  // namespace weftline::cuda_streams
