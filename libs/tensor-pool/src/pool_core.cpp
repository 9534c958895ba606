// SPDX-License-Identifier: Apache-2.0
#include "pool_core.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace weftline {
namespace {

auto bad_option(const TensorPoolOptions& options, const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "TENSOR_POOL_OPTIONS",
              "tensor pool '" + options.name + "': " + what);
}

expected<void, Error> check_options(const TensorPoolOptions& options) {
  const std::string kind(memory_kind_name(options.memory_kind));
  if (options.memory_kind == MemoryKind::kUnknown) {
    return bad_option(options, "memory_kind is unknown; name one of the four kinds");
  }
  if (options.memory_kind == MemoryKind::kHost && options.device) {
    return bad_option(options, "device is " + options.device->id().to_string() +
                                   " but memory_kind is host; leave the device out or choose "
                                   "pinned_host");
  }
  if (options.memory_kind != MemoryKind::kHost && !options.device) {
    return bad_option(options, "memory_kind " + kind + " needs a device");
  }
  if (options.slot_bytes == 0) return bad_option(options, "slot_bytes is 0; it must be positive");
  if (options.slot_count == 0) return bad_option(options, "slot_count is 0; it must be positive");
  if (options.max_rank == 0 || options.max_rank > kMaximumTensorRank) {
    return bad_option(options, "max_rank is " + std::to_string(options.max_rank) +
                                   "; it must be from 1 to " + std::to_string(kMaximumTensorRank));
  }
  return {};
}

/// Distance between two slots, so that each starts on the alignment of the block; 0 on overflow.
std::uint64_t slot_stride(const TensorPoolOptions& options) noexcept {
  std::uint64_t padded = 0;
  std::uint64_t total = 0;
  if (__builtin_add_overflow(options.slot_bytes, kMemoryBlockAlignment - 1, &padded)) return 0;
  padded -= padded % kMemoryBlockAlignment;
  return __builtin_mul_overflow(padded, options.slot_count, &total) ? 0 : padded;
}

/// Errors of the device and of allocators know nothing of the pool.
template <class T>
expected<T, Error> with_place(expected<T, Error> result, const std::string& place) {
  if (!result) result.error().message = place + result.error().message;
  return result;
}

}  // namespace

expected<TensorPool::Core*, Error> TensorPool::Core::build(const TensorPoolOptions& options) {
  WEFTLINE_TRY(check_options(options));
  std::unique_ptr<Core> core(new Core(options));
  WEFTLINE_TRY(core->make_slots());
  return core.release();
}

expected<void, Error> TensorPool::Core::make_slots() {
  const std::string place = "tensor pool '" + options_.name + "': ";
  const std::uint64_t stride = slot_stride(options_);
  const std::string wanted = std::to_string(options_.slot_count) + " slots of " +
                             std::to_string(options_.slot_bytes) + " bytes in " +
                             std::string(memory_kind_name(options_.memory_kind)) + " memory";
  const auto no_memory = [&](const std::string& why) {
    return fail(ErrorCode::kResourceExhausted, "TENSOR_POOL_MEMORY",
                place + "can't have " + wanted + why + "; lower slot_count or slot_bytes");
  };
  if (stride == 0) return no_memory(": the total is past 2^64 bytes");

  const std::uint64_t total = stride * options_.slot_count;
  auto memory = options_.device ? options_.device->allocate(options_.memory_kind, total)
                                : allocate_host_memory(total);
  if (!memory && memory.error().code == ErrorCode::kResourceExhausted) {
    return no_memory(" (" + std::to_string(total) + " bytes in all): " + memory.error().message);
  }
  WEFTLINE_ASSIGN(memory_, with_place(std::move(memory), place));

  slots_.reset(new (std::nothrow) TensorSlot[options_.slot_count]);
  if (!slots_) return no_memory(": no host memory for their metadata");
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    WEFTLINE_TRY(with_place(slots_[index].build(*this, memory_.data() + index * stride), place));
  }
  // Pushed from the last one, so that the first loan gets the first slot.
  for (std::uint32_t index = options_.slot_count; index-- > 0;) put(slots_[index]);
  return {};
}

TensorPool::Core::~Core() {
  if (!slots_) return;
  for (std::uint32_t index = 0; index < options_.slot_count; ++index) {
    slots_[index].synchronize_for_destruction();
  }
}

expected<TensorLayout, Error> TensorPool::Core::fitting_layout(
    const TensorLoanRequest& request) const noexcept {
  if (request.shape.size() > options_.max_rank) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_RANK_TOO_HIGH");
  }
  auto layout = request.byte_strides.empty()
                    ? contiguous_layout(request.shape, request.dtype)
                    : strided_layout(request.shape, request.byte_strides, request.dtype);
  if (layout && layout->byte_span() > options_.slot_bytes) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_LARGER_THAN_SLOT");
  }
  return layout;
}

expected<TensorSlot*, Error> TensorPool::Core::borrow(const TensorLoanRequest& request,
                                                      StreamRef producer_stream) noexcept {
  const auto layout = fitting_layout(request);
  if (!layout) return tl::unexpected<Error>(layout.error());
  if (options_.device && producer_stream) {
    if (producer_stream.get() == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
    }
    if (producer_stream.device() != options_.device.get()) {
      return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
    }
  }
  if (!find_free()) {
    refusals_.store(refusals_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return fail(ErrorCode::kResourceExhausted, "TENSOR_POOL_EXHAUSTED");
  }
  TensorSlot& slot = *free_;
  free_ = slot.next;
  --available_;
  loans_.store(loans_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::uint32_t in_use = options_.slot_count - available_ - lost_;
  if (in_use > high_water_.load(std::memory_order_relaxed)) {
    high_water_.store(in_use, std::memory_order_relaxed);
  }
  slot.borrow(*layout, producer_stream);
  return &slot;
}

bool TensorPool::Core::has_free_slot() noexcept {
  if (find_free()) return true;
  signal_.arm();
  if (!find_free()) return false;  // see ReturnSignal: what came back before the arm is found here
  signal_.disarm();
  return true;
}

bool TensorPool::Core::find_free() noexcept {
  collect_returned();
  if (free_ == nullptr) poll_retiring();
  return free_ != nullptr;
}

// The whole stack is taken at once: nobody pops a single element, so a slot that leaves and comes
// back meanwhile (ABA) can do no harm.
void TensorPool::Core::collect_returned() noexcept {
  if (returned_.load() == nullptr) return;
  TensorSlot* slot = returned_.exchange(nullptr, std::memory_order_acquire);
  while (slot != nullptr) put(*std::exchange(slot, slot->next));
}

void TensorPool::Core::poll_retiring() noexcept {
  TensorSlot* slot = std::exchange(retiring_, nullptr);
  while (slot != nullptr) {
    TensorSlot& polled = *std::exchange(slot, slot->next);
    polled.poll();
    put(polled);
  }
}

void TensorPool::Core::put(TensorSlot& slot) noexcept {
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

void TensorPool::Core::take_back(TensorSlot& slot) noexcept {
  TensorSlot* head = returned_.load(std::memory_order_relaxed);
  do {
    slot.next = head;
  } while (!returned_.compare_exchange_weak(head, &slot));
  signal_.notify();
  if (balance_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
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
                     [](const TensorSlot& slot) { return slot.state() == SlotState::kRetiring; });
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
  usage.host_waits = host_waits_.load(std::memory_order_relaxed);
  return usage;
}

}  // namespace weftline
