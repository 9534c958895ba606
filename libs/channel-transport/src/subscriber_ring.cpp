// SPDX-License-Identifier: Apache-2.0
#include "subscriber_ring.hpp"

#include <cstring>
#include <string>

#include "shared_word.hpp"
#include "wire_metadata.hpp"

namespace weftline::channel {

expected<SubscriberRing, Error> SubscriberRing::open(
    const RingGeometry& geometry, BodyContract contract, const Incarnation& incarnation,
    std::array<UniqueFd, WelcomeMessage::kDescriptors> descriptors) {
  auto& [frames_fd, claims_fd, wake_fd] = descriptors;
  WEFTLINE_ASSIGN(Mapping frames,
                  map_received(frames_fd, geometry.frames_bytes(), SegmentWriter::kThisProcess));
  WEFTLINE_ASSIGN(Mapping claims, map_received(claims_fd, kSegmentPage, SegmentWriter::kReceiver));
  WEFTLINE_ASSIGN(WakeSocket wake, WakeSocket::adopt(std::move(wake_fd)));

  FramesHeader header{};
  std::memcpy(&header, frames.data(), sizeof(header));
  const FramesHeader agreed = geometry.frames_header(incarnation);
  ClaimsHeader claims_header{};
  std::memcpy(&claims_header, claims.data(), sizeof(claims_header));
  const ClaimsHeader agreed_claims{kClaimsMagic, kWireVersion, 0, incarnation};
  const auto same = [](const auto& here, const auto& there) {
    return here.magic == there.magic && here.version == there.version &&
           here.incarnation == there.incarnation;
  };
  if (!same(header, agreed) || header.depth != agreed.depth || header.capacity != agreed.capacity ||
      header.slot_stride != agreed.slot_stride || header.body_bytes != agreed.body_bytes ||
      header.drop_oldest != agreed.drop_oldest || !same(claims_header, agreed_claims)) {
    return fail(ErrorCode::kProtocolError, "CHANNEL_WRONG_SEGMENT",
                "the publisher's memory is laid out for depth " + std::to_string(header.depth) +
                    " and bodies of " + std::to_string(header.body_bytes) +
                    " bytes, the endpoint says depth " + std::to_string(agreed.depth) + " and " +
                    std::to_string(agreed.body_bytes) + " bytes");
  }
  return SubscriberRing(geometry, std::move(contract), std::move(frames), std::move(claims),
                        std::move(wake));
}

SubscriberRing::SubscriberRing(const RingGeometry& geometry, BodyContract contract, Mapping frames,
                               Mapping claims, WakeSocket wake) noexcept
    : geometry_(geometry),
      contract_(std::move(contract)),
      frames_(std::move(frames)),
      claims_(std::move(claims)),
      wake_(std::move(wake)),
      page_(reinterpret_cast<const FramesPage*>(frames_.data())),
      claims_page_(reinterpret_cast<ClaimsPage*>(claims_.data())) {}

SubscriberRing::State SubscriberRing::look() noexcept {
  // The end is loaded before the tail: once it is seen, the tail is the last one.
  const std::uint32_t ended = load_word(page_->progress.ended, std::memory_order_seq_cst);
  const std::uint64_t tail = load_word(page_->progress.tail, std::memory_order_seq_cst);
  if (tail < known_tail_) return State::kBroken;
  if (!geometry_.drop_oldest && tail - head_ > geometry_.depth) return State::kBroken;
  known_tail_ = tail;
  if (tail != head_) return State::kFrame;
  if (ended == 0) return State::kEmpty;
  const std::uint64_t last = load_word(page_->progress.final_tail, std::memory_order_relaxed);
  return last == tail ? State::kEnded : State::kBroken;
}

SubscriberRing::State SubscriberRing::take(std::span<std::byte> body,
                                           SampleMetadata& metadata) noexcept {
  // A publisher that laps us on every attempt has newer frames for us; the caller comes again.
  constexpr int kAttempts = 64;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const State state = look();
    if (state != State::kFrame) return state;
    if (geometry_.drop_oldest) skip_overwritten();
    switch (copy_head(body, metadata)) {
      case Copy::kWhole:
        consume();
        return State::kFrame;
      case Copy::kBroken:
        return State::kBroken;
      case Copy::kOverwritten:
        break;
    }
  }
  return State::kEmpty;
}

void SubscriberRing::skip_overwritten() noexcept {
  const std::uint64_t unread = known_tail_ - head_;
  if (unread <= geometry_.depth) return;
  lost_ += unread - geometry_.depth;
  head_ += unread - geometry_.depth;
}

SubscriberRing::Copy SubscriberRing::copy_head(std::span<std::byte> body,
                                               SampleMetadata& metadata) noexcept {
  const std::byte* slot = frames_.data() + geometry_.slot_offset(head_);
  const auto& header = *reinterpret_cast<const SlotHeader*>(slot);
  const std::byte* source = slot + sizeof(SlotHeader);
  const std::uint64_t stamp = head_ + 1;

  WireMetadata wire{};
  bool whole = load_word(header.stamp, std::memory_order_acquire) == stamp;
  if (whole && geometry_.drop_oldest) {
    copy_out_racing(reinterpret_cast<std::byte*>(&wire),
                    reinterpret_cast<const std::byte*>(&header.metadata), sizeof(wire));
    copy_out_racing(body.data(), source, body.size());
    whole = load_word(header.stamp, std::memory_order_acquire) == stamp;
  } else if (whole) {
    std::memcpy(&wire, &header.metadata, sizeof(wire));
    std::memcpy(body.data(), source, body.size());
  }
  if (!whole) {
    // The publisher clears a stamp only after it has stored a tail that makes this frame too old.
    // So if the tail still covers the frame, no publisher did this.
    const std::uint64_t tail = load_word(page_->progress.tail, std::memory_order_seq_cst);
    const bool covered = tail - head_ <= geometry_.depth;
    return geometry_.drop_oldest && !covered ? Copy::kOverwritten : Copy::kBroken;
  }
  const auto decoded = from_wire(wire, contract_);
  if (!decoded || !contract_.admits(body)) return Copy::kBroken;
  metadata = *decoded;
  return Copy::kWhole;
}

void SubscriberRing::consume() noexcept {
  ++head_;
  store_word(claims_page_->progress.head, head_, std::memory_order_seq_cst);
  store_word(claims_page_->progress.lost, lost_, std::memory_order_release);
  if (geometry_.drop_oldest) return;
  if (load_word(page_->wish.space_wanted, std::memory_order_seq_cst) != 0) wake_.signal();
}

void SubscriberRing::want_data(bool wanted) noexcept {
  store_word(claims_page_->wish.data_wanted, std::uint32_t{wanted ? 1U : 0U},
             std::memory_order_seq_cst);
}

}  // namespace weftline::channel
