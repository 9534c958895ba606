// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "thread_placement.hpp"
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

expected<void, Error> Lane::add(OperatorRuntime& member) {
  members_.push_back(&member);
  polls_sources_ = polls_sources_ || member.must_poll();
  const bool watches = member.record().trigger.kind == TemporalRecordTriggerKind::kReadable;
  if (watches) WEFTLINE_TRY(parker_->make_pollable());
  if (parker_->event() < 0) return {};
  watched_.assign(members_.size() + 1, {.fd = -1, .events = POLLIN, .revents = 0});
  watched_.front().fd = parker_->event();
  return {};
}

void Lane::wake_by(ClockDriver& driver) {
  drivers_.push_back(driver.subscribe(
      {[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); }, parker_.get()}));
}

void Lane::launch(const std::optional<ThreadPlacement>& asked, bool core_for_each_lane) {
  thread_.launch("partition " + name_, asked, [this] { run(); });
  wake_mode_ = placement().accepted.wake_mode;
  if (wake_mode_ == WakeMode::kSpinThenPark && core_for_each_lane) spin_rounds_ = kSpinRounds;
}

void Lane::run() noexcept {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // else every tick and poll is late by up to 50 us
  while (may_go_on()) {
    if (step_all()) continue;
    finished_ =
        std::ranges::all_of(members_, [](const OperatorRuntime* member) { return member->done(); });
    if (finished_) break;
    wait_for_work();
  }
  rusage usage{};
  static_cast<void>(::getrusage(RUSAGE_THREAD, &usage));
  voluntary_switches_.store(static_cast<std::uint64_t>(usage.ru_nvcsw), std::memory_order_relaxed);
  stepping_.store(nullptr, std::memory_order_relaxed);
  control_.gate().leave();
  ended_.store(true, std::memory_order_seq_cst);
  control_.controller().wake();
}

bool Lane::may_go_on() noexcept {
  LaneGate& gate = control_.gate();
  const OperatorRuntime* const asked = std::exchange(asked_, nullptr);
  if (asked == nullptr && gate.open()) return true;
  const std::int64_t began = trace_ != nullptr ? RealtimeClock{}.now_ns() : 0;
  const bool goes_on = gate.pass([&] { return asked == nullptr || !asked->awaits_restart(); });
  if (goes_on && trace_ != nullptr) {
    trace_->record(
        {.kind = TraceEventKind::kStand, .begin_ns = began, .end_ns = RealtimeClock{}.now_ns()});
  }
  return goes_on;
}

bool Lane::step_all() noexcept {
  bool progress = false;
  for (ImportRuntime* import : imports_) progress = import->step() || progress;
  for (OperatorRuntime* member : members_) {
    stepping_.store(&member->record(), std::memory_order_relaxed);
    progress = member->step() || progress;
    if (member->awaits_restart()) {
      asked_ = member;
      return true;
    }
    if (!control_.gate().open()) break;
  }
  return progress;
}

void Lane::wait_for_work() noexcept {
  if (wake_mode_ == WakeMode::kBusyPoll) return;  // without a pause, which lasts as long as a hop
  if (must_poll()) {
    pause_core();
    return;
  }
  if (spin()) {
    spin_wakes_.add();
    return;
  }
  if (parker_->take_notification()) return;
  // Nothing was pending, so whatever changes from here on notifies; whatever changed before is seen
  // now.
  if (!control_.gate().open() || step_all()) return;
  park();
}

bool Lane::spin() noexcept {
  for (int round = 0; round < spin_rounds_; ++round) {
    pause_core();
    if (parker_->notified() && parker_->take_notification()) return true;
  }
  return false;
}

void Lane::park() noexcept {
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
  const std::int64_t began = trace_ != nullptr ? RealtimeClock{}.now_ns() : 0;
  const bool woken = sleep_until(deadline);
  if (woken) wakes_.add();
  if (trace_ == nullptr) return;
  trace_->record({.kind = TraceEventKind::kPark,
                  .begin_ns = began,
                  .end_ns = RealtimeClock{}.now_ns(),
                  .value = woken ? 1U : 0U});
}

bool Lane::must_poll() const noexcept {
  return polls_sources_ && std::ranges::any_of(members_, [](const OperatorRuntime* member) {
           return member->must_poll();
         });
}

bool Lane::sleep_until(std::optional<std::int64_t> deadline_ns) noexcept {
  if (watched_.empty()) return parker_->park(deadline_ns);
  for (std::size_t index = 0; index < members_.size(); ++index) {
    watched_[index + 1].fd = members_[index]->watched_descriptor();
  }
  return parker_->park_watching(deadline_ns, watched_);
}

LaneCounters Lane::counters() const {
  std::uint64_t switches = voluntary_switches_.load(std::memory_order_relaxed);
  if (switches == kAlive) {
    switches =
        thread_.launched() ? voluntary_switches(placement().observed.thread_id).value_or(0) : 0;
  }
  return {.partition = partition_,
          .spin_wakes = spin_wakes_.read(),
          .parks = parks_.read(),
          .wakes = wakes_.read(),
          .device_polls = device_polls_.read(),
          .voluntary_switches = switches};
}

}  // namespace weftline::runtime
