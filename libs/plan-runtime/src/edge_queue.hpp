// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "cell_store.hpp"
#include "flow_stamp.hpp"
#include "parker.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/graph/payload_ops.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// The queue of one edge: `depth` samples between one producing and one consuming lane (which may
/// be the same). All memory is taken at construction.
///
/// Blocking: a single-producer single-consumer ring. Drop-oldest: both ends move the head, so cells
/// are reached through a ring of cell numbers. The consumer claims the oldest with a
/// compare-and-swap on the head before it touches the cell; a producer that finds the queue full
/// steals the oldest the same way. Heads count up and never repeat, so there is no ABA. Claimed
/// cells come back through a second ring. There is one cell more than the depth: the producer takes
/// one only after it has made room, so at most depth - 1 are queued, one is with the consumer, and
/// one is free.
///
/// Who writes: tail_, free_, returned_head_ the producer; returned_tail_ the consumer; head_ the
/// consumer, and under drop-oldest both, by CAS. A cell's bytes are published by the seq_cst store
/// of tail_ and taken by the seq_cst load of it. seq_cst, where release and acquire would carry the
/// bytes, is for the store-load protocol with `Parker` and with `producer_waits_`.
///
/// Each end keeps what it last saw of the other's count. Counts only grow, so an old one errs to
/// the safe side, less room or fewer samples than there are, and is read again only when it says
/// none: the ends touch each other's cache line that seldom.
class EdgeQueue {
 public:
  struct Options {
    const PayloadOps* ops{nullptr};
    QueuePolicy policy{QueuePolicy::kBlocking};
    std::uint32_t depth{1};
    std::uint32_t arm{0};  ///< ArmNumbers, for notes on tensors.
    bool stamped{false};   ///< Each sample has a FlowStamp.
    /// The deepest that set_depth() may make it: storage is for that. 0: `depth`.
    std::uint32_t capacity{0};
    /// The other lanes' parkers; null when both ends are on one lane.
    Parker* producer{nullptr};
    Parker* consumer{nullptr};
  };
  explicit EdgeQueue(const Options& options);
  EdgeQueue(const EdgeQueue&) = delete;
  EdgeQueue& operator=(const EdgeQueue&) = delete;
  ~EdgeQueue();

  /// While neither lane runs and nothing is queued; at most the capacity.
  void set_depth(std::uint32_t depth) noexcept { depth_.store(depth, std::memory_order_relaxed); }

  // The producer's lane.

