// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/graph/port_binding.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// Where a port stands: set when `setup()` declares it. Ports are members of their operator; they
/// never move.
class PortBase {
 public:
  PortBase() = default;
  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;

  /// Index among the operator's inputs or outputs; meaningful after declaration.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] bool declared() const noexcept { return declared_; }
  /// For OperatorSpec.
  void declare(std::uint32_t index) noexcept {
    index_ = index;
    declared_ = true;
  }

 private:
  std::uint32_t index_{0};
  bool declared_{false};
};

inline constexpr std::string_view kTokenPortUnbound = "PORT_UNBOUND";

/// An input without its payload type. Owns no queue: the runtime binds it before start.
class InputPort : public PortBase {
 public:
  void bind(InputBinding* binding) noexcept { binding_ = binding; }
  /// What this activation selected; kNotSelected outside compute(), kAbsent while unbound.
  [[nodiscard]] SelectionStatus selection() const noexcept {
    return binding_ ? binding_->selection() : SelectionStatus{InputState::kAbsent};
  }
  [[nodiscard]] InputState state() const noexcept { return selection().state; }
  [[nodiscard]] std::uint32_t selected_count() const noexcept { return selection().count; }
  [[nodiscard]] bool is_missing() const noexcept {
    const InputState found = state();
    return found != InputState::kSelected && found != InputState::kReused;
  }
  /// Reused, or too old to be selected.
  [[nodiscard]] bool is_stale() const noexcept {
    const SelectionStatus found = selection();
    return found.state == InputState::kReused || found.reason == SelectionReason::kTooStale;
  }

 protected:
  [[nodiscard]] InputBinding* binding() const noexcept { return binding_; }
  expected<void, Error> receive_into(void* value, SampleMetadata& metadata) noexcept {
    if (!binding_) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding_->receive(value, metadata);
  }

 private:
  InputBinding* binding_{nullptr};
};

/// An output without its payload type.
class OutputPort : public PortBase {
 public:
  void bind(OutputBinding* binding) noexcept { binding_ = binding; }
  /// Ordered end of stream: recipients see it after everything emitted before. An operator whose
  /// outputs are all closed is finished and not activated again. A second close is kClosed.
  expected<void, Error> close() noexcept {
    if (!binding_) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding_->close();
  }

 protected:
  [[nodiscard]] OutputBinding* binding() const noexcept { return binding_; }

 private:
  OutputBinding* binding_{nullptr};
};

/// One sample of a batch, where it lies.
template <class T>
struct SampleRef {
  const T& data;
  const SampleMetadata& metadata;
};

/// The samples that one activation selected, in order; readable until compute() returns. A sample
/// that is kept longer is copied (of a tensor: the handle).
template <class T>
class SampleBatch {
 public:
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = SampleRef<T>;
    Iterator() noexcept = default;
    Iterator(const SampleBatch& batch, std::size_t at) noexcept : batch_(&batch), at_(at) {}
    [[nodiscard]] SampleRef<T> operator*() const noexcept { return (*batch_)[at_]; }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    Iterator operator++(int) noexcept { return {*batch_, at_++}; }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    const SampleBatch* batch_{nullptr};
    std::size_t at_{0};
  };

  explicit SampleBatch(const SampleCells& cells) noexcept : cells_(cells) {}
  [[nodiscard]] std::size_t size() const noexcept { return cells_.numbers.size(); }
  [[nodiscard]] bool empty() const noexcept { return cells_.numbers.empty(); }
  /// `index` is below size().
  [[nodiscard]] SampleRef<T> operator[](std::size_t index) const noexcept {
    const std::byte* const cell = cells_.cells + cells_.numbers[index] * cells_.stride_bytes;
    return {*reinterpret_cast<const T*>(cell + cells_.value_offset_bytes),
            *reinterpret_cast<const SampleMetadata*>(cell)};
  }
  [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {*this, size()}; }

 private:
  SampleCells cells_;
};

/// A typed input, a member of an operator, declared in `setup()`. Used inside `compute()` only, on
/// its thread.
///
/// Refusals of both calls, the first that applies: PORT_UNBOUND (kInvalidArgument: not running),
/// PORT_OUTSIDE_COMPUTE (kInvalidArgument), PORT_ENDED (kClosed: nothing is selected and no sample
/// comes any more), PORT_NOT_SELECTED (kNotReady: nothing is selected), PORT_CARDINALITY
/// (kInvalidArgument: one sample is received by the one call, what DrainAll and BracketedWindow
/// select by the other), PORT_RECEIVED (kNotReady: it was received before). Neither blocks or
/// allocates.
template <PublishedPayload T>
class Input final : public InputPort {
 public:
  using Payload = T;
  /// The selected sample. A received tensor is already ordered on `ctx.cuda_stream()`.
  [[nodiscard]] expected<Sample<T>, Error> receive() noexcept {
    expected<Sample<T>, Error> sample;  // filled where it is returned: no copy of the metadata
    if (auto received = receive_into(&sample->data, sample->metadata); !received) [[unlikely]] {
      sample = forward_error(std::move(received));
    }
    return sample;
  }
  /// All selected samples of an input with DrainAll or BracketedWindow:
  /// `for (const auto& sample : *batch) sum += sample.data;`
  [[nodiscard]] expected<SampleBatch<T>, Error> receive_batch() noexcept {
    if (!binding()) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    WEFTLINE_ASSIGN(const SampleCells cells, binding()->receive_batch());
    return SampleBatch<T>(cells);
  }
};

// All calls of an output, close() included, refuse outside compute() and on other threads
// (PORT_OUTSIDE_COMPUTE, kInvalidArgument).

/// A typed output of scalars or PODs.
template <PublishedPayload T>
class Output final : public OutputPort {
 public:
  using Payload = T;
  /// Publishes to every connected port, all or none. kBackpressured (a queue is full) and kNotReady
  /// (a required peer is missing) may be retried with an equal value; everything else is final.
  /// Never blocks or allocates.
  [[nodiscard]] expected<void, Error> emit(T value, const EmitOptions& options = {}) noexcept {
    if (!binding()) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding()->emit(&value, options);
  }
};

/// An output of tensors: either loans from the pool that the plan gave to this port, or handles
/// received elsewhere.
template <>
class Output<Tensor> final : public OutputPort {
 public:
  using Payload = Tensor;
  /// Borrows a slot of this port's pool. kResourceExhausted at once when all are out; kNotSupported
  /// (TENSOR_OUTPUT_WITHOUT_POOL) on a pass-through output.
  [[nodiscard]] expected<TensorOutputLoan, Error> allocate_tensor(
      const TensorLoanRequest& request) noexcept {
    if (!binding()) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding()->allocate_tensor(request);
  }
  /// Publishes a committed loan. After kBackpressured or kNotReady the loan is still the caller's,
  /// to retry or drop; every other outcome consumes it.
  [[nodiscard]] expected<void, Error> emit(TensorOutputLoan&& loan,
                                           const EmitOptions& options = {}) noexcept {
    if (!binding()) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding()->emit_loan(loan, options);
  }
  /// Forwards a tensor received elsewhere: the same slot, one more handle.
  [[nodiscard]] expected<void, Error> emit(Tensor tensor,
                                           const EmitOptions& options = {}) noexcept {
    if (!binding()) return fail(ErrorCode::kInvalidArgument, kTokenPortUnbound);
    return binding()->emit(&tensor, options);
  }
};

}  // namespace weftline
