// SPDX-License-Identifier: Apache-2.0
#include "thread_placement.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <system_error>

namespace weftline::runtime {
namespace {

constexpr std::size_t kCpus = kMaximumCpu + 1;

std::string reason(int error) { return std::generic_category().message(error); }

std::string show(const CpuAffinity& cpus) {
  return cpus.ranges.empty() ? "none" : "CPUs " + cpus.to_string();
}

std::string show(const ThreadScheduling& scheduling) {
  if (scheduling.policy == SchedulingPolicy::kOther) return "ordinary time sharing";
  return std::string(scheduling.policy == SchedulingPolicy::kFifo ? "fifo" : "round robin") +
         " with priority " + std::to_string(scheduling.priority);
}

/// The system's set of CPUs, for all numbers that there may be.
class CpuSet {
 public:
  CpuSet() : set_(CPU_ALLOC(kCpus)) { CPU_ZERO_S(size(), set_.get()); }
  explicit CpuSet(const CpuAffinity& cpus) : CpuSet() {
    for (const CpuRange range : cpus.ranges) {
      for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu) {
        CPU_SET_S(cpu, size(), set_.get());
      }
    }
  }
  [[nodiscard]] static std::size_t size() noexcept { return CPU_ALLOC_SIZE(kCpus); }
  [[nodiscard]] cpu_set_t* get() const noexcept { return set_.get(); }
  [[nodiscard]] CpuAffinity cpus() const {
    CpuAffinity found;
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
      if (!CPU_ISSET_S(cpu, size(), set_.get())) continue;
      if (!found.ranges.empty() && found.ranges.back().last + 1 == cpu) {
        found.ranges.back().last = cpu;
      } else {
        found.ranges.push_back({cpu, cpu});
      }
    }
    return found;
  }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
};

CpuAffinity own_affinity() {
  const CpuSet set;
  if (::sched_getaffinity(0, CpuSet::size(), set.get()) != 0) return {};
  return set.cpus();
}

ThreadScheduling own_scheduling() {
  sched_param parameters{};
  static_cast<void>(::sched_getparam(0, &parameters));
  switch (::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) {
    case SCHED_FIFO:
      return {SchedulingPolicy::kFifo, parameters.sched_priority};
    case SCHED_RR:
      return {SchedulingPolicy::kRoundRobin, parameters.sched_priority};
    default:
      return {};
  }
}

CpuAffinity isolated_cpus() {
  std::ifstream file("/sys/devices/system/cpu/isolated");
  std::string line;
  std::getline(file, line);
  return parse_cpu_list(line).value_or(CpuAffinity{});
}

void refuse(ThreadPlacementReport& report, ErrorCode code, std::string_view token,
            std::string message) {
  report.refused.push_back({code, token, std::move(message), 0});
}

/// The system takes what of the set there is and the process may have, so it has to be read back.
void take_affinity(const CpuAffinity& asked, ThreadPlacementReport& report) {
  const CpuSet set(asked);
  const int error = ::sched_setaffinity(0, CpuSet::size(), set.get()) == 0 ? 0 : errno;
  CpuAffinity given = own_affinity();
  if (error == 0 && given == asked) return;
  refuse(report, ErrorCode::kNotSupported, "RUN_AFFINITY_REFUSED",
         "asked for " + show(asked) +
             (error == 0 ? ", this process may use only " + show(given) + " of them"
                         : ", this process may use none of them (" + reason(error) + "); it has " +
                               show(given)) +
             "; name CPUs of this machine, or widen the process's cpuset");
  if (error == 0) {
    report.accepted.affinity = std::move(given);
  } else {
    report.accepted.affinity.reset();
  }
}

