// SPDX-License-Identifier: Apache-2.0
#include "edge_queue.hpp"

#include <algorithm>
#include <bit>

#include "weftline/tensor/tensor.hpp"

namespace weftline::runtime {
EdgeQueue::EdgeQueue(const Options& options)
    : ops_(*options.ops),
      stealing_(options.policy == QueuePolicy::kDropOldest),
      stamped_(options.stamped),
      depth_(options.depth),
      arm_(options.arm),
      cell_count_(std::max(options.depth, options.capacity) + (stealing_ ? 1 : 0)),
      cells_(ops_, cell_count_, stamped_),
      producer_(options.producer),
      consumer_(options.consumer) {
  if (stealing_) {
    const std::uint64_t ring = std::bit_ceil(std::uint64_t{cell_count_});
    ring_mask_ = ring - 1;
    queued_ = std::vector<std::atomic<std::uint32_t>>(ring);
    returned_ = std::vector<std::atomic<std::uint32_t>>(ring);
    free_.reserve(cell_count_);
    for (std::uint32_t number = 0; number < cell_count_; ++number) free_.push_back(number);
  }
}

EdgeQueue::~EdgeQueue() { clear(); }

void EdgeQueue::clear() noexcept {
  while (front()) pop();
}

bool EdgeQueue::find_room(std::uint64_t tail, std::uint32_t count) noexcept {
  const auto fits = [&] {
    head_seen_ = head_.load(std::memory_order_seq_cst);
    return tail - head_seen_ + count <= depth();
  };
  if (fits()) return true;
  // The consumer stores the head and then looks at the flag; this side stores the flag and then
  // looks at the head.
  producer_waits_.store(true, std::memory_order_seq_cst);
  return fits();
}

void EdgeQueue::note_depth(std::uint64_t tail) noexcept {
  head_seen_ = head_.load(std::memory_order_acquire);
  // The consumer may have taken it by now; it was there.
  const auto queued = std::max(std::uint32_t{1}, static_cast<std::uint32_t>(tail - head_seen_));
  if (queued > high_water_.load(std::memory_order_relaxed)) {
    high_water_.store(queued, std::memory_order_relaxed);
  }
}

std::uint32_t EdgeQueue::take_free_cell() noexcept {
  if (free_.empty()) {
    const std::uint64_t tail = returned_tail_.load(std::memory_order_acquire);
    for (; returned_head_ != tail; ++returned_head_) {
      free_.push_back(returned_[returned_head_ & ring_mask_].load(std::memory_order_relaxed));
    }
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

void EdgeQueue::steal(std::uint64_t head) noexcept {
  const std::uint32_t number = queued_[head & ring_mask_].load(std::memory_order_relaxed);
  // From the very head that was seen to be too far back: read again, it could be the tail by now. A
  // failed exchange means that the consumer took the sample: room all the same.
  if (!head_.compare_exchange_strong(head, head + 1, std::memory_order_acq_rel)) return;
  if (ops_.is_tensor) static_cast<const Tensor*>(cells_.value(number))->note_gone(arm_);
  ops_.destroy(cells_.value(number));
  free_.push_back(number);
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t EdgeQueue::claim_cell(std::uint64_t tail) noexcept {
  if (tail - head_seen_ >= depth()) {
    head_seen_ = head_.load(std::memory_order_acquire);
    if (tail - head_seen_ >= depth()) steal(head_seen_++);
  }
  const std::uint32_t number = take_free_cell();
  queued_[tail & ring_mask_].store(number, std::memory_order_relaxed);
  return number;
}

void EdgeQueue::close() noexcept {
  closed_.store(true, std::memory_order_seq_cst);
  if (consumer_ != nullptr) consumer_->wake();
}

void EdgeQueue::abandon() noexcept {
  abandoned_.store(true, std::memory_order_seq_cst);
  if (producer_ != nullptr) producer_->wake();
}

bool EdgeQueue::claim() noexcept {
  if (!stealing_) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_seq_cst);
      if (head == tail_seen_) return false;
    }
    claimed_ = head_cell_;
    // Both of the producer's cache lines at once: what a trigger looks at, and what is received.
    __builtin_prefetch(cells_.cell(claimed_));
    __builtin_prefetch(cells_.value(claimed_));
    return true;
  }
  for (;;) {
    std::uint64_t head = head_.load(std::memory_order_acquire);
    if (head == tail_.load(std::memory_order_seq_cst)) return false;
    const std::uint32_t number = queued_[head & ring_mask_].load(std::memory_order_relaxed);
    // The number is right exactly when the head has not moved meanwhile.
    if (head_.compare_exchange_strong(head, head + 1, std::memory_order_acq_rel)) {
      claimed_ = number;
      return true;
    }
  }
}

void EdgeQueue::give_back_cell() noexcept {
  const std::uint64_t tail = returned_tail_.load(std::memory_order_relaxed);
  returned_[tail & ring_mask_].store(claimed_, std::memory_order_relaxed);
  returned_tail_.store(tail + 1, std::memory_order_release);
  claimed_ = kNoCell;
}

void EdgeQueue::wake_producer() noexcept {
  if (producer_waits_.exchange(false, std::memory_order_seq_cst)) producer_->wake();
}

bool EdgeQueue::ended() noexcept {
  // Closed first: nothing is pushed after it, so an empty queue seen later is empty for good.
  return closed_.load(std::memory_order_seq_cst) && !front();
}

std::uint32_t EdgeQueue::depth_now() const noexcept {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  return tail > head ? static_cast<std::uint32_t>(std::min<std::uint64_t>(tail - head, depth()))
                     : 0;
}

}  // namespace weftline::runtime
