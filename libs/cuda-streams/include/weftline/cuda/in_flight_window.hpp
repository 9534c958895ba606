// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "weftline/core/error.hpp"
#include "weftline/cuda/stream_ref.hpp"

namespace weftline {

class Device;

/// Bounds how many frames a producer may have queued on a device and not yet seen done. The depth
/// of an edge bounds messages; it does not bound device work that was already submitted. So a
/// producer that only queues runs ahead of the device; this paces it:
///
///     WEFTLINE_ASSIGN(const bool entered, window.try_enter());
///     if (!entered) return {};                        // the device is behind: come back later
///     fill_frame(data, ctx.cuda_stream());            // queue this frame's work
///     WEFTLINE_TRY(window.leave(ctx.cuda_stream()));  // done when the stream has passed this
///     point
///
/// A frame is in flight from its entry until the stream that it left on has passed its point, and
/// frames count as done in the order in which they left. With `leave()` in the producer, its own
/// work is bounded; with `leave()` at the last stage, the whole way of a frame is. Every frame that
/// enters has to leave, in the order of entry; one that is given up leaves without a stream.
///
/// The window delays the making of frames: what is measured from emit on does not contain that, and
/// a source of a fixed rate has to drop frames meanwhile.
///
/// Made cold, with one event per frame; nothing is allocated afterwards. `try_enter()` and
/// `enter()` belong to one thread, `leave()` to one, which may be another. A moved-from window
/// answers kInvalidArgument (DEVICE_WINDOW_EMPTY). Errors of the device are passed on and change
/// nothing.
class InFlightWindow {
 public:
  /// Cold. An error of `Device::create_event()` is passed on; no frame at all is kInvalidArgument
  /// (DEVICE_WINDOW_FRAMES).
  [[nodiscard]] static expected<InFlightWindow, Error> create(Device& device, std::uint32_t frames);
  InFlightWindow(InFlightWindow&& other) noexcept;
  InFlightWindow& operator=(InFlightWindow&& other) noexcept;
  /// Waits for nothing.
  ~InFlightWindow();

  // The thread that submits frames.

  /// Takes one more frame in, unless `frames()` are in flight. Never blocks; asks the device once,
  /// and only when the window is full.
  [[nodiscard]] expected<bool, Error> try_enter() noexcept;
  /// The same, and blocks until the oldest frame is done when the window is full; the thread sleeps
  /// meanwhile. Counted by `waits()`. While that frame has not left yet there is nothing to wait
  /// for: kNotReady (DEVICE_WINDOW_OLDEST_NOT_LEFT) at once, since its leave may be due on this
  /// very thread.
  expected<void, Error> enter() noexcept;

  // The thread that ends frames.

  /// The oldest frame that has not left is done when the work queued on `stream` until now is, or
  /// at once without a stream. Never blocks. kInvalidArgument (DEVICE_WINDOW_NOT_ENTERED) when all
  /// that entered have left.
  expected<void, Error> leave(StreamRef stream) noexcept;

  // Any thread.

  /// How often `enter()` had to wait.
  [[nodiscard]] std::uint64_t waits() const noexcept;
  /// How many may be in flight; 0 for a moved-from window.
  [[nodiscard]] std::uint32_t frames() const noexcept;

 private:
  struct State;
  explicit InFlightWindow(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace weftline
