// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "weftline/cuda/device.hpp"

namespace weftline::testing {

/// A device whose streams move only when the test says so, and that logs what it is asked to do.
/// Copies and fills happen at once; what is scripted is when their completion shows. Not for
/// anything but unit tests: nothing here runs concurrently, and waits between streams are logged,
/// not obeyed.
class ScriptedDevice final : public Device {
 public:
  ScriptedDevice()
      : Device({.id = {DeviceKind::kEmulated, 7}, .name = "scripted", .memory_bytes = 1 << 20}) {}

  enum class Op : std::uint8_t {
    kRecord,
    kWait,
    kQuery,
    kCopy,
    kSynchronizeEvent,
    kSynchronizeStream
  };
  struct Call {
    Op op;
    StreamRef stream{};
    EventRef event{};
  };

  [[nodiscard]] static std::shared_ptr<ScriptedDevice> make() {
    return std::make_shared<ScriptedDevice>();
  }

  /// All work queued on the stream so far is done.
  void pass(StreamRef stream) {
    std::lock_guard lock(mutex_);
    StreamState& state = at(stream.get());
    state.passed = state.queued;
  }
  /// From now on this operation fails, with kFailure (SCRIPTED_FAILURE).
  void break_operation(Op op) { broken_.at(static_cast<std::size_t>(op)) = true; }
  void mend() { broken_.fill(false); }
  void log_calls(bool enabled) { logging_ = enabled; }
  void refuse_memory() { memory_refused_ = true; }
  void refuse_events_after(std::size_t count) { events_left_ = count; }

