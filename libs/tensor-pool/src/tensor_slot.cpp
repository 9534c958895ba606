// SPDX-License-Identifier: Apache-2.0
#include "tensor_slot.hpp"

#include <cstdio>
#include <cstdlib>

#include "pool_core.hpp"

namespace weftline {
namespace {

const char* state_name(SlotState state) noexcept {
  switch (state) {
    case SlotState::kFree:
      return "free";
    case SlotState::kLoaned:
      return "loaned";
    case SlotState::kWriting:
      return "writing";
    case SlotState::kCommitted:
      return "committed";
    case SlotState::kPublished:
      return "published";
    case SlotState::kRetiring:
      return "retiring";
    case SlotState::kQuarantined:
      return "quarantined";
  }
  return "unknown";
}

}  // namespace

expected<void, Error> TensorSlot::build(TensorPool::Core& core, std::byte* data) {
  core_ = &core;
  data_ = data;
  const TensorPoolOptions& options = core.options();
  if (options.device) {
    WEFTLINE_ASSIGN(ready_event_, options.device->create_event());
  }
  return releases_.build(options.device, options.max_release_streams);
}

void TensorSlot::advance(SlotState from, SlotState to) noexcept {
  if (state() != from) {
    std::fprintf(stderr, "weftline: a slot of tensor pool '%s' is %s where %s was due before %s\n",
                 core_->options().name.c_str(), state_name(state()), state_name(from),
                 state_name(to));
    std::abort();
  }
  state_.store(to, std::memory_order_relaxed);
}

void TensorSlot::borrow(const TensorLayout& layout, StreamRef producer_stream) noexcept {
  advance(SlotState::kFree, SlotState::kLoaned);
  layout_ = layout;
  producer_stream_ = producer_stream;
  device_phase_ = false;
  ready_passed_ = false;
  releases_.clear();
  references_.store(1, std::memory_order_relaxed);
}

expected<void, Error> TensorSlot::begin_write(StreamRef stream) noexcept {
  if (state() != SlotState::kLoaned) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_ALREADY_WRITTEN");
  }
  if (!stream) {
    if (!is_host_accessible(memory_kind())) {
      return fail(ErrorCode::kNotSupported, "TENSOR_HOST_WRITE_TO_DEVICE_MEMORY");
    }
  } else if (device() == nullptr) {
    return fail(ErrorCode::kNotSupported, "TENSOR_DEVICE_WRITE_TO_HOST_MEMORY");
  } else if (stream != producer_stream_) {
    return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
  }
  device_phase_ = static_cast<bool>(stream);
  advance(SlotState::kLoaned, SlotState::kWriting);
  return {};
}

expected<void, Error> TensorSlot::commit() noexcept {
  if (state() != SlotState::kWriting) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_NOT_WRITING");
  }
  if (device_phase_) {
    WEFTLINE_TRY(device()->record(ready_event_.ref(), producer_stream_));
  }
  advance(SlotState::kWriting, SlotState::kCommitted);
  return {};
}

void TensorSlot::publish() noexcept { advance(SlotState::kCommitted, SlotState::kPublished); }

void TensorSlot::drop_reference() noexcept {
  // The only holder needs no atomic change: there is no other handle to copy or to drop.
  if (references_.load(std::memory_order_acquire) == 1 ||
      references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    retire();
  }
}

// Rule 3: the bytes stay out of use until every lease is gone (it is, here) and every stream that
// may touch them has passed its work.
void TensorSlot::retire() noexcept {
  const SlotState held = state();
  const expected<bool, Error> pending = record_pending_work();
  if (!pending) {
    advance(held, SlotState::kQuarantined);
  } else if (*pending) {
    advance(held, SlotState::kRetiring);
  } else {
    advance(held, SlotState::kFree);
  }
  core_->take_back(*this);
}

expected<bool, Error> TensorSlot::record_pending_work() noexcept {
  // A loan given up in mid-write has no record of its own work yet, or only of a part.
  if (device_phase_ && state() != SlotState::kPublished) {
    WEFTLINE_TRY(device()->record(ready_event_.ref(), producer_stream_));
  }
  WEFTLINE_TRY(releases_.record());
  return device_phase_ || !releases_.empty();
}

expected<bool, Error> TensorSlot::has_passed() noexcept {
  // Without consumer streams (nobody there, or readers on the host) the producer's own work counts.
  if (device_phase_ && !ready_passed_) {
    WEFTLINE_ASSIGN(ready_passed_, device()->is_complete(ready_event_.ref()));
    if (!ready_passed_) return false;
  }
  return releases_.poll();
}

void TensorSlot::poll() noexcept {
  const expected<bool, Error> passed = has_passed();
  if (!passed) {
    advance(SlotState::kRetiring, SlotState::kQuarantined);
  } else if (*passed) {
    advance(SlotState::kRetiring, SlotState::kFree);
  }
}

void TensorSlot::synchronize_for_destruction() noexcept {
  if (state() == SlotState::kRetiring) {
    if (device_phase_) static_cast<void>(device()->synchronize(ready_event_.ref()));
    releases_.synchronize_events();
  } else if (state() == SlotState::kQuarantined) {
    if (device_phase_) static_cast<void>(device()->synchronize(producer_stream_));
    releases_.synchronize_streams();
  }
}

expected<void, Error> TensorSlot::check_stream(StreamRef stream) const noexcept {
  if (stream.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
  }
  if (stream.device() != device()) return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
  return {};
}

expected<void, Error> TensorSlot::enqueue_ready_wait(StreamRef stream) noexcept {
  if (device() == nullptr) return {};
  WEFTLINE_TRY(check_stream(stream));
  if (!device_phase_) return {};
  return device()->wait(stream, ready_event_.ref());
}

expected<void, Error> TensorSlot::add_release_stream(StreamRef stream) noexcept {
  if (device() == nullptr) return fail(ErrorCode::kNotSupported, "TENSOR_WITHOUT_DEVICE");
  WEFTLINE_TRY(check_stream(stream));
  if (!releases_.add(stream)) {
    return fail(ErrorCode::kResourceExhausted, "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  }
  return {};
}

expected<void, Error> TensorSlot::synchronize_for_host() noexcept {
  if (!device_phase_) return {};
  WEFTLINE_ASSIGN(const bool ready, device()->is_complete(ready_event_.ref()));
  if (ready) return {};
  core_->count_host_wait();
  return device()->synchronize(ready_event_.ref());
}

MemoryKind TensorSlot::memory_kind() const noexcept { return core_->options().memory_kind; }

Device* TensorSlot::device() const noexcept { return core_->options().device.get(); }

}  // namespace weftline
