// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/scripted_device.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace weftline::testing {

void ScriptedDevice::pass(StreamRef stream) {
  std::lock_guard lock(mutex_);
  pass_up_to(at(stream.get()), at(stream.get()).queued);
}

void ScriptedDevice::pass_up_to(StreamState& stream, std::uint64_t position) {
  if (stream.passed >= position) return;
  stream.passed = position;
  for (const WaitState& wait : stream.waits) {
    if (wait.at <= position) pass_up_to(*wait.stream, wait.position);
  }
  std::erase_if(stream.waits, [&](const WaitState& wait) { return wait.at <= position; });
}

void ScriptedDevice::break_operation(Op op) {
  std::lock_guard lock(mutex_);
  broken_.at(static_cast<std::size_t>(op)) = true;
}

void ScriptedDevice::mend() {
  std::lock_guard lock(mutex_);
  broken_.fill(false);
  said_in_words_ = false;
}

std::size_t ScriptedDevice::count(Op op, StreamRef stream) const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(),
                    [=](const Call& call) { return call.op == op && call.stream == stream; }));
}

std::size_t ScriptedDevice::count(Op op) const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(),
                                                [op](const Call& call) { return call.op == op; }));
}

expected<CUstream_st*, Error> ScriptedDevice::do_create_stream(const StreamOptions&) {
  streams_.emplace_back().waits.reserve(1024);  // so that a test can count allocations of others
  return reinterpret_cast<CUstream_st*>(&streams_.back());
}

expected<CUevent_st*, Error> ScriptedDevice::do_create_event(const EventOptions&, bool) {
  if (events_left_-- == 0) {
    return fail(ErrorCode::kFailure, "SCRIPTED_NO_EVENT", "no more events");
  }
  ++live_events_;
  events_.emplace_back();
  return reinterpret_cast<CUevent_st*>(&events_.back());
}

expected<std::byte*, Error> ScriptedDevice::do_allocate(MemoryKind, std::uint64_t bytes) {
  if (memory_refused_) {
    return fail(ErrorCode::kResourceExhausted, "SCRIPTED_NO_MEMORY", "the device is full");
  }
  live_bytes_ += bytes;
  return static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kMemoryBlockAlignment)));
}

expected<PointerInfo, Error> ScriptedDevice::do_pointer_info(const void*) const noexcept {
  return PointerInfo{MemoryKind::kCudaDevice, id()};
}

expected<void, Error> ScriptedDevice::do_record(CUevent_st* event, CUstream_st* stream) noexcept {
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kRecord, {*this, stream}, {*this, event}}));
  at(event) = {&at(stream), ++at(stream).queued};
  return {};
}

expected<void, Error> ScriptedDevice::do_wait(CUstream_st* stream, CUevent_st* event) noexcept {
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kWait, {*this, stream}, {*this, event}}));
  const EventState& awaited = at(event);
  StreamState& waiting = at(stream);
  // Work of its own: it has not passed before the other stream has.
  if (awaited.stream != nullptr && awaited.stream->passed < awaited.position) {
    waiting.waits.push_back({++waiting.queued, awaited.stream, awaited.position});
  }
  return {};
}

expected<bool, Error> ScriptedDevice::do_is_complete(CUevent_st* event) noexcept {
  if (query_hook_) std::exchange(query_hook_, {})();
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kQuery, {}, {*this, event}}));
  const EventState& state = at(event);
  return state.stream == nullptr || state.stream->passed >= state.position;
}

expected<std::chrono::nanoseconds, Error> ScriptedDevice::do_elapsed(CUevent_st*,
                                                                     CUevent_st*) noexcept {
  return std::chrono::nanoseconds(0);
}

expected<void, Error> ScriptedDevice::do_copy(CUstream_st* stream, void* destination,
                                              const void* source, std::uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kCopy, {*this, stream}, {}}));
  std::memcpy(destination, source, bytes);
  ++at(stream).queued;
  return {};
}

expected<void, Error> ScriptedDevice::do_fill(CUstream_st* stream, void* destination,
                                              std::byte value, std::uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  std::memset(destination, std::to_integer<int>(value), bytes);
  ++at(stream).queued;
  return {};
}

expected<void, Error> ScriptedDevice::do_launch_host(CUstream_st* stream,
                                                     const HostTask& task) noexcept {
  std::lock_guard lock(mutex_);
  HostTask run = task;
  run();
  ++at(stream).queued;
  return {};
}

expected<void, Error> ScriptedDevice::do_synchronize_event(CUevent_st* event) noexcept {
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kSynchronizeEvent, {}, {*this, event}}));
  EventState& state = at(event);
  if (state.stream != nullptr) pass_up_to(*state.stream, state.position);
  return {};
}

expected<void, Error> ScriptedDevice::do_synchronize_stream(CUstream_st* stream) noexcept {
  std::lock_guard lock(mutex_);
  WEFTLINE_TRY(log({Op::kSynchronizeStream, {*this, stream}, {}}));
  pass_up_to(at(stream), at(stream).queued);
  return {};
}

void ScriptedDevice::do_free(MemoryKind, std::byte* data, std::uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  if (std::any_of(streams_.begin(), streams_.end(),
                  [](const StreamState& s) { return s.passed < s.queued; })) {
    freed_while_pending_ = true;
  }
  live_bytes_ -= bytes;
  ::operator delete(data, std::align_val_t(kMemoryBlockAlignment));
}

expected<void, Error> ScriptedDevice::log(const Call& call) {
  if (logging_) calls_.push_back(call);
  if (!broken_.at(static_cast<std::size_t>(call.op))) return {};
  if (std::exchange(said_in_words_, true)) return fail(ErrorCode::kFailure, "SCRIPTED_LOST");
  return fail(ErrorCode::kFailure, "SCRIPTED_FAILURE", "the script broke this operation");
}

}  // namespace weftline::testing
