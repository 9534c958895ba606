// SPDX-License-Identifier: Apache-2.0
#include "process_exit.hpp"

#include <atomic>
#include <cstdlib>

namespace weftline::cuda_streams {
namespace {

constinit std::atomic<bool> exit_has_begun{false};

}  // namespace

void watch_process_exit() noexcept {
  [[maybe_unused]] static const int kRegistered = std::atexit([] { exit_has_begun = true; });
}

bool process_exit_has_begun() noexcept { return exit_has_begun; }

}  // namespace weftline::cuda_streams
