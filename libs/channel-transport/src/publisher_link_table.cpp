// SPDX-License-Identifier: Apache-2.0
#include "publisher_link_table.hpp"

#include <algorithm>

namespace weftline::channel {

// Two store-load protocols, sequentially consistent on both sides.
//
//   emit:    emitting = true;      load slots          service: slot = null;     load emitting
//   emit:    emitting = false;     load retire_waits   service: retire_waits;    load emitting
//
// The first: if the service thread sees no emit under way, a later one finds the slot empty. The
// second: either the service thread sees that the emit is over, or the emit sees that it is
// awaited.

PublisherLinkTable::PublisherLinkTable(std::uint32_t maximum_links, const ServiceThread& service)
    : slots_(maximum_links), snapshot_(maximum_links, nullptr), service_(service) {}

PublisherLinkTable::Emit::Emit(PublisherLinkTable& table) noexcept : table_(table) {
  table_.emitting_.store(true);
  for (const auto& slot : table_.slots_) {
    PublisherLink* link = slot.load();
    if (link != nullptr && !link->broken.load(std::memory_order_relaxed)) {
      table_.snapshot_[count_++] = link;
    }
  }
}

PublisherLinkTable::Emit::~Emit() {
  table_.emitting_.store(false);
  if (table_.retire_waits_.load()) table_.service_.poke();
}

std::span<PublisherLink* const> PublisherLinkTable::Emit::links() const noexcept {
  return std::span(table_.snapshot_).first(count_);
}

void PublisherLinkTable::Emit::give_up(PublisherLink& link) noexcept {
  link.broken.store(true);
  const auto begin = table_.snapshot_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  count_ = static_cast<std::size_t>(std::remove(begin, end, &link) - begin);
  table_.service_.poke();
}

std::uint64_t PublisherLinkTable::dropped() noexcept {
  // In this order no link is counted twice; one that is retired in between is missed once.
  std::uint64_t total = dropped_before_.load();
  const Emit emit(*this);
  for (const PublisherLink* link : emit.links()) total += link->ring.dropped();
  known_dropped_ = std::max(known_dropped_, total);
  return known_dropped_;
}

void PublisherLinkTable::add(PublisherLink& link) noexcept {
  for (auto& slot : slots_) {
    if (slot.load() != nullptr) continue;
    slot.store(&link);
    count_.fetch_add(1);
    return;
  }
}

void PublisherLinkTable::retire(std::unique_ptr<PublisherLink> link) {
  for (auto& slot : slots_) {
    if (slot.load() != link.get()) continue;
    slot.store(nullptr);
    count_.fetch_sub(1);
  }
  retired_.push_back(std::move(link));
  free_retired();
}

void PublisherLinkTable::free_retired() noexcept {
  if (retired_.empty()) return;
  retire_waits_.store(true);
  if (emitting_.load()) return;
  retire_waits_.store(false);
  for (const auto& link : retired_) dropped_before_.fetch_add(link->ring.dropped());
  retired_.clear();
}

}  // namespace weftline::channel
