// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

inline constexpr DLDataType kByte{kDLUInt, 8, 1};
inline constexpr std::array<std::int64_t, 1> kSixteen{16};
/// A tensor of 16 bytes.
inline constexpr TensorLoanRequest kSmall{.shape = kSixteen, .dtype = kByte};

/// The value, or a failed test that says what came instead.
template <class T>
T must(expected<T, Error> result) {
  if (!result) FAIL(result.error().to_string());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The code and token of an error that has to be there.
struct Refusal {
  ErrorCode code;
  std::string_view token;
  friend bool operator==(const Refusal&, const Refusal&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << error_code_name(refusal.code) << " [" << refusal.token << "]";
  }
};

template <class T>
Refusal refusal(const expected<T, Error>& result) {
  if (result) FAIL("succeeded where an error was due");
  return {result.error().code, result.error().token};
}

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
