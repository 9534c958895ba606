// SPDX-License-Identifier: Apache-2.0
#include "pool_slot.hpp"

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

expected<void, Error> PoolSlot::build(TensorPool::Core& core, std::byte* data) {
  const TensorPoolOptions& options = core.options();
  core_ = &core;
  set_memory(options.memory_kind, options.device.get(), data, core.host_waits());
  WEFTLINE_TRY(readiness().build(options.device));
  // One more for a fused stream that a surprise has made explicit.
  const std::uint32_t explicit_streams = options.fused_stream ? 1 : 0;
  return releases().build(options.device, options.max_release_streams + explicit_streams);
}

void PoolSlot::advance(SlotState from, SlotState to) noexcept {
  if (state() != from) {
    std::fprintf(stderr, "weftline: a slot of tensor pool '%s' is %s where %s was due before %s\n",
                 core_->options().name.c_str(), state_name(state()), state_name(from),
                 state_name(to));
    std::abort();
  }
  state_.store(to, std::memory_order_relaxed);
}

void PoolSlot::borrow(const TensorLayout& layout, StreamRef producer_stream) noexcept {
  advance(SlotState::kFree, SlotState::kLoaned);
  loan_number_.store(loan_number() + 1, std::memory_order_relaxed);
  producer_stream_ = producer_stream;
  device_phase_ = false;
  fence_recorded_ = false;
  begin_life(layout);
}

expected<void, Error> PoolSlot::check_write(StreamRef stream) const noexcept {
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
  return {};
}

// Rule 5: on the fused stream an earlier reader is in front of this write, and this write in front
// of its reader, by the stream alone. On another stream the earlier reader is awaited there.
expected<void, Error> PoolSlot::begin_write(StreamRef stream) noexcept {
  const StreamRef fused = core_->options().fused_stream;
  if (stream && stream == fused) {
    readiness().elide(stream);
  } else if (stream && unfenced_) {
    WEFTLINE_TRY(readiness().record(fused));
    WEFTLINE_TRY(readiness().enqueue_wait(stream));
  }
  device_phase_ = static_cast<bool>(stream);
  declare_use(stream, MemoryUse::kWrite, stream ? "write phase" : "host write phase");
  advance(SlotState::kLoaned, SlotState::kWriting);
  return {};
}

expected<void, Error> PoolSlot::commit() noexcept {
  declare_end();
  if (device_phase_ && !readiness().elided_on(producer_stream_)) {
    WEFTLINE_TRY(readiness().record(producer_stream_));
  }
  advance(SlotState::kWriting, SlotState::kCommitted);
  return {};
}

void PoolSlot::publish() noexcept { advance(SlotState::kCommitted, SlotState::kPublished); }

// Rule 3: the bytes stay out of use until every lease is gone (it is, here) and every stream that
// may touch them has passed its work.
void PoolSlot::last_reference_dropped() noexcept {
  const SlotState held = state();
  declare_end();
  if (device_phase_) unfenced_ = readiness().elided_on(producer_stream_);
  expected<bool, Error> pending = record_pending_work();
  if (pending && holds_unproven_work()) pending = fail(ErrorCode::kFailure, "TENSOR_WORK_UNPROVEN");
  if (!pending) {
    core_->note_failure(std::move(pending.error()));
    advance(held, SlotState::kQuarantined);
  } else if (*pending) {
    advance(held, SlotState::kRetiring);
  } else {
    advance(held, SlotState::kFree);
  }
  core_->take_back(*this);
}

expected<bool, Error> PoolSlot::record_pending_work() noexcept {
  if (unfenced_) return false;
  // A loan given up in mid-write has no record of its own work yet, or only of a part.
  if (device_phase_ && state() != SlotState::kPublished) {
    WEFTLINE_TRY(readiness().record(producer_stream_));
  }
  WEFTLINE_TRY(releases().record());
  return device_phase_ || !releases().empty();
}

expected<bool, Error> PoolSlot::has_passed() noexcept {
  // Without consumer streams (nobody there, or readers on the host) the producer's own work counts.
  WEFTLINE_ASSIGN(const bool written, readiness().passed());
  if (!written) return false;
  return releases().poll();
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
  other.borrow(layout(), producer_stream_);
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
  if (state() == SlotState::kRetiring) {
    readiness().synchronize();
    releases().synchronize_events();
  } else if (state() == SlotState::kQuarantined) {
    if (device_phase_) static_cast<void>(device()->synchronize(producer_stream_));
    releases().synchronize_streams();
  }
}

}  // namespace weftline
