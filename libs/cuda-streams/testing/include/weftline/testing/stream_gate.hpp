// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

#include "weftline/cuda/stream_ref.hpp"

namespace weftline::testing {

/// Holds a stream at one point until a test lets it go on, so that "work is still queued there" is
/// a fact and not a matter of timing. Not for programs: it blocks a device's host thread.
///
/// On CUDA one thread may run the host tasks of all streams: while a gate is closed, use host tasks
/// on no other stream, and no copies of plain host memory on any. At most one gate per stream.
///
/// A gate that stays closed past `kPatience` ends the process with a message.
class StreamGate {
 public:
  /// Queues the gate, closed. Throws std::runtime_error when the device refuses.
  explicit StreamGate(StreamRef stream);
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;
  /// Opens the gate and waits until the stream has passed it.
  ~StreamGate();

  void open() noexcept;
  /// Blocks until all work queued before the gate is done.
  void wait_until_reached();

 private:
  enum class State { kQueued, kReached, kPassed };
  void hold() noexcept;
  void wait_for(State state, std::unique_lock<std::mutex>& lock, const char* complaint) noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_{false};
  State state_{State::kQueued};
};

}  // namespace weftline::testing
