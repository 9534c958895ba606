// SPDX-License-Identifier: Apache-2.0
#include "pool_slot.hpp"

#include <cstdio>
#include <cstdlib>

#include "pool_core.hpp"
#include "weftline/cuda/host_task.hpp"

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

expected<void, Error> PoolSlot::build(TensorPool::Core& core, std::byte* data) {
  const TensorPoolOptions& options = core.options();
  core_ = &core;
  set_memory(options.memory_kind, options.device.get(), data, core.host_waits());
  WEFTLINE_TRY(readiness().build(options.device));
  // One more for a fused stream that a surprise has made explicit.
  const std::uint32_t explicit_streams = options.fused_stream ? 1 : 0;
  return releases().build(options.device, options.max_release_streams + explicit_streams);
}

void PoolSlot::stop_at(SlotState from, SlotState to) const noexcept {
  std::fprintf(stderr, "weftline: a slot of tensor pool '%s' is %s where %s was due before %s\n",
               core_->options().name.c_str(), state_name(state()), state_name(from),
               state_name(to));
  std::abort();
}

std::optional<HeldSlot::State> PoolSlot::held_state() const noexcept {
  switch (state()) {
    case SlotState::kFree:
      return {};
    case SlotState::kLoaned:
    case SlotState::kWriting:
    case SlotState::kCommitted:
      return HeldSlot::State::kLoaned;
    case SlotState::kPublished:
      return HeldSlot::State::kPublished;
    case SlotState::kRetiring:
      return HeldSlot::State::kRetiring;
    case SlotState::kQuarantined:
      return HeldSlot::State::kQuarantined;
  }
  return {};
}

HeldSlot PoolSlot::held(std::uint32_t index, HeldSlot::State state) const {
  HeldSlot held{.slot = index, .state = state};
  // The last holder leaves the count behind.
  if (state == HeldSlot::State::kLoaned || state == HeldSlot::State::kPublished) {
    held.handles = handles();
  }
  if (notes() != nullptr) notes()->read(held);
  return held;
}

// Rule 5: on the fused stream an earlier reader is in front of this write, and this write in front
// of its reader, by the stream alone. On another stream the earlier reader is awaited there.
expected<void, Error> PoolSlot::begin_device_phase(StreamRef stream) noexcept {
  const StreamRef fused = core_->options().fused_stream;
  if (stream == fused) {
    readiness().elide(stream);
  } else if (unfenced_) {
    WEFTLINE_TRY(readiness().record(fused));
    WEFTLINE_TRY(readiness().enqueue_wait(stream));
  }
  device_phase_ = true;
  return {};
}

expected<void, Error> PoolSlot::commit_device_phase() noexcept {
  if (readiness().elided_on(producer_stream_)) return {};
  return readiness().record(producer_stream_);
}

// Rule 3: the bytes stay out of use until every lease is gone (it is, here) and every stream that
// may touch them has passed its work.
void PoolSlot::last_reference_dropped() noexcept {
  declare_end();
  if (device_phase_) unfenced_ = readiness().elided_on(producer_stream_);
  advance(state(), has_pending_work() ? retire() : SlotState::kFree);
  core_->take_back(*this);
}

SlotState PoolSlot::retire() noexcept {
  // A loan given up in mid-write has no record of its own work yet, or only of a part.
  write_unrecorded_ = device_phase_ && state() != SlotState::kPublished;
  record_due_ = true;
  if (in_host_task()) return SlotState::kRetiring;  // no device may be called: poll() records
  auto recorded = record_pending_work();
  if (recorded) return SlotState::kRetiring;
  core_->note_failure(std::move(recorded.error()));
  return SlotState::kQuarantined;
}

expected<void, Error> PoolSlot::record_pending_work() noexcept {
  if (write_unrecorded_) WEFTLINE_TRY(readiness().record(producer_stream_));
  WEFTLINE_TRY(releases().record());
  if (holds_unproven_work()) return fail(ErrorCode::kFailure, "TENSOR_WORK_UNPROVEN");
  record_due_ = false;
  return {};
}

expected<bool, Error> PoolSlot::has_passed() noexcept {
  if (record_due_) WEFTLINE_TRY(record_pending_work());
  return work_has_passed();
}

expected<bool, Error> PoolSlot::fence_passed() noexcept {
  if (!fence_recorded_) WEFTLINE_TRY(readiness().record(core_->options().fused_stream));
  fence_recorded_ = true;
  WEFTLINE_ASSIGN(const bool passed, readiness().passed());
  if (passed) {
    readiness().set_host_complete();
    unfenced_ = false;
  }
  return passed;
}

void PoolSlot::give_way(PoolSlot& other) noexcept {
  other.borrow(layout(), layout_number_, producer_stream_);
  if (notes() != nullptr) other.notes()->loaned_as(*notes());
  unfenced_ = false;
  advance(SlotState::kLoaned, SlotState::kRetiring);
}

void PoolSlot::poll() noexcept {
  expected<bool, Error> passed = has_passed();
  if (!passed) {
    core_->note_failure(std::move(passed.error()));
    advance(SlotState::kRetiring, SlotState::kQuarantined);
  } else if (*passed) {
    advance(SlotState::kRetiring, SlotState::kFree);
  }
}

void PoolSlot::synchronize_for_destruction() noexcept {
  if (state() == SlotState::kRetiring && !record_due_) {
    readiness().synchronize();
    releases().synchronize_events();
  } else if (state() == SlotState::kRetiring || state() == SlotState::kQuarantined) {
    if (device_phase_) static_cast<void>(device()->synchronize(producer_stream_));
    releases().synchronize_streams();
  }
}

}  // namespace weftline