  /// True when `count` samples can be pushed. False arms a wake of the producer's lane for when
  /// room comes.
  [[nodiscard]] bool has_room(std::uint32_t count) noexcept {
    if (stealing_) return true;
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail - head_seen_ + count <= depth() || find_room(tail, count);
  }
  /// Copies, or moves out of, `value`; `metadata()` is called once and makes the sample's in its
  /// place. The caller has seen has_room().
  template <class Metadata>
  void push(void* value, bool move, const Metadata& metadata,
            const FlowStamp* stamp = nullptr) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint32_t number = stealing_ ? claim_cell(tail) : tail_cell_;
    ::new (static_cast<void*>(cells_.metadata(number))) SampleMetadata(metadata());
    if (stamped_) {
      ::new (static_cast<void*>(cells_.stamp(number)))
          FlowStamp(stamp != nullptr ? *stamp : FlowStamp{});
    }
    if (move) {
      ops_.move_construct(cells_.value(number), value);
    } else {
      ops_.copy_construct(cells_.value(number), value);
    }
    if (++tail_cell_ == cell_count_) tail_cell_ = 0;
    if (consumer_ == nullptr) {
      tail_.store(tail + 1, std::memory_order_relaxed);
    } else {
      tail_.store(tail + 1, std::memory_order_seq_cst);
      consumer_->wake();
      // The consumer has read the next cell's lines: to be this core's again when they are written.
      __builtin_prefetch(cells_.cell(tail_cell_), 1);
      __builtin_prefetch(cells_.value(tail_cell_), 1);
    }
    if (tail + 1 - head_seen_ > high_water_.load(std::memory_order_relaxed)) note_depth(tail + 1);
  }
  /// End of stream, after everything pushed.
  void close() noexcept;

  // The consumer's lane.

  struct Front {
    void* value{nullptr};
    const SampleMetadata* metadata{nullptr};
    [[nodiscard]] explicit operator bool() const noexcept { return value != nullptr; }
  };
  /// The oldest sample, claimed and left in place; the same one until pop().
  [[nodiscard]] Front front() noexcept {
    if (claimed_ == kNoCell && !claim()) return {};
    return {cells_.value(claimed_), cells_.metadata(claimed_)};
  }
  /// Of what front() gave; null where samples have none.
  [[nodiscard]] const FlowStamp* front_stamp() const noexcept {
    return stamped_ ? cells_.stamp(claimed_) : nullptr;
  }
  /// Destroys what front() gave (moved from or not) and frees its cell.
  void pop() noexcept {
    ops_.destroy(cells_.value(claimed_));
    if (stealing_) return give_back_cell();
    claimed_ = kNoCell;
    if (++head_cell_ == cell_count_) head_cell_ = 0;
    const std::uint64_t head = head_.load(std::memory_order_relaxed) + 1;
    if (producer_ == nullptr) {
      head_.store(head, std::memory_order_relaxed);
      return;
    }
    head_.store(head, std::memory_order_seq_cst);
    if (producer_waits_.load(std::memory_order_seq_cst)) wake_producer();
  }
  /// True when the stream has ended and everything was popped.
  [[nodiscard]] bool ended() noexcept;
  /// The consumer does nothing more with what comes but to drop it.
  void abandon() noexcept;
  /// Destroys everything queued; when no lane runs.
  void clear() noexcept;

  // Any thread.

  [[nodiscard]] std::uint32_t arm() const noexcept { return arm_; }
  [[nodiscard]] std::uint64_t pushed() const noexcept {
    return tail_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t depth_now() const noexcept;
  /// The producer has closed it; what it pushed before is seen by a look that comes after this one.
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool abandoned() const noexcept {
    return abandoned_.load(std::memory_order_seq_cst);
  }
  /// The most that the producer found queued right after a push.
  [[nodiscard]] std::uint32_t depth_high_water() const noexcept {
    return high_water_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::uint32_t depth() const noexcept {
    return depth_.load(std::memory_order_relaxed);
  }
  // The producer's.
  [[nodiscard]] bool find_room(std::uint64_t tail, std::uint32_t count) noexcept;
  void note_depth(std::uint64_t tail) noexcept;
  /// Drop-oldest: a cell for sample `tail`, after dropping the oldest where they are too many.
  [[nodiscard]] std::uint32_t claim_cell(std::uint64_t tail) noexcept;
  [[nodiscard]] std::uint32_t take_free_cell() noexcept;
  /// Drops the sample at `head` unless the consumer has it.
  void steal(std::uint64_t head) noexcept;

  // The consumer's.
  [[nodiscard]] bool claim() noexcept;
  void give_back_cell() noexcept;
  void wake_producer() noexcept;

  static constexpr std::uint32_t kNoCell = ~std::uint32_t{0};

  const PayloadOps& ops_;
  const bool stealing_;  ///< Drop-oldest.
  const bool stamped_;
  std::atomic<std::uint32_t> depth_;  ///< Set before the lanes start; counters are read by anyone.
  const std::uint32_t arm_;
  const std::uint32_t cell_count_;
  std::uint64_t ring_mask_{0};  ///< Of the rings of cell numbers.
  const CellStore cells_;
  std::vector<std::atomic<std::uint32_t>> queued_{};  ///< drop-oldest: cell numbers, oldest at head
  std::vector<std::atomic<std::uint32_t>>
      returned_{};  ///< drop-oldest: cells back from the consumer
  Parker* const producer_;
  Parker* const consumer_;

  // Written by the producer.
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::atomic<bool> closed_{false};
  std::atomic<std::uint32_t> high_water_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::uint64_t head_seen_{0};
  std::uint32_t tail_cell_{0};
  std::vector<std::uint32_t> free_{};
  std::uint64_t returned_head_{0};

  // Written by the consumer (head_ by both under drop-oldest).
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t tail_seen_{0};
  std::uint32_t head_cell_{0};
  std::uint32_t claimed_{kNoCell};
  std::atomic<bool> abandoned_{false};
  std::atomic<std::uint64_t> returned_tail_{0};

  // Set by the producer, cleared by whoever frees room.
  alignas(64) std::atomic<bool> producer_waits_{false};
};

}  // namespace weftline::runtime
