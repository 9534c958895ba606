// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "counter.hpp"
#include "import_runtime.hpp"
#include "operator_runtime.hpp"
#include "parker.hpp"
#include "run_control.hpp"

namespace weftline::runtime {

/// The thread that owns one partition's callbacks. It steps its imports and its operators in
/// topological order, and sleeps when none has anything to do: until a neighbour wakes it, a clock
/// tick is due, or, when only a device can free a slot, a poll.
class Lane {
 public:
  Lane(PartitionId partition, std::string name, RunControl& control) noexcept
      : partition_(partition), name_(std::move(name)), control_(control) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] Parker& parker() noexcept { return parker_; }
  void add(OperatorRuntime& member) { members_.push_back(&member); }
  void add(ImportRuntime& import) { imports_.push_back(&import); }

  void start(bool spin_before_park);
  void join() noexcept;

  /// True when every operator had finished; meaningful after join().
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] LaneCounters counters() const noexcept {
    return {partition_, parks_.read(), device_polls_.read()};
  }

 private:
  void run() noexcept;
  [[nodiscard]] bool step_all() noexcept;
  void sleep() noexcept;

  const PartitionId partition_;
  const std::string name_;
  RunControl& control_;
  std::vector<ImportRuntime*> imports_{};
  std::vector<OperatorRuntime*> members_{};
  Parker parker_{};
  bool spin_before_park_{false};
  bool finished_{false};
  Counter parks_{};
  Counter device_polls_{};
  std::thread thread_{};
};

}  // namespace weftline::runtime
