// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "body_contract.hpp"
#include "memory_segment.hpp"
#include "ring_geometry.hpp"
#include "wake_socket.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

/// The reading end of one link's ring. Nothing in the publisher's segment is believed. Calls are
/// serialized by the subscriber's caller, but for what says otherwise; none allocates, locks or
/// blocks.
class SubscriberRing {
 public:
  /// Checks and maps what a welcome brought: frames, claims, wake socket, in this order. Cold.
  [[nodiscard]] static expected<SubscriberRing, Error> open(
      const RingGeometry& geometry, BodyContract contract, const Incarnation& incarnation,
      std::array<UniqueFd, WelcomeMessage::kDescriptors> descriptors);

  enum class State : std::uint8_t {
    kFrame = 0,
    kEmpty,
    kEnded,
    kBroken,  ///< The publisher wrote what no publisher writes.
  };
  [[nodiscard]] State look() noexcept;
  /// Takes the next frame; kFrame means that it was taken.
  [[nodiscard]] State take(std::span<std::byte> body, SampleMetadata& metadata) noexcept;

  /// While wanted, each frame and the end make wake() readable. Look again after asking. Any
  /// thread.
  void want_data(bool wanted) noexcept;
  [[nodiscard]] const WakeSocket& wake() const noexcept { return wake_; }

 private:
  SubscriberRing(const RingGeometry& geometry, BodyContract contract, Mapping frames,
                 Mapping claims, WakeSocket wake) noexcept;
  enum class Copy : std::uint8_t { kWhole = 0, kOverwritten, kBroken };
  [[nodiscard]] Copy copy_head(std::span<std::byte> body, SampleMetadata& metadata) noexcept;
  void skip_overwritten() noexcept;
  void consume() noexcept;

  RingGeometry geometry_;
  BodyContract contract_;
  Mapping frames_;
  Mapping claims_;
  WakeSocket wake_;
  const FramesPage* page_;
  ClaimsPage* claims_page_;
  std::uint64_t head_{0};
  std::uint64_t lost_{0};
  std::uint64_t known_tail_{0};
};

}  // namespace weftline::channel
