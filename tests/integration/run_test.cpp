// SPDX-License-Identifier: Apache-2.0
//
// run() and the shutdown signals of a process. What needs a process of its own is a hidden test
// case of this program, started anew: its exit status is run()'s.
#include "weftline/runtime/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"
#include "weftline/runtime/managed_shutdown_signals.hpp"

using namespace test;
using weftline::Graph;
using weftline::ManagedShutdownSignals;
using weftline::run;
using weftline::RunSignalPolicy;

namespace {

weftline::ExecutionPlan doing(Scripted::Script script) {
  Graph graph{"run"};
  graph.op<Scripted>("op", std::move(script));
  return compiled(graph);
}
weftline::ExecutionPlan succeeding() {
  return doing([](ExecutionContext& context) {
    context.request_success();
    return expected<void, Error>{};
  });
}
/// Says so at its first activation, and never ends.
weftline::ExecutionPlan endless() {
  return doing([said = false](ExecutionContext&) mutable -> expected<void, Error> {
    if (!said && ::write(STDOUT_FILENO, "running\n", 8) != 8) return {};
    said = true;
    return {};
  });
}

/// A hidden test case of this program, in a process of its own.
class Child {
 public:
  explicit Child(const std::string& test_case) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string program = "/proc/self/exe";
    std::string name = test_case;
    std::array<char*, 3> arguments{program.data(), name.data(), nullptr};
    REQUIRE(::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments.data(),
                          environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(output_);
  }

  /// Reads until the text has come; false when the process ended, or the watchdog fired, first.
  bool wait_for(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    while (text_.find(text) == std::string::npos) {
      pollfd readable{output_, POLLIN, 0};
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (::poll(&readable, 1, 100) <= 0) continue;
      std::array<char, 512> part{};
      const auto got = ::read(output_, part.data(), part.size());
      if (got <= 0) return false;
      text_.append(part.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  void send(int signal) const { ::kill(process_, signal); }
  /// The exit status; 1000 + signal when a signal ended it; -1 when the watchdog fired.
  int status() {
    static_cast<void>(wait_for("never written by a test"));
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    int status = 0;
    while (::waitpid(process_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) return -1;
      std::this_thread::yield();
    }
    process_ = -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  pid_t process_{-1};
  int output_{-1};
  std::string text_{};
};

}  // namespace

TEST_CASE("run says by its result how a run ended, and by name why it failed") {
  CHECK(run(succeeding(), RunSignalPolicy::kCallerManaged) == 0);
  CHECK(run(doing([](ExecutionContext&) -> expected<void, Error> {
              return weftline::fail(ErrorCode::kFailure, "TEST_BROKEN");
            }),
            RunSignalPolicy::kCallerManaged) == 1);
  Graph empty{"empty"};
  use_realtime_clock(empty);
  const auto nothing = weftline::compile(empty);
  REQUIRE(nothing.ok());
  CHECK(run(nothing, RunSignalPolicy::kCallerManaged) == 0);
  Graph rejected{"rejected"};
  CHECK(run(weftline::compile(rejected), RunSignalPolicy::kCallerManaged) == 1);
}

TEST_CASE("child: endless", "[.child]") { ::_exit(run(endless())); }

TEST_CASE("a shutdown signal is a stop") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  Child child("child: endless");
  REQUIRE(child.wait_for("running"));
  child.send(signal);
  CHECK(child.status() == 2);
}

TEST_CASE("child: early", "[.child]") {
  auto signals = ManagedShutdownSignals::create();
  REQUIRE(signals);
  std::thread([] {}).join();  // the domain was there first
  const auto plan = endless();
  ::kill(::getpid(), SIGTERM);
  ::_exit(run(plan));
}

TEST_CASE("a signal that comes before the run stops it at its beginning") {
  Child child("child: early");
  CHECK(child.status() == 2);
}

TEST_CASE("child: threads", "[.child]") {
  Gate gate;
  std::thread other([&] { gate.pass(); });
  REQUIRE(gate.wait_for_visitor());
  const auto refused = ManagedShutdownSignals::create();
  const bool named = !refused && refused.error().code == ErrorCode::kInvalidArgument &&
                     refused.error().token == "RUNTIME_MANAGED_SIGNAL_DOMAIN_THREADS";
  const int status = run(endless());
  gate.open();
  other.join();
  ::_exit(named ? status : 99);
}

TEST_CASE("managed signals are refused where another thread would get them") {
  Child child("child: threads");
  CHECK(child.status() == 1);
  CHECK(child.text().find("[RUNTIME_MANAGED_SIGNAL_DOMAIN_REQUIRED]") != std::string::npos);
  CHECK(child.text().find("running") == std::string::npos);
}

TEST_CASE("child: twice", "[.child]") {
  auto signals = ManagedShutdownSignals::create();
  REQUIRE(signals);
  const auto second = ManagedShutdownSignals::create();
  if (second || second.error().token != "RUNTIME_MANAGED_SIGNAL_DOMAIN_TAKEN") ::_exit(99);
  if (run(succeeding()) != 0) ::_exit(98);
  ::_exit(run(endless()));
}

TEST_CASE("a domain serves one run, and a process has one") {
  Child child("child: twice");
  CHECK(child.status() == 1);
  CHECK(child.text().find("has served a run") != std::string::npos);
}

TEST_CASE("child: given back", "[.child]") {
  ::signal(SIGTERM, SIG_DFL);  // not the test program's handler
  {
    auto signals = ManagedShutdownSignals::create();
    REQUIRE(signals);
  }
  if (run(succeeding()) != 0) ::_exit(99);  // with one of its own
  ::kill(::getpid(), SIGTERM);
  ::_exit(0);
}

TEST_CASE("after the custody a signal does again what it did before") {
  Child child("child: given back");
  CHECK(child.status() == 1000 + SIGTERM);
}

TEST_CASE("child: ignored", "[.child]") {
  ::signal(SIGINT, SIG_IGN);
  auto signals = ManagedShutdownSignals::create();
  REQUIRE(signals);
  ::kill(::getpid(), SIGINT);
  ::_exit(run(succeeding()));
}

TEST_CASE("an ignored signal that comes before a run does not stop it") {
  Child child("child: ignored");
  CHECK(child.status() == 0);
}
