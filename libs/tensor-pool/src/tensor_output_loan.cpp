// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_output_loan.hpp"

#include "pool_core.hpp"

namespace weftline {

TensorOutputLoan::~TensorOutputLoan() {
  if (slot_ != nullptr) slot_->drop_reference();
}

std::span<const std::int64_t> TensorOutputLoan::shape() const noexcept {
  return slot_ != nullptr ? slot_->layout().shape() : std::span<const std::int64_t>{};
}

std::span<const std::int64_t> TensorOutputLoan::byte_strides() const noexcept {
  return slot_ != nullptr ? slot_->layout().byte_strides() : std::span<const std::int64_t>{};
}

std::uint64_t TensorOutputLoan::byte_size() const noexcept {
  return slot_ != nullptr ? slot_->layout().byte_span() : 0;
}

bool TensorOutputLoan::committed() const noexcept {
  return slot_ != nullptr && slot_->state() == SlotState::kCommitted;
}

void TensorOutputLoan::note_loaned(std::int64_t since_ns) noexcept {
  if (slot_ != nullptr) slot_->note_loaned(since_ns);
}

bool TensorOutputLoan::is_of(const TensorPool& pool) const noexcept {
  return slot_ != nullptr && &slot_->core() == pool.core_;
}

expected<TensorWriteGuard, Error> TensorOutputLoan::write(StreamRef stream) noexcept {
  if (slot_ == nullptr) return fail(ErrorCode::kInvalidArgument, "TENSOR_LOAN_EMPTY");
  WEFTLINE_TRY(slot_->check_write(stream));
  if (!stream && slot_->unfenced()) {
    WEFTLINE_ASSIGN(slot_, slot_->core().host_writable(*slot_));
  }
  WEFTLINE_TRY(slot_->begin_write(stream));
  return TensorWriteGuard(*slot_, stream);
}

TensorWriteGuard::TensorWriteGuard(PoolSlot& slot, StreamRef stream) noexcept
    : slot_(&slot), loan_number_(slot.loan_number()), stream_(stream) {}

bool TensorWriteGuard::writing() const noexcept {
  return slot_ != nullptr && slot_->is_writing(loan_number_);
}

void* TensorWriteGuard::data() const noexcept { return writing() ? slot_->data() : nullptr; }

std::uint64_t TensorWriteGuard::byte_size() const noexcept {
  return writing() ? slot_->layout().byte_span() : 0;
}

expected<void, Error> TensorWriteGuard::commit() && noexcept {
  if (slot_ == nullptr) return fail(ErrorCode::kInvalidArgument, "TENSOR_GUARD_EMPTY");
  if (!writing()) {
    slot_ = nullptr;
    return fail(ErrorCode::kInvalidArgument, "TENSOR_GUARD_STALE");
  }
  return std::exchange(slot_, nullptr)->commit();
}

}  // namespace weftline
