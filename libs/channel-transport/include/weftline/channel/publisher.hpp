// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "weftline/channel/channel_runtime.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/core/time.hpp"

namespace weftline {

/// Publishes values of one scalar or POD type. Stamps sequence (from 0) and publish time
/// (CLOCK_MONOTONIC). Outcomes and threads as in `InlinePublisher`; retry only kNotReady and
/// kBackpressured.
template <class T>
class ChannelPublisher {
  static_assert(PortableScalar<T> || ChannelPod<T>, "an inline channel carries a scalar or a POD");

 public:
  explicit ChannelPublisher(InlinePublisher inner) noexcept : inner_(std::move(inner)) {}

  [[nodiscard]] expected<std::uint32_t, Error> emit(const T& value,
                                                    const EmitOptions& options = {}) noexcept {
    SampleMetadata metadata{};
    metadata.capture = options.capture_time;
    metadata.frame_id = options.frame_id;
    metadata.trace = options.trace;
    metadata.flags = options.flags;
    return stamp_and_publish(value, metadata);
  }
  /// The capture time is a coordinate of the endpoint's capture clock, in nanoseconds.
  [[nodiscard]] expected<std::uint32_t, Error> emit_captured(const T& value,
                                                             std::int64_t capture_ns,
                                                             EmitOptions options = {}) noexcept {
    options.capture_time = TimePoint{capture_ns, ClockId{0}};
    return emit(value, options);
  }
  /// Publishes with the sample's own metadata; sequence and publish time are stamped anew.
  [[nodiscard]] expected<std::uint32_t, Error> emit_sample(const Sample<T>& sample) noexcept {
    return stamp_and_publish(sample.data, sample.metadata);
  }

  [[nodiscard]] bool has_subscribers() const noexcept { return inner_.subscriber_count() > 0; }
  [[nodiscard]] std::uint32_t subscriber_count() const noexcept {
    return inner_.subscriber_count();
  }
  [[nodiscard]] expected<void, Error> wait_for_subscriber(
      std::chrono::steady_clock::time_point deadline) {
    return inner_.wait_for_subscriber(deadline);
  }
  [[nodiscard]] expected<void, Error> wait_for_subscriber() { return inner_.wait_for_subscriber(); }
  expected<void, Error> close() noexcept { return inner_.close(); }

 private:
  expected<std::uint32_t, Error> stamp_and_publish(const T& value,
                                                   SampleMetadata metadata) noexcept {
    metadata.sequence = sequence_;
    metadata.publish_time = {clock_.now_ns(), ClockId{0}};
    metadata.byte_size = sizeof(T);
    metadata.payload_kind =
        PortableScalar<T> ? PayloadIdentityKind::kScalar : PayloadIdentityKind::kPod;
    auto recipients = inner_.publish(std::as_bytes(std::span<const T, 1>(&value, 1)), metadata);
    if (recipients) ++sequence_;
    return recipients;
  }

  InlinePublisher inner_;
  RealtimeClock clock_{};
  std::uint64_t sequence_{0};
};

template <class T>
expected<ChannelPublisher<T>, Error> ChannelRuntime::create_publisher(
    const ChannelEndpointCatalog& catalog, std::string_view endpoint,
    const ChannelAttachOptions& options) {
  WEFTLINE_ASSIGN(InlinePublisher inner,
                  create_inline_publisher(catalog, endpoint, EndpointSide::kPeer,
                                          payload_identity<T>(), options));
  return ChannelPublisher<T>(std::move(inner));
}

}  // namespace weftline
