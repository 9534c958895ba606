// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/green_context.hpp"

#include <algorithm>

#include "device_checks.hpp"
#include "sm_partition.hpp"

namespace weftline {

using namespace cuda_streams;

Device* GreenContext::device() const noexcept {
  return partition_ ? partition_->device().get() : nullptr;
}

std::uint32_t GreenContext::sm_count() const noexcept {
  return partition_ ? partition_->sm_count() : 0;
}

expected<Stream, Error> GreenContext::create_stream(const StreamOptions& options) {
  if (!partition_) {
    return refuse(kNullObject);
  }
  Device& device = *partition_->device();
  if (const DeviceRefusal* const why = device.check_call()) {
    return refuse(*why);
  }
  const auto [least, greatest] = device.stream_priorities();
  const int priority = std::clamp(options.priority, greatest, least);
  WEFTLINE_ASSIGN(CUstream_st* const handle, partition_->create_stream({.priority = priority}));
  // The stream's device with the partition as its owner: the SMs are given back after the stream.
  return Stream(std::shared_ptr<Device>(partition_, &device), handle, priority);
}

}  // namespace weftline
