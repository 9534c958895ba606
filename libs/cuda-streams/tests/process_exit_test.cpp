// SPDX-License-Identifier: Apache-2.0
#include "process_exit.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

namespace weftline::cuda_streams {

TEST_CASE("exit handlers registered before the watch see that the process exits, nobody earlier") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::atexit([] { _exit(process_exit_has_begun() ? 42 : 1); });
    watch_process_exit();
    watch_process_exit();
    std::exit(process_exit_has_begun() ? 2 : 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}

}  // namespace weftline::cuda_streams
