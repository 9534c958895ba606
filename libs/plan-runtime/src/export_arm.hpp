// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include "counter.hpp"
#include "parker.hpp"
#include "weftline/channel/inline_publisher.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One export of the plan: the publisher of an endpoint, used on the lane of the operator that
/// feeds it.
class ExportArm {
 public:
  ExportArm(EndpointId endpoint, InlinePublisher publisher, bool peer_required,
            Parker& lane) noexcept
      : endpoint_(endpoint), publisher_(std::move(publisher)), peer_required_(peer_required) {
    publisher_.set_writable_callback(
        {[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); }, &lane});
  }
  ExportArm(const ExportArm&) = delete;
  ExportArm& operator=(const ExportArm&) = delete;

  /// True when publish() would accept a sample now.
  [[nodiscard]] bool writable() const noexcept {
    return publisher_.has_room() && !lacks_required_peer();
  }
  [[nodiscard]] bool lacks_required_peer() const noexcept {
    return peer_required_ && publisher_.subscriber_count() == 0;
  }

  [[nodiscard]] expected<void, Error> publish(std::span<const std::byte> body,
                                              const SampleMetadata& metadata) noexcept {
    auto recipients = publisher_.publish(body, metadata);
    if (!recipients) return forward_error(std::move(recipients));
    auto& counter = *recipients > 0 ? published_ : without_recipient_;
    counter.add();
    return {};
  }

  void close() noexcept { static_cast<void>(publisher_.close()); }
  [[nodiscard]] InlinePublisher& publisher() noexcept { return publisher_; }
  [[nodiscard]] ExportCounters counters() const noexcept {
    return {endpoint_, publisher_.subscriber_count(), published_.read(), without_recipient_.read()};
  }

 private:
  const EndpointId endpoint_;
  InlinePublisher publisher_;
  const bool peer_required_;

  Counter published_{};
  Counter without_recipient_{};
};

}  // namespace weftline::runtime
