// SPDX-License-Identifier: Apache-2.0
#include "ring_geometry.hpp"

#include <string>

namespace weftline::channel {

namespace {

constexpr std::uint64_t kMaximumLinkBytes = std::uint64_t{1} << 30;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::uint64_t RingGeometry::frames_bytes() const noexcept {
  return round_up(kSlotsOffset + std::uint64_t{capacity} * slot_stride, kSegmentPage);
}

FramesHeader RingGeometry::frames_header(const Incarnation& incarnation) const noexcept {
  FramesHeader header{};
  header.magic = kFramesMagic;
  header.version = kWireVersion;
  header.depth = depth;
  header.capacity = capacity;
  header.slot_stride = slot_stride;
  header.body_bytes = body_bytes;
  header.drop_oldest = drop_oldest ? 1 : 0;
  header.incarnation = incarnation;
  return header;
}

expected<RingGeometry, Error> ring_geometry(const EndpointRecord& endpoint) {
  RingGeometry geometry;
  geometry.depth = endpoint.queue_depth;
  geometry.drop_oldest = endpoint.queue_policy == ChannelQueuePolicy::kDropOldest;
  // The spare slot of a drop-oldest ring is the one being written: the newest `depth` stay whole.
  geometry.capacity = std::bit_ceil(geometry.depth + (geometry.drop_oldest ? 1U : 0U));
  geometry.body_bytes = static_cast<std::uint32_t>(endpoint.payload.size);
  geometry.slot_stride =
      static_cast<std::uint32_t>(round_up(sizeof(SlotHeader) + geometry.body_bytes, kCacheLine));
  if (geometry.frames_bytes() > kMaximumLinkBytes) {
    return fail(ErrorCode::kResourceExhausted, "CHANNEL_LINK_TOO_LARGE",
                "endpoint '" + endpoint.name + "': a link would take " +
                    std::to_string(geometry.frames_bytes()) + " bytes, at most " +
                    std::to_string(kMaximumLinkBytes) + " are allowed; lower queue_depth (" +
                    std::to_string(endpoint.queue_depth) + ") or the payload's size");
  }
  return geometry;
}

}  // namespace weftline::channel
