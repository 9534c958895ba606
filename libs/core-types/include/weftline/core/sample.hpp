// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "weftline/core/payload.hpp"
#include "weftline/core/time.hpp"

namespace weftline {

enum class SampleFlags : std::uint32_t { kNone = 0, kInvalid = 1, kDegraded = 2 };

[[nodiscard]] constexpr SampleFlags operator|(SampleFlags a, SampleFlags b) noexcept {
  return static_cast<SampleFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr bool has_flag(SampleFlags set, SampleFlags flag) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(flag)) != 0;
}

/// Carried along with a sample; gives no right to anything.
struct TraceContext {
  std::uint64_t trace_id{0};
  std::uint64_t span_id{0};
  std::uint64_t parent_span_id{0};

  [[nodiscard]] static constexpr TraceContext root(std::uint64_t id) noexcept {
    return {id, id, 0};
  }
  [[nodiscard]] constexpr bool valid() const noexcept { return trace_id != 0; }
  friend constexpr bool operator==(TraceContext, TraceContext) noexcept = default;
};

/// What an author may say about a sample. An omitted capture time stays absent.
struct EmitOptions {
  std::optional<TimePoint> capture_time{};
  std::optional<std::uint64_t> frame_id{};
  TraceContext trace{};
  SampleFlags flags{SampleFlags::kNone};
};

/// What travels with every sample. The runtime stamps sequence (per output, from 0), publish time,
/// payload kind and byte size. Trivially copyable.
struct SampleMetadata {
  std::optional<TimePoint> capture{};
  std::optional<std::uint64_t> frame_id{};
  TimePoint publish_time{};
  std::uint64_t sequence{0};
  std::uint64_t byte_size{0};
  TraceContext trace{};
  PayloadIdentityKind payload_kind{PayloadIdentityKind::kScalar};
  /// Last, so that no padding is: copies are of whole words, each from one store.
  SampleFlags flags{SampleFlags::kNone};

  [[nodiscard]] bool valid() const noexcept { return !has_flag(flags, SampleFlags::kInvalid); }
  [[nodiscard]] bool degraded() const noexcept { return has_flag(flags, SampleFlags::kDegraded); }
  [[nodiscard]] std::optional<TimePoint> capture_time() const noexcept { return capture; }
};

template <class T>
struct Sample {
  T data{};
  /// Aligned so that a sample is copied in the same pieces as its metadata was written: a load that
  /// spans two stores waits for both.
  alignas(16) SampleMetadata metadata{};
};

}  // namespace weftline
