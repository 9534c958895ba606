// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/error.hpp"

namespace weftline {

/// CPUs `first` to `last`, both included.
struct CpuRange {
  std::uint32_t first{0};
  std::uint32_t last{0};
  friend constexpr auto operator<=>(const CpuRange&, const CpuRange&) noexcept = default;
};

/// Linux' own limit on CPU numbers.
inline constexpr std::uint32_t kMaximumCpu = 8'191;

/// The CPUs that a thread may run on.
struct CpuAffinity {
  std::vector<CpuRange> ranges{};

  /// Refuses (PLACEMENT_INVALID) no range at all, a range that ends before it begins or beyond
  /// kMaximumCpu, and ranges that are not in ascending order without a CPU in common.
  [[nodiscard]] expected<void, Error> validate() const;
  /// The highest CPU of a valid one.
  [[nodiscard]] std::uint32_t last_cpu() const noexcept {
    return ranges.empty() ? 0 : ranges.back().last;
  }
  /// "0-3,8"
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CpuAffinity&, const CpuAffinity&) = default;
};

enum class SchedulingPolicy : std::uint8_t {
  kOther = 0,   ///< The system's ordinary time sharing; priority 0.
  kFifo,        ///< Real-time; priority 1 to 99.
  kRoundRobin,  ///< Real-time with time slices; priority 1 to 99.
};

struct ThreadScheduling {
  SchedulingPolicy policy{SchedulingPolicy::kOther};
  std::int32_t priority{0};
  friend bool operator==(const ThreadScheduling&, const ThreadScheduling&) = default;
};

/// How a lane waits for work.
enum class WakeMode : std::uint8_t {
  kSpinThenPark = 0,  ///< Spins briefly, then sleeps.
  kPark,              ///< Sleeps at once.
  kBusyPoll,          ///< Never sleeps: a CPU of its own.
};

enum class IrqIsolation : std::uint8_t { kNotRequested = 0, kPreferIsolated, kRequireIsolated };

/// What a run does where it can't have what was asked for.
enum class ProbeFailurePolicy : std::uint8_t { kWarnAndRecordFallback = 0, kFailAdmission };

/// What a deployment asks for one lane's thread.
struct ThreadPlacement {
  std::optional<CpuAffinity> affinity{};  ///< Absent: where the process may run.
  ThreadScheduling scheduling{};
  WakeMode wake_mode{WakeMode::kSpinThenPark};
  IrqIsolation irq_isolation{IrqIsolation::kNotRequested};
  ProbeFailurePolicy probe_failure_policy{ProbeFailurePolicy::kFailAdmission};

  /// Looks at the values alone, asks the system nothing. PLACEMENT_INVALID says which value is not
  /// admitted: a bad affinity, a priority that the policy does not have, a value outside its enum,
  /// isolation without an affinity, a real-time thread that polls without one.
  [[nodiscard]] expected<void, Error> validate() const;
  friend bool operator==(const ThreadPlacement&, const ThreadPlacement&) = default;
};

/// Threads of a session that run no lane.
enum class SupportThreadRole : std::uint8_t {
  kController = 0,  ///< Starts, watches and stops the session.
  kChannelPump,     ///< Serves the links to other processes.
};

}  // namespace weftline
