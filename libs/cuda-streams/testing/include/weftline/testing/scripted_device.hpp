// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "weftline/cuda/device.hpp"

namespace weftline::testing {

/// A device whose streams move only when the test says so, and that logs what it is asked to do.
/// Copies and fills happen at once; what is scripted is when their completion shows. Not for
/// anything but unit tests: nothing here runs concurrently. A stream that passes has passed what it
/// waits for.
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

  /// All work queued on the stream so far is done, and what that waits for.
  void pass(StreamRef stream);
  /// From now on this operation fails with kFailure: once in words (SCRIPTED_FAILURE), then as a
  /// lost CUDA device does, with a token only (SCRIPTED_LOST).
  void break_operation(Op op);
  void mend();
  /// Called once, in the middle of the next query of an event.
  void on_next_query(std::function<void()> hook) { query_hook_ = std::move(hook); }
  void log_calls(bool enabled) { logging_ = enabled; }
  void refuse_memory() { memory_refused_ = true; }
  void refuse_events_after(std::size_t count) { events_left_ = count; }

  [[nodiscard]] std::vector<Call> take_calls() { return std::exchange(calls_, {}); }
  [[nodiscard]] std::size_t count(Op op) const;
  [[nodiscard]] std::size_t count(Op op, StreamRef stream) const;
  [[nodiscard]] std::int64_t live_events() const { return live_events_; }
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  /// Whether memory was freed while work queued on some stream had not passed.
  [[nodiscard]] bool freed_while_pending() const { return freed_while_pending_; }

 private:
  expected<CUstream_st*, Error> do_create_stream(const StreamOptions&) override;
  expected<CUevent_st*, Error> do_create_event(const EventOptions&, bool) override;
  expected<std::byte*, Error> do_allocate(MemoryKind, std::uint64_t bytes) override;
  expected<PointerInfo, Error> do_pointer_info(const void*) const noexcept override;
  expected<void, Error> do_make_current() noexcept override { return {}; }

  expected<void, Error> do_record(CUevent_st* event, CUstream_st* stream) noexcept override;
  expected<void, Error> do_wait(CUstream_st* stream, CUevent_st* event) noexcept override;
  expected<bool, Error> do_is_complete(CUevent_st* event) noexcept override;
  expected<std::chrono::nanoseconds, Error> do_elapsed(CUevent_st*, CUevent_st*) noexcept override;
  expected<void, Error> do_copy(CUstream_st* stream, void* destination, const void* source,
                                std::uint64_t bytes) noexcept override;
  expected<void, Error> do_fill(CUstream_st* stream, void* destination, std::byte value,
                                std::uint64_t bytes) noexcept override;
  expected<void, Error> do_launch_host(CUstream_st* stream, const HostTask& task) noexcept override;
  expected<void, Error> do_check_launch() noexcept override { return {}; }

  expected<void, Error> do_synchronize_event(CUevent_st* event) noexcept override;
  expected<void, Error> do_synchronize_stream(CUstream_st* stream) noexcept override;

  void do_destroy_stream(CUstream_st*) noexcept override {}
  void do_destroy_event(CUevent_st*) noexcept override { --live_events_; }
  void do_free(MemoryKind, std::byte* data, std::uint64_t bytes) noexcept override;

  struct StreamState;
  struct WaitState {
    std::uint64_t at{0};  // of the waiting stream
    StreamState* stream{nullptr};
    std::uint64_t position{0};
  };
  struct StreamState {
    std::uint64_t queued{0};
    std::uint64_t passed{0};
    std::vector<WaitState> waits{};
  };
  struct EventState {
    StreamState* stream{nullptr};
    std::uint64_t position{0};
  };

  static StreamState& at(CUstream_st* stream) { return *reinterpret_cast<StreamState*>(stream); }
  static EventState& at(CUevent_st* event) { return *reinterpret_cast<EventState*>(event); }

  expected<void, Error> log(const Call& call);
  static void pass_up_to(StreamState& stream, std::uint64_t position);

  std::mutex mutex_{};
  std::deque<StreamState> streams_{};
  std::deque<EventState> events_{};
  std::vector<Call> calls_{};
  std::array<bool, 6> broken_{};
  std::function<void()> query_hook_{};
  bool said_in_words_{false};
  bool logging_{true};
  bool memory_refused_{false};
  std::atomic<bool> freed_while_pending_{false};
  std::size_t events_left_{~std::size_t{0}};
  std::atomic<std::int64_t> live_events_{0};
  std::atomic<std::uint64_t> live_bytes_{0};
};

}  // namespace weftline::testing
