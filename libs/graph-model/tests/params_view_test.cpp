// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/params_view.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdint>
#include <string>

#include "weftline/graph/param_set.hpp"

namespace {

struct Gains {
  std::int32_t left{4};
};
struct Others {
  std::int32_t left{5};
};

/// What the child says on its error output before it dies, and how it dies.
std::string last_words(void (*child)()) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t id = ::fork();
  if (id == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    child();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string words;
  std::array<char, 256> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    words.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(id, &status, 0);
  return words + (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? "aborted" : "lived");
}

}  // namespace

TEST_CASE("a view gives the parameters of the type that it holds") {
  const Gains gains{.left = 9};
  const weftline::ParamsView view{&gains, &typeid(Gains), 3};
  CHECK(view.as<Gains>().left == 9);
  CHECK(&view.as<Gains>() == &gains);
}

TEST_CASE("parameters of another type end the process, and the message names both") {
  const std::string wrong = last_words([] {
    const Gains gains;
    static_cast<void>(weftline::ParamsView{&gains, &typeid(Gains), 0}.as<Others>());
  });
  CHECK(wrong.find("Others>() was called in an operator that has those of") != std::string::npos);
  CHECK(wrong.find("Gains") != std::string::npos);
  CHECK(wrong.ends_with("aborted"));
  const std::string none =
      last_words([] { static_cast<void>(weftline::ParamsView{}.as<Others>()); });
  CHECK(none.find("an operator that has none") != std::string::npos);
  CHECK(none.ends_with("aborted"));
}
