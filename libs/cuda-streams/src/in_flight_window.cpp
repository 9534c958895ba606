// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/in_flight_window.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include "weftline/cuda/device.hpp"

namespace weftline {

/// A ring of frames, numbered from 0: those below `done` are done, those from there to `left` have
/// left, and those from there to `entered` are on their way.
struct InFlightWindow::State {
  struct Frame {
    Event event{};
    bool on_stream{false};  ///< Left on a stream, where `event` is recorded.
  };

  [[nodiscard]] Frame& at(std::uint64_t number) noexcept { return ring[number % ring.size()]; }
  [[nodiscard]] bool full() const noexcept {
    return entered.load(std::memory_order_relaxed) - done == ring.size();
  }
  /// The oldest frame; null when it has not left.
  [[nodiscard]] Frame* oldest_left() noexcept {
    return left.load(std::memory_order_acquire) == done ? nullptr : &at(done);
  }
  /// Releases the ring's place to the thread that ends frames.
  void take_one_in() noexcept {
    entered.store(entered.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::vector<Frame> ring{};
  // The thread that submits writes these,
  alignas(64) std::uint64_t done{0};
  std::atomic<std::uint64_t> entered{0};
  std::atomic<std::uint64_t> waits{0};
  // and the thread that ends frames this.
  alignas(64) std::atomic<std::uint64_t> left{0};
};

namespace {

auto empty_window() { return fail(ErrorCode::kInvalidArgument, "DEVICE_WINDOW_EMPTY"); }

}  // namespace

expected<InFlightWindow, Error> InFlightWindow::create(Device& device, std::uint32_t frames) {
  if (frames == 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_WINDOW_FRAMES",
                "a window of 0 frames in flight was asked of " + device.id().to_string() +
                    "; ask for at least 1.");
  }
  auto state = std::make_unique<State>();
  for (std::uint32_t i = 0; i < frames; ++i) {
    WEFTLINE_ASSIGN(Event event, device.create_event({.blocking_wait = true}));
    state->ring.push_back({.event = std::move(event)});
  }
  return InFlightWindow(std::move(state));
}

InFlightWindow::InFlightWindow(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
InFlightWindow::InFlightWindow(InFlightWindow&& other) noexcept = default;
InFlightWindow& InFlightWindow::operator=(InFlightWindow&& other) noexcept = default;
InFlightWindow::~InFlightWindow() = default;

expected<bool, Error> InFlightWindow::try_enter() noexcept {
  if (!state_) return empty_window();
  if (state_->full()) {
    const State::Frame* const oldest = state_->oldest_left();
    if (oldest == nullptr) return false;
    if (oldest->on_stream) {
      const EventRef event = oldest->event.ref();
      WEFTLINE_ASSIGN(const bool passed, event.device()->is_complete(event));
      if (!passed) return false;
    }
    ++state_->done;
  }
  state_->take_one_in();
  return true;
}

expected<void, Error> InFlightWindow::enter() noexcept {
  WEFTLINE_ASSIGN(const bool entered, try_enter());
  if (entered) return {};
  const State::Frame* const oldest = state_->oldest_left();
  if (oldest == nullptr) return fail(ErrorCode::kNotReady, "DEVICE_WINDOW_OLDEST_NOT_LEFT");
  if (oldest->on_stream) {
    state_->waits.fetch_add(1, std::memory_order_relaxed);
    const EventRef event = oldest->event.ref();
    WEFTLINE_TRY(event.device()->synchronize(event));
  }
  ++state_->done;
  state_->take_one_in();
  return {};
}

expected<void, Error> InFlightWindow::leave(StreamRef stream) noexcept {
  if (!state_) return empty_window();
  const std::uint64_t number = state_->left.load(std::memory_order_relaxed);
  if (number == state_->entered.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_WINDOW_NOT_ENTERED");
  }
  State::Frame& frame = state_->at(number);
  if (stream) WEFTLINE_TRY(stream.device()->record(frame.event.ref(), stream));
  frame.on_stream = static_cast<bool>(stream);
  state_->left.store(number + 1, std::memory_order_release);
  return {};
}

std::uint64_t InFlightWindow::waits() const noexcept {
  return state_ ? state_->waits.load(std::memory_order_relaxed) : 0;
}

std::uint32_t InFlightWindow::frames() const noexcept {
  return state_ ? static_cast<std::uint32_t>(state_->ring.size()) : 0;
}

}  // namespace weftline
