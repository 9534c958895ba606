// SPDX-License-Identifier: Apache-2.0
#include "pool_core.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "pool_options.hpp"

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
    if (options_.device && options_.device->order_checker() != nullptr) {
      options_.device->order_checker()->name_memory(
          data, options_.slot_bytes,
          "slot " + std::to_string(index) + " of tensor pool '" + options_.name + "'");
    }
  }
  // Pushed from the last one, so that the first loan gets the first slot.
  for (std::uint32_t index = options_.slot_count; index-- > 0;) put(slots_[index]);
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
  return last_is_packed_ && request.byte_strides.empty() &&
         same_dtype(request.dtype, last_layout_.dtype) &&
         std::ranges::equal(request.shape, last_layout_.shape());
}

expected<void, Error> TensorPool::Core::check_fit(const TensorLoanRequest& request) noexcept {
  if (repeats_last(request)) return {};
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
  last_is_packed_ = request.byte_strides.empty();
  return {};
}

expected<PoolSlot*, Error> TensorPool::Core::borrow(const TensorLoanRequest& request,
                                                    StreamRef producer_stream) noexcept {
  WEFTLINE_TRY(check_fit(request));
  if (options_.device && producer_stream) {
    if (producer_stream.get() == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
    }
    if (producer_stream.device() != options_.device.get()) {
      return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
    }
  }
  if (!find_free(1)) {
    if (has_failed()) return make_unexpected(with_place(first_failure_, options_));
    count_refusal();
    return fail(ErrorCode::kResourceExhausted, "TENSOR_POOL_EXHAUSTED");
  }
  PoolSlot& slot = *free_;
  free_ = next_of(slot);
  --available_;
  loans_.store(loans_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  note_high_water();
  slot.borrow(last_layout_, producer_stream);
  return &slot;
}

void TensorPool::Core::count_refusal() noexcept {
  refusals_.store(refusals_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void TensorPool::Core::note_high_water() noexcept {
  const std::uint32_t in_use = options_.slot_count - available_ - lost_;
  if (in_use > high_water_.load(std::memory_order_relaxed)) {
    high_water_.store(in_use, std::memory_order_relaxed);
  }
}

// The loan's count goes over to the other slot: one was lent, and one will come back.
expected<PoolSlot*, Error> TensorPool::Core::host_writable(PoolSlot& loaned) noexcept {
  if (!loaned.unfenced()) return &loaned;
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

// After a failure the answer is yes, for borrow() to say what has failed: a lane that was told "no"
// might wait for slots that will never come back.
bool TensorPool::Core::has_free_slot(std::uint32_t count) noexcept {
  if (find_free(count) || has_failed()) return true;
  signal_.arm();
  // See ReturnSignal: what came back before the arm is found here.
  if (!find_free(count) && !has_failed()) return false;
  signal_.disarm();
  return true;
}

bool TensorPool::Core::find_free(std::uint32_t count) noexcept {
  collect_returned();
  if (available_ < count) poll_retiring();
  return available_ >= count;
}

// The whole stack is taken at once: nobody pops a single element, so a slot that leaves and comes
// back meanwhile (ABA) can do no harm.
void TensorPool::Core::collect_returned() noexcept {
  if (returned_.load() == nullptr) return;
  PoolSlot* slot = returned_.exchange(nullptr, std::memory_order_acquire);
  while (slot != nullptr) put(*std::exchange(slot, next_of(*slot)));
}

void TensorPool::Core::poll_retiring() noexcept {
  PoolSlot* slot = std::exchange(retiring_, nullptr);
  while (slot != nullptr) {
    PoolSlot& polled = *std::exchange(slot, next_of(*slot));
    polled.poll();
    put(polled);
  }
}

void TensorPool::Core::put(PoolSlot& slot) noexcept {
  switch (slot.state()) {
    case SlotState::kFree:
      slot.next = std::exchange(free_, &slot);
      ++available_;
      break;
    case SlotState::kRetiring:
      slot.next = std::exchange(retiring_, &slot);
      break;
    default:
      ++lost_;
  }
}

void TensorPool::Core::take_back(PoolSlot& slot) noexcept {
  PoolSlot* head = returned_.load(std::memory_order_relaxed);
  do {
    slot.next = head;
  } while (!returned_.compare_exchange_weak(head, &slot));
  signal_.notify();
  if (balance_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void TensorPool::Core::note_failure(Error&& error) noexcept {
  Failure none = Failure::kNone;
  if (!failure_.compare_exchange_strong(none, Failure::kBeingNoted)) return;
  first_failure_ = std::move(error);
  failure_.store(Failure::kNoted, std::memory_order_release);
}

// Returns are subtracted one by one, loans are added in one sum here: so the balance is never
// positive before the pool is closed, and borrowing a slot costs no atomic change.
void TensorPool::Core::close() noexcept {
  signal_.set({});
  const auto loans = static_cast<std::int64_t>(loans_.load(std::memory_order_relaxed));
  if (balance_.fetch_add(loans, std::memory_order_acq_rel) + loans == 0) delete this;
}

bool TensorPool::Core::waits_for_device() const noexcept {
  return std::any_of(slots_.get(), slots_.get() + options_.slot_count,
                     [](const PoolSlot& slot) { return slot.state() == SlotState::kRetiring; });
}

TensorPoolUsage TensorPool::Core::usage() const noexcept {
  TensorPoolUsage usage{.slot_count = options_.slot_count};
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    const SlotState state = slots_[index].state();
    usage.in_use += state != SlotState::kFree && state != SlotState::kQuarantined;
    usage.retiring += state == SlotState::kRetiring;
    usage.quarantined += state == SlotState::kQuarantined;
  }
  usage.in_use_high_water = high_water_.load(std::memory_order_relaxed);
  usage.loans = loans_.load(std::memory_order_relaxed);
  usage.refusals = refusals_.load(std::memory_order_relaxed);
  usage.host_waits = host_waits_.read();
  return usage;
}

}  // namespace weftline
