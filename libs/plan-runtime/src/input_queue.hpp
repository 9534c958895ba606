// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "counter.hpp"
#include "edge_queue.hpp"
#include "sample_cache.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline::runtime {

/// What waits at one input, with what the input says of its samples. The consuming lane's.
class InputQueue {
 public:
  InputQueue(const InputPortRecord& record, const PayloadOps& ops) noexcept
      : record_(record), ops_(ops) {}
  void connect(EdgeQueue& edge) noexcept { edge_ = &edge; }

  [[nodiscard]] const std::string& name() const noexcept { return record_.name; }
  [[nodiscard]] const PayloadOps& ops() const noexcept { return ops_; }

  /// The oldest, if there is one. Stays queued.
  [[nodiscard]] EdgeQueue::Front front() noexcept { return edge_->front(); }
  [[nodiscard]] const SampleMetadata* head() noexcept { return edge_->front().metadata; }
  /// No more samples come, and none waits.
  [[nodiscard]] bool exhausted() noexcept { return edge_->ended(); }
  /// No more samples come.
  [[nodiscard]] bool closed() const noexcept { return edge_->closed(); }
  /// Of the head; null unless the run keeps latencies.
  [[nodiscard]] const FlowStamp* front_stamp() const noexcept { return edge_->front_stamp(); }
  /// Its tensor leaves the queue for the operator.
  void note_head_taken() noexcept {
    if (ops_.is_tensor) static_cast<const Tensor*>(edge_->front().value)->note_taken(edge_->arm());
  }
  /// From now on heads are only discarded.
  void abandon() noexcept { edge_->abandon(); }
  void pop() noexcept { edge_->pop(); }
  /// Drops the head, which no activation was given; counted.
  void pass_over() noexcept {
    edge_->pop();
    passed_over_.add();
  }
  /// Drops the oldest of a cache of this input; counted unless an activation was given it.
  void drop_front(SampleCache& cache) noexcept {
    if (!cache.given(cache.number_of(0))) passed_over_.add();
    cache.pop_front();
  }
  void drop_all(SampleCache& cache) noexcept {
    while (!cache.empty()) drop_front(cache);
  }
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_.read(); }

  /// Whether a value keeps the port's tensor contract; kProtocolError (RUN_TENSOR_CONTRACT_BROKEN).
  [[nodiscard]] expected<void, Error> check(const void* value) const noexcept;
  /// Moves the head into a cache that has room, once it has passed check().
  [[nodiscard]] expected<void, Error> move_head_to(SampleCache& cache) noexcept;
  /// Of the head, which is there; kProtocolError (RUN_SAMPLE_WITHOUT_CAPTURE_TIME) without one.
  [[nodiscard]] expected<std::int64_t, Error> capture_of_head(std::string_view needed_by) noexcept;

 private:
  const InputPortRecord& record_;
  const PayloadOps& ops_;
  EdgeQueue* edge_{nullptr};
  Counter passed_over_{};
};

}  // namespace weftline::runtime
