// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/runtime/run_session.hpp"
#include "weftline/runtime/thread_placement_report.hpp"

namespace weftline::runtime {

/// Takes the calling thread to its place, as far as the system lets it, and reads back where it is.
/// What is asked for is known to be valid (ThreadPlacement::validate()). Nothing asked: only reads,
/// and the thread stays as its maker's attributes have it. Cold; some system calls.
[[nodiscard]] ThreadPlacementReport place_this_thread(std::string thread,
                                                      const std::optional<ThreadPlacement>& asked);

/// What a session does with a report: fails by the first refusal where the placement says so, else
/// adds each as a warning. A preferred isolation that is missing is a warning always.
[[nodiscard]] expected<void, Error> admit_placement(const ThreadPlacementReport& report,
                                                    std::vector<RunDiagnostic>& warnings);

/// Reads the kernel's form of a set of CPUs, "2-3,8"; nothing where it is none. "" is the empty
/// set.
[[nodiscard]] std::optional<CpuAffinity> parse_cpu_list(std::string_view text);
/// The CPUs that are in both.
[[nodiscard]] CpuAffinity common_cpus(const CpuAffinity& one, const CpuAffinity& other);
/// How often the system has taken that thread's CPU because it waited; nothing once it is gone.
[[nodiscard]] std::optional<std::uint64_t> voluntary_switches(std::uint32_t thread_id);

}  // namespace weftline::runtime
