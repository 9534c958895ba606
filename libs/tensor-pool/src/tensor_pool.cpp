// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_pool.hpp"

#include <utility>

#include "pool_core.hpp"

namespace weftline {

expected<TensorPool, Error> TensorPool::build(const TensorPoolOptions& options) {
  WEFTLINE_ASSIGN(Core * core, Core::build(options));
  return TensorPool(core);
}

TensorPool::TensorPool(TensorPool&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}

TensorPool& TensorPool::operator=(TensorPool&& other) noexcept {
  TensorPool moved(std::move(other));
  std::swap(core_, moved.core_);
  return *this;
}

TensorPool::~TensorPool() {
  if (core_ != nullptr) core_->close();
}

expected<TensorOutputLoan, Error> TensorPool::allocate(const TensorLoanRequest& request,
                                                       StreamRef producer_stream) noexcept {
  if (core_ == nullptr) return fail(ErrorCode::kClosed, "TENSOR_POOL_MOVED_FROM");
  return core_->lend(request, producer_stream);
}

bool TensorPool::has_free_slot(std::uint32_t count) noexcept {
  return core_ != nullptr && core_->has_free_slot(count);
}

bool TensorPool::waits_for_device() const noexcept {
  return core_ != nullptr && core_->waits_for_device();
}

void TensorPool::set_return_callback(SlotReturnCallback callback) noexcept {
  if (core_ != nullptr) core_->set_return_callback(callback);
}

const TensorPoolOptions& TensorPool::options() const noexcept {
  static const TensorPoolOptions kNone{};
  return core_ != nullptr ? core_->options() : kNone;
}

std::uint64_t TensorPool::returns() const noexcept {
  return core_ != nullptr ? core_->returns() : 0;
}

std::vector<HeldSlot> TensorPool::held_slots() const {
  return core_ != nullptr ? core_->held_slots() : std::vector<HeldSlot>();
}

TensorPoolUsage TensorPool::usage() const noexcept {
  return core_ != nullptr ? core_->usage() : TensorPoolUsage{};
}

}  // namespace weftline
