// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory_segment.hpp"
#include "ring_geometry.hpp"
#include "wake_socket.hpp"
#include "weftline/core/error.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

/// The writing end of one link's ring. The subscriber's page is not believed: a head that moves
/// backwards or past the tail breaks the link. Calls are serialized by the publisher's caller, but
/// for what says otherwise; none allocates, locks or blocks.
class PublisherRing {
 public:
  /// What goes to the subscriber with the welcome.
  struct Handover {
    UniqueFd frames{};
    UniqueFd claims{};
    UniqueFd wake{};
  };

  /// Makes both segments and the pair of wake sockets. Cold.
  [[nodiscard]] static expected<PublisherRing, Error> create(const RingGeometry& geometry,
                                                             const Incarnation& incarnation,
                                                             Handover& handover);

  enum class Room : std::uint8_t { kFree = 0, kFull, kBroken };
  /// Whether write() may be called. `ask` leaves a wish for space where there is none, and looks
  /// again after it: kFull then means that wake() will be signalled.
  [[nodiscard]] Room room(bool ask) noexcept;
  void write(const WireMetadata& metadata, std::span<const std::byte> body) noexcept;
  /// Ends the stream after what was written.
  void end() noexcept;

  /// Frames that this subscriber will not see because newer ones took their place.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  /// From the service thread.
  void clear_space_wish() noexcept;
  /// Readable once there is room that room() asked for.
  [[nodiscard]] const WakeSocket& wake() const noexcept { return wake_; }

 private:
  PublisherRing(const RingGeometry& geometry, Mapping frames, Mapping claims,
                WakeSocket wake) noexcept;
  [[nodiscard]] Room look_at_head() noexcept;
  void wake_if_wanted() const noexcept;

  RingGeometry geometry_;
  Mapping frames_;
  Mapping claims_;
  WakeSocket wake_;
  FramesPage* page_;
  const ClaimsPage* claims_page_;
  std::uint64_t tail_{0};
  std::uint64_t known_head_{0};
};

}  // namespace weftline::channel
