// SPDX-License-Identifier: Apache-2.0
#include "wire_metadata.hpp"

namespace weftline::channel {

namespace {

constexpr std::uint32_t kKnownPresence = kHasCapture | kHasFrameId;
constexpr std::uint32_t kKnownFlags =
    static_cast<std::uint32_t>(SampleFlags::kInvalid | SampleFlags::kDegraded);
constexpr ClockId kEndpointClock{0};

}  // namespace

WireMetadata to_wire(const SampleMetadata& metadata) noexcept {
  WireMetadata wire{};
  if (metadata.capture) {
    wire.present |= kHasCapture;
    wire.capture_ns = metadata.capture->timestamp_ns;
  }
  if (metadata.frame_id) {
    wire.present |= kHasFrameId;
    wire.frame_id = *metadata.frame_id;
  }
  wire.flags = static_cast<std::uint32_t>(metadata.flags);
  wire.publish_ns = metadata.publish_time.timestamp_ns;
  wire.sequence = metadata.sequence;
  wire.trace_id = metadata.trace.trace_id;
  wire.span_id = metadata.trace.span_id;
  wire.parent_span_id = metadata.trace.parent_span_id;
  return wire;
}

std::optional<SampleMetadata> from_wire(const WireMetadata& wire,
                                        const BodyContract& contract) noexcept {
  if ((wire.present & ~kKnownPresence) != 0 || (wire.flags & ~kKnownFlags) != 0) {
    return std::nullopt;
  }
  SampleMetadata metadata{};
  if ((wire.present & kHasCapture) != 0) {
    metadata.capture = TimePoint{wire.capture_ns, kEndpointClock};
  }
  if ((wire.present & kHasFrameId) != 0) metadata.frame_id = wire.frame_id;
  metadata.flags = static_cast<SampleFlags>(wire.flags);
  metadata.payload_kind = contract.kind();
  metadata.publish_time = TimePoint{wire.publish_ns, kEndpointClock};
  metadata.sequence = wire.sequence;
  metadata.byte_size = contract.bytes();
  metadata.trace = TraceContext{wire.trace_id, wire.span_id, wire.parent_span_id};
  return metadata;
}

}  // namespace weftline::channel