void take_scheduling(const ThreadScheduling& asked, ThreadPlacementReport& report) {
  sched_param parameters{};
  parameters.sched_priority = asked.priority;
  int policy = SCHED_OTHER;
  if (asked.policy == SchedulingPolicy::kFifo) policy = SCHED_FIFO;
  if (asked.policy == SchedulingPolicy::kRoundRobin) policy = SCHED_RR;
  // For this thread alone: what it makes is ordinary again.
  if (asked.policy != SchedulingPolicy::kOther) policy |= SCHED_RESET_ON_FORK;
  if (::sched_setscheduler(0, policy, &parameters) == 0) return;
  const int error = errno;
  rlimit limit{};
  static_cast<void>(::getrlimit(RLIMIT_RTPRIO, &limit));
  refuse(report, ErrorCode::kPermissionDenied, "RUN_SCHEDULING_REFUSED",
         "asked for " + show(asked) + ", the system refused (" + reason(error) +
             "); give the process CAP_SYS_NICE, or RLIMIT_RTPRIO of at least " +
             std::to_string(asked.priority) + " (it is " + std::to_string(limit.rlim_cur) + ")");
  report.accepted.scheduling = own_scheduling();
}

void check_isolation(const CpuAffinity& asked, ThreadPlacementReport& report) {
  const CpuAffinity common = common_cpus(asked, report.observed.isolated);
  if (common == asked) return;
  refuse(report, ErrorCode::kNotSupported, "RUN_ISOLATION_MISSING",
         "asked for isolation of " + show(asked) + ", isolated of them: " + show(common) +
             " (/sys/devices/system/cpu/isolated); boot with isolcpus= for the others, or name "
             "isolated ones");
  report.accepted.irq_isolation = IrqIsolation::kNotRequested;
}

}  // namespace

std::optional<CpuAffinity> parse_cpu_list(std::string_view text) {
  CpuAffinity cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& value) {
    const auto read = std::from_chars(at, end, value);
    at = read.ptr;
    return read.ec == std::errc{};
  };
  while (at != end) {
    if (!cpus.ranges.empty() && *at++ != ',') return {};
    CpuRange range;
    if (!number(range.first)) return {};
    range.last = range.first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(range.last)) return {};
    }
    cpus.ranges.push_back(range);
  }
  if (!cpus.ranges.empty() && !cpus.validate()) return {};
  return cpus;
}

CpuAffinity common_cpus(const CpuAffinity& one, const CpuAffinity& other) {
  const CpuSet first(one);
  const CpuSet second(other);
  const CpuSet both;
  CPU_AND_S(CpuSet::size(), both.get(), first.get(), second.get());
  return both.cpus();
}

ThreadPlacementReport place_this_thread(std::string thread,
                                        const std::optional<ThreadPlacement>& asked) {
  ThreadPlacementReport report;
  report.thread = std::move(thread);
  if (asked) {
    report.requested = *asked;
    report.accepted = *asked;
    if (asked->affinity) take_affinity(*asked->affinity, report);
    if (own_scheduling() != asked->scheduling) take_scheduling(asked->scheduling, report);
  }
  ThreadObservation& observed = report.observed;
  observed.thread_id = static_cast<std::uint32_t>(::gettid());
  observed.affinity = own_affinity();
  observed.scheduling = own_scheduling();
  observed.isolated = common_cpus(observed.affinity, isolated_cpus());
  observed.cpu = static_cast<std::uint32_t>(std::max(::sched_getcpu(), 0));
  if (asked && asked->affinity && asked->irq_isolation != IrqIsolation::kNotRequested) {
    check_isolation(*asked->affinity, report);
  }
  return report;
}

expected<void, Error> admit_placement(const ThreadPlacementReport& report,
                                      std::vector<RunDiagnostic>& warnings) {
  for (const Error& refusal : report.refused) {
    const bool preferred = refusal.token == "RUN_ISOLATION_MISSING" &&
                           report.requested.irq_isolation == IrqIsolation::kPreferIsolated;
    if (report.requested.probe_failure_policy == ProbeFailurePolicy::kFailAdmission && !preferred) {
      return make_unexpected(refusal);
    }
    warnings.push_back({report.thread, refusal});
  }
  return {};
}

std::optional<std::uint64_t> voluntary_switches(std::uint32_t thread_id) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread_id) + "/status");
  constexpr std::string_view kKey = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    const auto digits = line.find_first_of("0123456789");
    std::uint64_t count = 0;
    if (digits == std::string::npos) return {};
    std::from_chars(line.data() + digits, line.data() + line.size(), count);
    return count;
  }
  return {};
}

}  // namespace weftline::runtime