  [[nodiscard]] std::vector<Call> take_calls() { return std::exchange(calls_, {}); }
  [[nodiscard]] std::size_t count(Op op) const {
    return static_cast<std::size_t>(std::count_if(
        calls_.begin(), calls_.end(), [op](const Call& call) { return call.op == op; }));
  }
  [[nodiscard]] std::size_t count(Op op, StreamRef stream) const {
    return static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(),
                      [=](const Call& call) { return call.op == op && call.stream == stream; }));
  }
  [[nodiscard]] std::int64_t live_events() const { return live_events_; }
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  /// Whether memory was freed while work queued on some stream had not passed.
  [[nodiscard]] bool freed_while_pending() const { return freed_while_pending_; }

 private:
  expected<CUstream_st*, Error> do_create_stream(const StreamOptions&) override {
    streams_.emplace_back();
    return reinterpret_cast<CUstream_st*>(&streams_.back());
  }
  expected<CUevent_st*, Error> do_create_event(const EventOptions&, bool) override {
    if (events_left_-- == 0) {
      return fail(ErrorCode::kFailure, "SCRIPTED_NO_EVENT", "no more events");
    }
    ++live_events_;
    events_.emplace_back();
    return reinterpret_cast<CUevent_st*>(&events_.back());
  }
  expected<std::byte*, Error> do_allocate(MemoryKind, std::uint64_t bytes) override {
    if (memory_refused_) {
      return fail(ErrorCode::kResourceExhausted, "SCRIPTED_NO_MEMORY", "the device is full");
    }
    live_bytes_ += bytes;
    return static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kMemoryBlockAlignment)));
  }
  expected<PointerInfo, Error> do_pointer_info(const void*) const noexcept override {
    return PointerInfo{MemoryKind::kCudaDevice, id()};
  }
  expected<void, Error> do_make_current() noexcept override { return {}; }

  expected<void, Error> do_record(CUevent_st* event, CUstream_st* stream) noexcept override {
    std::lock_guard lock(mutex_);
    WEFTLINE_TRY(log({Op::kRecord, {*this, stream}, {*this, event}}));
    at(event) = {&at(stream), ++at(stream).queued};
    return {};
  }
  expected<void, Error> do_wait(CUstream_st* stream, CUevent_st* event) noexcept override {
    std::lock_guard lock(mutex_);
    return log({Op::kWait, {*this, stream}, {*this, event}});
  }
  expected<bool, Error> do_is_complete(CUevent_st* event) noexcept override {
    std::lock_guard lock(mutex_);
    WEFTLINE_TRY(log({Op::kQuery, {}, {*this, event}}));
    const EventState& state = at(event);
    return state.stream == nullptr || state.stream->passed >= state.position;
  }
  expected<std::chrono::nanoseconds, Error> do_elapsed(CUevent_st*, CUevent_st*) noexcept override {
    return std::chrono::nanoseconds(0);
  }
  expected<void, Error> do_copy(CUstream_st* stream, void* destination, const void* source,
                                std::uint64_t bytes) noexcept override {
    std::lock_guard lock(mutex_);
    WEFTLINE_TRY(log({Op::kCopy, {*this, stream}, {}}));
    std::memcpy(destination, source, bytes);
    ++at(stream).queued;
    return {};
  }
  expected<void, Error> do_fill(CUstream_st* stream, void* destination, std::byte value,
                                std::uint64_t bytes) noexcept override {
    std::lock_guard lock(mutex_);
    std::memset(destination, std::to_integer<int>(value), bytes);
    ++at(stream).queued;
    return {};
  }
  expected<void, Error> do_launch_host(CUstream_st* stream,
                                       const HostTask& task) noexcept override {
    std::lock_guard lock(mutex_);
    HostTask run = task;
    run();
    ++at(stream).queued;
    return {};
  }
  expected<void, Error> do_check_launch() noexcept override { return {}; }

  expected<void, Error> do_synchronize_event(CUevent_st* event) noexcept override {
    std::lock_guard lock(mutex_);
    WEFTLINE_TRY(log({Op::kSynchronizeEvent, {}, {*this, event}}));
    EventState& state = at(event);
    if (state.stream != nullptr) {
      state.stream->passed = std::max(state.stream->passed, state.position);
    }
    return {};
  }
  expected<void, Error> do_synchronize_stream(CUstream_st* stream) noexcept override {
    std::lock_guard lock(mutex_);
    WEFTLINE_TRY(log({Op::kSynchronizeStream, {*this, stream}, {}}));
    at(stream).passed = at(stream).queued;
    return {};
  }

  void do_destroy_stream(CUstream_st*) noexcept override {}
  void do_destroy_event(CUevent_st*) noexcept override { --live_events_; }
  void do_free(MemoryKind, std::byte* data, std::uint64_t bytes) noexcept override {
    freed_while_pending_ |= std::any_of(streams_.begin(), streams_.end(),
                                        [](const StreamState& s) { return s.passed < s.queued; });
    live_bytes_ -= bytes;
    ::operator delete(data, std::align_val_t(kMemoryBlockAlignment));
  }

  struct StreamState {
    std::uint64_t queued{0};
    std::uint64_t passed{0};
  };
  struct EventState {
    StreamState* stream{nullptr};
    std::uint64_t position{0};
  };

  static StreamState& at(CUstream_st* stream) { return *reinterpret_cast<StreamState*>(stream); }
  static EventState& at(CUevent_st* event) { return *reinterpret_cast<EventState*>(event); }

  expected<void, Error> log(const Call& call) {
    if (logging_) calls_.push_back(call);
    if (broken_.at(static_cast<std::size_t>(call.op))) {
      return fail(ErrorCode::kFailure, "SCRIPTED_FAILURE");
    }
    return {};
  }

  std::mutex mutex_{};
  std::deque<StreamState> streams_{};
  std::deque<EventState> events_{};
  std::vector<Call> calls_{};
  std::array<bool, 6> broken_{};
  bool logging_{true};
  bool memory_refused_{false};
  bool freed_while_pending_{false};
  std::size_t events_left_{~std::size_t{0}};
  std::int64_t live_events_{0};
  std::uint64_t live_bytes_{0};
};

}  // namespace weftline::testing
