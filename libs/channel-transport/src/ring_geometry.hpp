// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/error.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

/// The shape of a link's frames segment. Both sides compute it from their own endpoint record, so
/// nothing of it is believed from the wire.
struct RingGeometry {
  std::uint32_t depth{0};
  std::uint32_t capacity{0};  ///< A power of two.
  std::uint32_t slot_stride{0};
  std::uint32_t body_bytes{0};
  bool drop_oldest{false};

  [[nodiscard]] std::uint64_t frames_bytes() const noexcept;
  [[nodiscard]] std::uint64_t slot_offset(std::uint64_t frame) const noexcept {
    return kSlotsOffset + (frame & (capacity - 1)) * std::uint64_t{slot_stride};
  }
  /// What the segment's first line has to say.
  [[nodiscard]] FramesHeader frames_header(const Incarnation& incarnation) const noexcept;
};

/// kResourceExhausted: larger than a link may be (1 GiB).
[[nodiscard]] expected<RingGeometry, Error> ring_geometry(const EndpointRecord& endpoint);

}  // namespace weftline::channel
