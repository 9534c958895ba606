// SPDX-License-Identifier: Apache-2.0
#include "pool_core.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "pool_options.hpp"
#include "weftline/cuda/host_task.hpp"

namespace weftline {
namespace {

/// Errors of the device and of allocators know nothing of the pool, and those of a lost device have
/// no words.
Error with_place(Error error, const TensorPoolOptions& options) {
  if (error.message.empty()) {
    error.message = (options.device ? options.device->id().to_string() : "its memory") +
                    " refused without a word; its first error says why";
  }
  error.message = place_of(options) + error.message;
  return error;
}

template <class T>
expected<T, Error> with_place(expected<T, Error> result, const TensorPoolOptions& options) {
  if (!result) result.error() = with_place(std::move(result.error()), options);
  return result;
}

/// Only slots of this pool are on its lists.
PoolSlot* next_of(PoolSlot& slot) noexcept { return static_cast<PoolSlot*>(slot.next); }

}  // namespace

expected<TensorPool::Core*, Error> TensorPool::Core::build(const TensorPoolOptions& options) {
  WEFTLINE_TRY(check_pool_options(options));
  std::unique_ptr<Core> core(new Core(options));
  WEFTLINE_TRY(core->make_slots());
  return core.release();
}

expected<void, Error> TensorPool::Core::make_slots() {
  const std::uint64_t stride = slot_stride(options_);
  const std::string wanted = std::to_string(options_.slot_count) + " slots of " +
                             std::to_string(options_.slot_bytes) + " bytes in " +
                             std::string(memory_kind_name(options_.memory_kind)) + " memory";
  const auto no_memory = [&](const std::string& why) {
    return fail(
        ErrorCode::kResourceExhausted, "TENSOR_POOL_MEMORY",
        place_of(options_) + "can't have " + wanted + why + "; lower slot_count or slot_bytes");
  };
  if (stride == 0) return no_memory(": the total is past 2^64 bytes");

  const std::uint64_t total = stride * options_.slot_count;
  auto memory = options_.device ? options_.device->allocate(options_.memory_kind, total)
                                : allocate_host_memory(total);
  if (!memory && memory.error().code == ErrorCode::kResourceExhausted) {
    return no_memory(" (" + std::to_string(total) + " bytes in all): " + memory.error().message);
  }
  WEFTLINE_ASSIGN(memory_, with_place(std::move(memory), options_));

  slots_.reset(new (std::nothrow) PoolSlot[options_.slot_count]);
  if (!slots_) return no_memory(": no host memory for their metadata");
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    std::byte* const data = memory_.data() + index * stride;
    WEFTLINE_TRY(with_place(slots_[index].build(*this, data), options_));
    if (options_.arm_count > 0) {
      notes_.push_back(std::make_unique<HolderNotes>(options_.first_arm, options_.arm_count));
      slots_[index].keep_notes(*notes_.back());
    }
    if (options_.device && options_.device->order_checker() != nullptr) {
      options_.device->order_checker()->name_memory(
          data, options_.slot_bytes,
          "slot " + std::to_string(index) + " of tensor pool '" + options_.name + "'");
    }
  }
  // Pushed from the last one, so that the first loan gets the first slot.
  for (std::uint32_t index = options_.slot_count; index-- > 0;) put(slots_[index]);
  returns_.store(0, std::memory_order_relaxed);  // none of these has been away
  return {};
}

TensorPool::Core::~Core() {
  if (!slots_) return;
  if (std::any_of(slots_.get(), slots_.get() + options_.slot_count,
                  [](const PoolSlot& slot) { return slot.unfenced(); })) {
    static_cast<void>(options_.device->synchronize(options_.fused_stream));
  }
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    slots_[index].synchronize_for_destruction();
  }
}

// A producer asks for the same again and again as a rule; then nothing is left to check.
bool TensorPool::Core::repeats_last(const TensorLoanRequest& request) const noexcept {
  if (!last_is_packed_ || !request.byte_strides.empty() ||
      request.shape.size() != last_layout_.rank || !same_dtype(request.dtype, last_layout_.dtype)) {
    return false;
  }
  for (std::size_t axis = 0; axis < request.shape.size(); ++axis) {
    if (request.shape[axis] != last_layout_.extents[axis]) return false;
  }
  return true;
}

expected<void, Error> TensorPool::Core::check_fit(const TensorLoanRequest& request) noexcept {
  if (request.shape.size() > options_.max_rank) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_RANK_TOO_HIGH");
  }
  auto layout = request.byte_strides.empty()
                    ? contiguous_layout(request.shape, request.dtype)
                    : strided_layout(request.shape, request.byte_strides, request.dtype);
  if (!layout) return forward_error(std::move(layout));
  if (layout->byte_span() > options_.slot_bytes) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_LARGER_THAN_SLOT");
  }
  last_layout_ = *layout;
  ++last_layout_number_;
  last_is_packed_ = request.byte_strides.empty();
  return {};
}

expected<void, Error> TensorPool::Core::check_stream(StreamRef producer_stream) const noexcept {
  if (producer_stream.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
  }
  if (producer_stream.device() != options_.device.get()) {
    return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
  }
  return {};
}

