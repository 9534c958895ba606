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
  /// kAbsent while unbound.
  [[nodiscard]] InputState state() const noexcept {
    return binding_ ? binding_->state() : InputState::kAbsent;
  }
  [[nodiscard]] bool is_missing() const noexcept {
    return state() != InputState::kSelected && state() != InputState::kReused;
  }

 protected:
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

/// A typed input, a member of an operator, declared in `setup()`. Used inside `compute()` only.
template <PublishedPayload T>
class Input final : public InputPort {
 public:
  using Payload = T;
  /// The selected sample. A received tensor is already ordered on `ctx.cuda_stream()`. kNotReady
  /// when this activation selected nothing here. Never blocks or allocates.
  [[nodiscard]] expected<Sample<T>, Error> receive() noexcept {
    Sample<T> sample{};
    WEFTLINE_TRY(receive_into(&sample.data, sample.metadata));
    return sample;
  }
};

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
