// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/stream_gate.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "weftline/cuda/device.hpp"
#include "weftline/testing/bounded_wait.hpp"

namespace weftline::testing {
namespace {

[[noreturn]] void give_up(const char* complaint) noexcept {
  std::fprintf(stderr, "StreamGate: %s\n", complaint);
  std::abort();
}

}  // namespace

StreamGate::StreamGate(StreamRef stream) {
  const auto queued = stream.device()->launch_host(stream, [this] { hold(); });
  if (!queued) {
    throw std::runtime_error("StreamGate: " + queued.error().to_string());
  }
}

StreamGate::~StreamGate() {
  open();
  std::unique_lock lock(mutex_);
  wait_for(State::kPassed, lock, "the stream did not pass the open gate");
}

void StreamGate::open() noexcept {
  std::unique_lock lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void StreamGate::wait_until_reached() {
  std::unique_lock lock(mutex_);
  wait_for(State::kReached, lock, "the stream did not reach the gate");
}

void StreamGate::hold() noexcept {
  std::unique_lock lock(mutex_);
  state_ = State::kReached;
  changed_.notify_all();
  if (!changed_.wait_for(lock, kPatience, [this] { return open_; })) {
    give_up("nobody opened the gate");
  }
  state_ = State::kPassed;
  changed_.notify_all();  // under the lock: the gate may be gone right after
}

void StreamGate::wait_for(State state, std::unique_lock<std::mutex>& lock,
                          const char* complaint) noexcept {
  if (!changed_.wait_for(lock, kPatience, [&] { return state_ >= state; })) {
    give_up(complaint);
  }
}

}  // namespace weftline::testing
