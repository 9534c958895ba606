// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lane.hpp"
#include "run_control.hpp"

namespace weftline::runtime {

/// Finds callbacks that have not returned although their run is to end, and says so by name, in
/// longer and longer intervals: in the run's warnings, and on the standard error, since whoever
/// waits may have nobody to ask. Kills nobody. There is no thread behind it: it looks when somebody
/// waits for the session or reads its warnings.
///
/// The controller takes the lock around each of its callbacks; no lane does. What a lane is in is
/// one relaxed store of the lane: a reader that sees an older one would name the operator before,
/// but a lane that is to end enters no other, so that what is read an interval later is true.
class CallbackWatch {
 public:
  CallbackWatch(RunControl& control, const std::vector<std::unique_ptr<Lane>>& lanes,
                std::chrono::nanoseconds interval) noexcept
      : control_(control), lanes_(lanes), interval_ns_(interval.count()) {}

  /// The controller only: around one callback, "camera.allocate".
  class Entry {
   public:
    Entry(CallbackWatch& watch, std::string place);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

   private:
    CallbackWatch& watch_;
  };

  /// Any thread, while the lanes exist: reports what is late now and was not reported yet.
  void look();
  [[nodiscard]] std::chrono::nanoseconds interval() const noexcept {
    return std::chrono::nanoseconds(interval_ns_);
  }

 private:
  struct Late {
    std::int64_t since_ns{0};
    std::int64_t next_report_ns{0};
  };
  /// Adds to `due` what is to be reported of one callback.
  void judge(const std::string& place, std::int64_t since_ns, std::int64_t now_ns,
             std::vector<RunDiagnostic>& due);

  RunControl& control_;
  const std::vector<std::unique_ptr<Lane>>& lanes_;
  const std::int64_t interval_ns_;
  std::mutex mutex_{};
  std::string current_{};  ///< The controller's callback; empty between them.
  std::int64_t entered_ns_{0};
  std::map<std::string, Late> late_{};
};

}  // namespace weftline::runtime
