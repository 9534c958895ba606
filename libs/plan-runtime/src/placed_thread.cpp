// SPDX-License-Identifier: Apache-2.0
#include "placed_thread.hpp"

#include <utility>

#include "thread_placement.hpp"

namespace weftline::runtime {

void PlacedThread::launch(std::string name, const std::optional<ThreadPlacement>& asked,
                          std::function<void()> work) {
  thread_ = std::thread([this, name = std::move(name), asked, work = std::move(work)]() mutable {
    report_ = place_this_thread(std::move(name), asked);
    leave(Phase::kPlaced);
    phase_.wait(Phase::kPlaced, std::memory_order_acquire);
    if (phase_.load(std::memory_order_acquire) == Phase::kRunning) work();
  });
  phase_.wait(Phase::kPlacing, std::memory_order_acquire);
}

void PlacedThread::start() noexcept { leave(Phase::kRunning); }

void PlacedThread::join() noexcept {
  if (!thread_.joinable()) return;
  if (phase_.load(std::memory_order_relaxed) == Phase::kPlaced) leave(Phase::kDismissed);
  thread_.join();
}

void PlacedThread::leave(Phase phase) noexcept {
  phase_.store(phase, std::memory_order_release);
  phase_.notify_all();
}

}  // namespace weftline::runtime
