// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counter.hpp"
#include "import_runtime.hpp"
#include "operator_runtime.hpp"
#include "parker.hpp"
#include "placed_thread.hpp"
#include "run_control.hpp"
#include "trace_ring.hpp"
#include "weftline/core/clock_driver.hpp"

namespace weftline::runtime {

/// The thread that owns one partition's callbacks. It steps its imports and its operators in
/// topological order, and when none has anything to do waits as its wake mode says: it sleeps, at
/// once or after a short spin, until a neighbour wakes it, a clock tick is due, or, when only a
/// device can free a slot, a poll; or it looks again without end.
class Lane {
 public:
  Lane(PartitionId partition, std::string name, RunControl& control) noexcept
      : partition_(partition), name_(std::move(name)), control_(control) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Parker& parker() noexcept { return *parker_; }
  /// May be null.
  void use_trace(TraceRing* trace) noexcept { trace_ = trace; }
  /// For a source's handles, which may outlive the lane: they keep what they wake.
  [[nodiscard]] ReadinessWake readiness_wake() const noexcept {
    return {parker_, [](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); }};
  }
  /// Before start(). An error when the lane would have to watch a descriptor and can't.
  [[nodiscard]] expected<void, Error> add(OperatorRuntime& member);
  void add(ImportRuntime& import) { imports_.push_back(&import); }
  /// Each advance of `driver` wakes the lane; before start(). It outlives the lane.
  void wake_by(ClockDriver& driver);

  /// Makes the thread and returns when it has taken its place; it waits there. A lane that would
  /// spin only does so where there is a core for each lane: it would keep another from running.
  void launch(const std::optional<ThreadPlacement>& asked, bool core_for_each_lane);
  /// After launch().
  [[nodiscard]] const ThreadPlacementReport& placement() const noexcept { return thread_.report(); }
  void start() noexcept {
    control_.gate().enter();
    thread_.start();
  }
  void join() noexcept { thread_.join(); }

  /// True when the thread will call nobody any more. Any thread.
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
  /// The operator whose step the lane is in, or was in last; null before the first and after the
  /// end. Any thread.
  [[nodiscard]] const OperatorPlanRecord* stepping() const noexcept {
    return stepping_.load(std::memory_order_relaxed);
  }
  /// True when every operator had finished; meaningful after ended().
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// Asks the system about the thread while it lives.
  [[nodiscard]] LaneCounters counters() const;

 private:
  void run() noexcept;
  /// Between two activations; blocks while lanes stand. False when the lane has to end.
  [[nodiscard]] bool may_go_on() noexcept;
  [[nodiscard]] bool step_all() noexcept;
  void wait_for_work() noexcept;
  [[nodiscard]] bool spin() noexcept;
  void park() noexcept;
  [[nodiscard]] bool must_poll() const noexcept;
  /// True when it was a wake, or a descriptor.
  [[nodiscard]] bool sleep_until(std::optional<std::int64_t> deadline_ns) noexcept;

  const PartitionId partition_;
  const std::string name_;
  RunControl& control_;
  std::vector<ImportRuntime*> imports_{};
  std::vector<OperatorRuntime*> members_{};
  TraceRing* trace_{nullptr};
  const std::shared_ptr<Parker> parker_{std::make_shared<Parker>()};
  /// The parker's event, and a descriptor for each member; empty where none ever has one.
  std::vector<pollfd> watched_{};
  std::vector<ClockDriver::Subscription> drivers_{};
  bool polls_sources_{false};  ///< Some member may have to be polled.
  WakeMode wake_mode_{WakeMode::kPark};
  int spin_rounds_{0};
  const OperatorRuntime* asked_{nullptr};  ///< Has asked for a restart in the step before.
  bool finished_{false};
  Counter spin_wakes_{};
  std::atomic<const OperatorPlanRecord*> stepping_{nullptr};
  std::atomic<bool> ended_{false};
  Counter parks_{};
  Counter wakes_{};
  Counter device_polls_{};
  /// Of the whole life of the thread; kAlive until its end.
  static constexpr std::uint64_t kAlive = ~std::uint64_t{0};
  std::atomic<std::uint64_t> voluntary_switches_{kAlive};
  PlacedThread thread_{};
};

}  // namespace weftline::runtime
