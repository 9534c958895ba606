// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>

#include "weftline/core/time.hpp"

namespace weftline::runtime {
namespace {

/// How long a lane goes on looking before it sleeps, where there is a core for every lane.
constexpr int kSpinRounds = 200;
/// How often a lane looks again while only a device can free what it waits for: nobody calls back
/// then.
constexpr std::int64_t kDevicePollNs = 20'000;

void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Lane::start(bool spin_before_park) {
  spin_before_park_ = spin_before_park;
  control_.gate().enter();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    control_.gate().leave();
    throw;
  }
}

void Lane::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void Lane::run() noexcept {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // else every tick and poll is late by up to 50 us
  LaneGate& gate = control_.gate();
  while (gate.open() || gate.pass()) {
    if (step_all()) continue;
    finished_ =
        std::ranges::all_of(members_, [](const OperatorRuntime* member) { return member->done(); });
    if (finished_) break;
    sleep();
  }
  gate.leave();
}

bool Lane::step_all() noexcept {
  bool progress = false;
  for (ImportRuntime* import : imports_) progress = import->step() || progress;
  for (OperatorRuntime* member : members_) {
    progress = member->step() || progress;
    if (!control_.gate().open()) break;
  }
  return progress;
}

void Lane::sleep() noexcept {
  for (int round = 0; spin_before_park_ && round < kSpinRounds; ++round) {
    pause_core();
    if (parker_.take_notification()) return;
  }
  if (parker_.take_notification()) return;
  // Nothing was pending, so whatever changes from here on notifies; whatever changed before is seen
  // now.
  if (!control_.gate().open() || step_all()) return;

  std::optional<std::int64_t> deadline;
  bool poll_device = false;
  for (const OperatorRuntime* member : members_) {
    if (const auto due = member->deadline_ns()) deadline = std::min(deadline.value_or(*due), *due);
    poll_device = poll_device || member->waits_for_device();
  }
  if (poll_device) {
    const std::int64_t poll = RealtimeClock{}.now_ns() + kDevicePollNs;
    deadline = std::min(deadline.value_or(poll), poll);
    device_polls_.add();
  }
  parks_.add();
  parker_.park(deadline);
}

}  // namespace weftline::runtime
