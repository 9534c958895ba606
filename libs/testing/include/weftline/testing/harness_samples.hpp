// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlpack/dlpack.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "weftline/core/sample.hpp"

namespace weftline::testing {

/// When a sample is fed, and what travels with it. Times are on the harness' clock, which begins at
/// 0 as the run starts.
struct FeedOptions {
  std::chrono::nanoseconds at{0};
  std::optional<std::chrono::nanoseconds> captured{};  ///< Absent: no capture time.
  std::optional<std::uint64_t> frame_id{};
  SampleFlags flags{SampleFlags::kNone};
};

/// A value for an input of scalars or PODs. A plain value is fed at 0.
template <class T>
struct Fed {
  Fed(T sample) : value(std::move(sample)) {}  // NOLINT(google-explicit-constructor): a plain value
  Fed(T sample, FeedOptions how) : value(std::move(sample)), options(how) {}
  T value;
  FeedOptions options{};
};

/// A tensor's bytes on the host, packed: what is fed to a tensor input, and what a tensor output is
/// collected as.
struct HostTensor {
  DLDataType dtype{};
  std::vector<std::int64_t> shape{};
  std::vector<std::byte> bytes{};

  template <class T>
  [[nodiscard]] static HostTensor of(DLDataType dtype, std::vector<std::int64_t> shape,
                                     const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
  }
  /// Its bytes as values.
  template <class T>
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> copied(bytes.size() / sizeof(T));
    std::memcpy(copied.data(), bytes.data(), copied.size() * sizeof(T));
    return copied;
  }
};

}  // namespace weftline::testing
