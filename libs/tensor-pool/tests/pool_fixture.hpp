// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"
#include "weftline/testing/outcomes.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {

using testing::must;
using testing::Refusal;
using testing::refusal;
using testing::ScriptedDevice;

inline constexpr DLDataType kByte{kDLUInt, 8, 1};
inline constexpr std::array<std::int64_t, 1> kSixteen{16};
/// A tensor of 16 bytes.
inline constexpr TensorLoanRequest kSmall{.shape = kSixteen, .dtype = kByte};

inline TensorPoolOptions host_options(std::uint32_t slots) {
  return {.name = "camera.frame", .slot_bytes = 16, .slot_count = slots};
}

inline TensorPoolOptions device_options(std::shared_ptr<Device> device, std::uint32_t slots,
                                        MemoryKind kind = MemoryKind::kCudaDevice) {
  return {.name = "camera.frame",
          .memory_kind = kind,
          .device = std::move(device),
          .slot_bytes = 16,
          .slot_count = slots};
}

inline TensorPool must_build(const TensorPoolOptions& options) {
  return must(TensorPool::build(options));
}

/// A published tensor whose write phase was on `stream`, or on the host without one. Its bytes are
/// not touched.
inline Tensor publish_one(TensorPool& pool, StreamRef producer, StreamRef phase) {
  TensorOutputLoan loan = must(pool.allocate(kSmall, producer));
  must(std::move(must(loan.write(phase))).commit());
  return must(publish(std::move(loan)));
}
inline Tensor publish_one(TensorPool& pool, StreamRef producer = {}) {
  return publish_one(pool, producer, producer);
}

}  // namespace weftline
