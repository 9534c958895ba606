// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "weftline/runtime/thread_placement_report.hpp"

namespace weftline::runtime {

/// A thread that takes its place first and begins its work later, so that a session knows what it
/// has got before anything is armed. One owner.
///
/// `phase_` is the only word that both sides write, each in its own steps: the thread kPlacing to
/// kPlaced, the owner kPlaced to kRunning or kDismissed. The report is written before kPlaced
/// (release) and read after it (acquire).
class PlacedThread {
 public:
  PlacedThread() = default;
  PlacedThread(const PlacedThread&) = delete;
  PlacedThread& operator=(const PlacedThread&) = delete;
  /// As join().
  ~PlacedThread() { join(); }

  /// Makes the thread and returns when it is placed; it inherits what nobody asks for from the
  /// caller. Once. Throws std::system_error when the system has no thread left.
  void launch(std::string name, const std::optional<ThreadPlacement>& asked,
              std::function<void()> work);
  /// Lets it work. After launch(), once.
  void start() noexcept;
  /// Waits for the end of its work; a thread that was never started ends without any.
  void join() noexcept;

  [[nodiscard]] bool launched() const noexcept { return thread_.joinable(); }
  /// After launch().
  [[nodiscard]] const ThreadPlacementReport& report() const noexcept { return report_; }

 private:
  enum class Phase : std::uint32_t { kPlacing, kPlaced, kRunning, kDismissed };
  void leave(Phase phase) noexcept;

  ThreadPlacementReport report_{};
  std::atomic<Phase> phase_{Phase::kPlacing};
  std::thread thread_{};
};

}  // namespace weftline::runtime
