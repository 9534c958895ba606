// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "weftline/channel/channel_runtime.hpp"
#include "weftline/core/payload.hpp"

namespace weftline {

/// Receives values of one scalar or POD type. Outcomes and threads as in `InlineSubscriber`.
template <class T>
class ChannelSubscriber {
  static_assert(PortableScalar<T> || ChannelPod<T>, "an inline channel carries a scalar or a POD");

 public:
  explicit ChannelSubscriber(InlineSubscriber inner) noexcept : inner_(std::move(inner)) {}

  [[nodiscard]] expected<Sample<T>, Error> receive_sample() noexcept {
    Sample<T> sample{};
    WEFTLINE_TRY(inner_.receive(bytes_of(sample.data), sample.metadata));
    return sample;
  }
  [[nodiscard]] expected<Sample<T>, Error> wait_and_receive_sample(
      std::chrono::steady_clock::time_point deadline, std::stop_token stop = {}) noexcept {
    Sample<T> sample{};
    WEFTLINE_TRY(
        inner_.wait_and_receive(bytes_of(sample.data), sample.metadata, deadline, std::move(stop)));
    return sample;
  }
  [[nodiscard]] expected<void, Error> wait_for_sample(
      std::chrono::steady_clock::time_point deadline, std::stop_token stop = {}) noexcept {
    return inner_.wait(deadline, std::move(stop));
  }

  [[nodiscard]] expected<void, Error> wait_for_publisher(
      std::chrono::steady_clock::time_point deadline, std::stop_token stop = {}) noexcept {
    return inner_.wait_for_publisher(deadline, std::move(stop));
  }
  [[nodiscard]] expected<void, Error> wait_for_publisher() noexcept {
    return inner_.wait_for_publisher();
  }

  [[nodiscard]] bool has_publishers() const noexcept { return inner_.has_publisher(); }
  expected<void, Error> close() noexcept { return inner_.close(); }

 private:
  static std::span<std::byte> bytes_of(T& value) noexcept {
    return std::as_writable_bytes(std::span<T, 1>(&value, 1));
  }
  InlineSubscriber inner_;
};

template <class T>
expected<ChannelSubscriber<T>, Error> ChannelRuntime::create_subscriber(
    const ChannelEndpointCatalog& catalog, std::string_view endpoint,
    const ChannelAttachOptions& options) {
  WEFTLINE_ASSIGN(InlineSubscriber inner,
                  create_inline_subscriber(catalog, endpoint, EndpointSide::kPeer,
                                           payload_identity<T>(), options));
  return ChannelSubscriber<T>(std::move(inner));
}

}  // namespace weftline