expected<TensorOutputLoan, Error> TensorPool::Core::lend(const TensorLoanRequest& request,
                                                         StreamRef producer_stream) noexcept {
  if (!repeats_last(request)) WEFTLINE_TRY(check_fit(request));
  if (options_.device && producer_stream) WEFTLINE_TRY(check_stream(producer_stream));
  if (!find_free(1)) return make_unexpected(refuse_loan());
  PoolSlot& slot = *free_;
  free_ = next_of(slot);
  --available_;
  loans_.store(loans_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  note_high_water();
  slot.borrow(last_layout_, last_layout_number_, producer_stream);
  return TensorOutputLoan::adopt(slot);
}

Error TensorPool::Core::refuse_loan() noexcept {
  if (has_failed()) return with_place(first_failure_, options_);
  count_refusal();
  return {ErrorCode::kResourceExhausted, "TENSOR_POOL_EXHAUSTED"};
}

void TensorPool::Core::count_refusal() noexcept {
  refusals_.store(refusals_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// The loan's count goes over to the other slot: one was lent, and one will come back.
expected<PoolSlot*, Error> TensorPool::Core::host_writable(PoolSlot& loaned) noexcept {
  WEFTLINE_ASSIGN(const bool passed, loaned.fence_passed());
  if (passed) return &loaned;
  collect_returned();
  poll_retiring();
  PoolSlot* fenced = take_fenced();
  if (fenced == nullptr) {
    count_refusal();
    return fail(ErrorCode::kResourceExhausted, "TENSOR_FUSED_SLOTS_IN_USE");
  }
  loaned.give_way(*fenced);
  put(loaned);
  note_high_water();
  return fenced;
}

PoolSlot* TensorPool::Core::take_fenced() noexcept {
  PoolSlot* before = nullptr;
  for (PoolSlot* slot = free_; slot != nullptr; before = std::exchange(slot, next_of(*slot))) {
    if (slot->unfenced()) continue;
    if (before != nullptr) {
      before->next = slot->next;
    } else {
      free_ = next_of(*slot);
    }
    --available_;
    return slot;
  }
  return nullptr;
}

// After a failure the answer is yes, for lend() to say what has failed: a lane that was told "no"
// might wait for slots that will never come back.
bool TensorPool::Core::has_free_slot(std::uint32_t count) noexcept {
  while (!find_free(count) && !has_failed()) {
    if (returned_.arm()) return false;
    // Something came back since the look.
  }
  return true;
}

void TensorPool::Core::poll_retiring() noexcept {
  if (retiring_ == nullptr || in_host_task()) return;
  PoolSlot* slot = std::exchange(retiring_, nullptr);
  while (slot != nullptr) {
    PoolSlot& polled = *std::exchange(slot, next_of(*slot));
    polled.poll();
    put(polled);
  }
}

void TensorPool::Core::put_aside(PoolSlot& slot) noexcept {
  if (slot.state() == SlotState::kRetiring) {
    slot.next = std::exchange(retiring_, &slot);
  } else {
    ++lost_;
  }
}

void TensorPool::Core::note_failure(Error&& error) noexcept {
  Failure none = Failure::kNone;
  if (!failure_.compare_exchange_strong(none, Failure::kBeingNoted)) return;
  first_failure_ = std::move(error);
  failure_.store(Failure::kNoted, std::memory_order_release);
}

// Whoever returns a slot to the closed stack subtracts one, maybe before their number is added
// here: the sum is 0 only when all have.
void TensorPool::Core::close() noexcept {
  returned_.set_callback({});
  std::uint32_t back = 0;
  const auto count = [&back](TensorBacking* slot) {
    for (; slot != nullptr; slot = slot->next) ++back;
  };
  count(returned_.close());
  count(retiring_);
  change_holders(std::int64_t{options_.slot_count} - available_ - lost_ - back);
}

void TensorPool::Core::change_holders(std::int64_t by) noexcept {
  if (holders_.fetch_add(by, std::memory_order_acq_rel) + by != 0) return;
  if (options_.device && in_host_task()) {
    end_on_own_thread();
  } else {
    delete this;
  }
}

// The end of a pool asks the device and frees its memory: neither may be done in a host task, and
// nobody is left who would come by.
void TensorPool::Core::end_on_own_thread() noexcept {
  try {
    std::thread([this] { delete this; }).detach();
  } catch (const std::exception&) {
    // Without a thread the memory stays: taking it back here could stop the device for good.
  }
}

bool TensorPool::Core::waits_for_device() const noexcept {
  return std::any_of(slots_.get(), slots_.get() + options_.slot_count,
                     [](const PoolSlot& slot) { return slot.state() == SlotState::kRetiring; });
}

TensorPoolUsage TensorPool::Core::usage() const noexcept {
  TensorPoolUsage usage{.reserved_bytes = memory_.byte_size(), .slot_count = options_.slot_count};
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    const SlotState state = slots_[index].state();
    usage.in_use += state != SlotState::kFree && state != SlotState::kQuarantined;
    usage.retiring += state == SlotState::kRetiring;
    usage.quarantined += state == SlotState::kQuarantined;
  }
  usage.in_use_high_water = high_water_.load(std::memory_order_relaxed);
  usage.returns = returns();
  usage.loans = loans_.load(std::memory_order_relaxed);
  usage.refusals = refusals_.load(std::memory_order_relaxed);
  usage.host_waits = host_waits_.read();
  return usage;
}

std::vector<HeldSlot> TensorPool::Core::held_slots() const {
  std::vector<HeldSlot> held;
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    const PoolSlot& slot = slots_[index];
    if (const auto state = slot.held_state()) held.push_back(slot.held(index, *state));
  }
  return held;
}

}  // namespace weftline
