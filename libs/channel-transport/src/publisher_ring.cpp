// SPDX-License-Identifier: Apache-2.0
#include "publisher_ring.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "shared_word.hpp"

namespace weftline::channel {

expected<PublisherRing, Error> PublisherRing::create(const RingGeometry& geometry,
                                                     const Incarnation& incarnation,
                                                     Handover& handover) {
  WEFTLINE_ASSIGN(Segment frames, create_segment("weftline-frames", geometry.frames_bytes()));
  WEFTLINE_ASSIGN(Segment claims, create_segment("weftline-claims", kSegmentPage));
  auto* frames_page = ::new (frames.mapping.data()) FramesPage{};
  frames_page->header = geometry.frames_header(incarnation);
  auto* claims_page = ::new (claims.mapping.data()) ClaimsPage{};
  claims_page->header = {kClaimsMagic, kWireVersion, 0, incarnation};
  WEFTLINE_TRY(seal_segment(frames, SegmentWriter::kThisProcess));
  WEFTLINE_TRY(seal_segment(claims, SegmentWriter::kReceiver));
  WEFTLINE_ASSIGN(WakeSocket::Pair wake, WakeSocket::create());
  handover.frames = std::move(frames.fd);
  handover.claims = std::move(claims.fd);
  handover.wake = std::move(wake.there);
  return PublisherRing(geometry, std::move(frames.mapping), std::move(claims.mapping),
                       std::move(wake.here));
}

PublisherRing::PublisherRing(const RingGeometry& geometry, Mapping frames, Mapping claims,
                             WakeSocket wake) noexcept
    : geometry_(geometry),
      frames_(std::move(frames)),
      claims_(std::move(claims)),
      wake_(std::move(wake)),
      page_(reinterpret_cast<FramesPage*>(frames_.data())),
      claims_page_(reinterpret_cast<const ClaimsPage*>(claims_.data())) {}

PublisherRing::Room PublisherRing::look_at_head() noexcept {
  const std::uint64_t head = load_word(claims_page_->progress.head, std::memory_order_seq_cst);
  if (head < known_head_ || head > tail_) return Room::kBroken;
  known_head_ = head;
  return tail_ - head < geometry_.depth ? Room::kFree : Room::kFull;
}

PublisherRing::Room PublisherRing::room(bool ask) noexcept {
  if (geometry_.drop_oldest || tail_ - known_head_ < geometry_.depth) return Room::kFree;
  const Room room = look_at_head();
  if (room != Room::kFull || !ask) return room;
  // Store, then load; the subscriber stores its head, then loads this wish. One of us sees the
  // other.
  store_word(page_->wish.space_wanted, std::uint32_t{1}, std::memory_order_seq_cst);
  return look_at_head();
}

void PublisherRing::write(const WireMetadata& metadata, std::span<const std::byte> body) noexcept {
  std::byte* slot = frames_.data() + geometry_.slot_offset(tail_);
  auto& header = *reinterpret_cast<SlotHeader*>(slot);
  std::byte* target = slot + sizeof(SlotHeader);
  if (geometry_.drop_oldest) {
    // The subscriber may be copying this slot's old frame: it finds the stamp changed afterwards.
    store_word(header.stamp, std::uint64_t{0}, std::memory_order_release);
    copy_in_racing(reinterpret_cast<std::byte*>(&header.metadata),
                   reinterpret_cast<const std::byte*>(&metadata), sizeof(metadata));
    copy_in_racing(target, body.data(), body.size());
  } else {
    header.metadata = metadata;
    std::memcpy(target, body.data(), body.size());
  }
  store_word(header.stamp, tail_ + 1, std::memory_order_release);
  ++tail_;
  store_word(page_->progress.tail, tail_, std::memory_order_seq_cst);
  wake_if_wanted();
}

void PublisherRing::end() noexcept {
  store_word(page_->progress.final_tail, tail_, std::memory_order_relaxed);
  store_word(page_->progress.ended, std::uint32_t{1}, std::memory_order_seq_cst);
  wake_if_wanted();
}

void PublisherRing::wake_if_wanted() const noexcept {
  if (load_word(claims_page_->wish.data_wanted, std::memory_order_seq_cst) != 0) wake_.signal();
}

std::uint64_t PublisherRing::dropped() const noexcept {
  if (!geometry_.drop_oldest) return 0;
  // Only a statistic depends on the subscriber's words here, so a wrong one is bounded, not
  // refused.
  // `lost` is stored after its head and loaded before it: so it is never ahead, and no frame is
  // counted as lost and as unread.
  std::uint64_t lost = load_word(claims_page_->progress.lost, std::memory_order_acquire);
  const std::uint64_t head =
      std::min(load_word(claims_page_->progress.head, std::memory_order_relaxed), tail_);
  lost = std::min(lost, head);
  const std::uint64_t unread = tail_ - head;
  return lost + (unread > geometry_.depth ? unread - geometry_.depth : 0);
}

void PublisherRing::clear_space_wish() noexcept {
  store_word(page_->wish.space_wanted, std::uint32_t{0}, std::memory_order_seq_cst);
}

}  // namespace weftline::channel
