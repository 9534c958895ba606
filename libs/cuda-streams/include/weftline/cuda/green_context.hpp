// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/cuda/stream.hpp"

namespace weftline {

class Device;
class SmPartition;

struct GreenContextOptions {
  /// How many SMs at least; devices give them out in multiples of their own.
  std::uint32_t sm_count{0};
};

/// Sets some of a device's SMs (streaming multiprocessors) apart: kernels of its streams run on
/// these, whatever other streams do. Made by `Device::create_green_context()`. No two green
/// contexts of one opened device have an SM in common. Ordinary streams still use all SMs, so who
/// wants them kept off makes a green context of the rest for them.
///
/// Only SMs are divided: memory, caches, copy engines and hardware queues are shared as before, and
/// an emulated device counts SMs but runs nothing faster or slower for it.
///
/// Move-only; keeps its device open. Its SMs are free again when it and the last of its streams are
/// gone. On CUDA that may block until other work of the device is done.
class GreenContext {
 public:
  GreenContext() noexcept = default;
  GreenContext(GreenContext&&) noexcept = default;
  GreenContext& operator=(GreenContext&&) noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return partition_ != nullptr; }
  [[nodiscard]] Device* device() const noexcept;
  /// What it has: at least what was asked for. 0 where empty.
  [[nodiscard]] std::uint32_t sm_count() const noexcept;

  /// Cold. As `Device::create_stream()`, of which it has the errors, but on these SMs; an empty
  /// green context has no streams: kInvalidArgument (DEVICE_NULL_OBJECT). The stream is one of the
  /// same device, with its events, memory and fence words, and keeps the green context's SMs.
  [[nodiscard]] expected<Stream, Error> create_stream(const StreamOptions& options);

 private:
  friend class Device;
  explicit GreenContext(std::shared_ptr<SmPartition> partition) noexcept
      : partition_(std::move(partition)) {}

  std::shared_ptr<SmPartition> partition_{};
};

}  // namespace weftline
