// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/cuda/device.hpp"

namespace weftline {

/// What a green context and its streams have together: one backend's part of a device, given back
/// by the destructor. Keeps the device open.
class SmPartition {
 public:
  SmPartition(const SmPartition&) = delete;
  SmPartition& operator=(const SmPartition&) = delete;
  virtual ~SmPartition() = default;

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return device_; }
  [[nodiscard]] std::uint32_t sm_count() const noexcept { return sm_count_; }
  [[nodiscard]] virtual expected<CUstream_st*, Error> create_stream(
      const StreamOptions& options) = 0;

 protected:
  SmPartition(std::shared_ptr<Device> device, std::uint32_t sm_count) noexcept
      : device_(std::move(device)), sm_count_(sm_count) {}

 private:
  const std::shared_ptr<Device> device_;
  const std::uint32_t sm_count_;
};

}  // namespace weftline
