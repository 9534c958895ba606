// SPDX-License-Identifier: Apache-2.0
#include "callback_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "weftline/core/time.hpp"

namespace weftline::runtime {

CallbackWatch::Entry::Entry(CallbackWatch& watch, std::string place) : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.current_ = std::move(place);
  watch_.entered_ns_ = RealtimeClock{}.now_ns();
}

CallbackWatch::Entry::~Entry() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.current_.clear();
}

void CallbackWatch::judge(const std::string& place, std::int64_t since_ns, std::int64_t now_ns,
                          std::vector<RunDiagnostic>& due) {
  Late& late = late_[place];
  if (late.since_ns != since_ns) late = {since_ns, since_ns + interval_ns_};
  if (now_ns < late.next_report_ns) return;
  const std::int64_t waited_ns = now_ns - since_ns;
  late.next_report_ns = since_ns + 2 * waited_ns;
  due.push_back({place,
                 {ErrorCode::kTimeout, "RUN_CALLBACK_LATE",
                  "has not returned for " + std::to_string(waited_ns / 1'000'000) +
                      " ms since the run is to end, and the session waits for it; let it look at "
                      "stop_requested() or cancellation()",
                  0}});
}

void CallbackWatch::look() {
  const std::int64_t ending_ns = control_.ending_since_ns();
  if (ending_ns == 0) return;
  const std::int64_t now_ns = RealtimeClock{}.now_ns();
  std::vector<RunDiagnostic> due;
  {
    const std::lock_guard lock(mutex_);
    if (!current_.empty()) judge(current_, std::max(entered_ns_, ending_ns), now_ns, due);
    for (const auto& lane : lanes_) {
      const OperatorPlanRecord* const inside = lane->stepping();
      if (inside != nullptr) judge(inside->path, ending_ns, now_ns, due);
    }
  }
  for (RunDiagnostic& report : due) {
    std::fprintf(stderr, "weftline: %s\n", report.to_string().c_str());
    control_.warn(std::move(report.place), std::move(report.error));
  }
}

}  // namespace weftline::runtime
