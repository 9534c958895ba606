// SPDX-License-Identifier: Apache-2.0
// What the lanes of a polling steady state allocate and ask of the system. The run is made in a
// child process; the parent traces it and counts the system calls of its lanes between two marks.
// A trace does not slow code that makes none.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <stdexcept>

#include "bench_graph.hpp"
// Nothing in this program that is measured allocates, so the shared counter costs nothing.
#include "weftline/testing/counted_new.hpp"

namespace weftline::bench {
namespace {

/// What a thread calls to mark a point of the trace: no kernel knows this option.
constexpr unsigned long kMark = 0x77656674;

/// Of the child, in memory that both see.
struct Report {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<bool> failed{false};
};

class Count final : public Operator<> {
 public:
  explicit Count(std::atomic<std::uint64_t>* count) : count_(count) {}
  Input<std::int32_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_TRY(in.receive());
    count_->fetch_add(1, std::memory_order_relaxed);
    return {};
  }

 private:
  std::atomic<std::uint64_t>* const count_;
};

void run_between_marks(Report& report, std::uint64_t frames) {
  Graph graph{"steady"};
  std::atomic<std::uint64_t> count{0};
  const auto source = graph.op<Ticker>("source", kAlways, std::uint64_t{0});
  const auto near_relay = graph.op<Relay>("near");
  const auto far_relay = graph.op<Relay>("far");
  const auto sink = graph.op<Count>("sink", &count);
  graph.add_flow(source->out, near_relay->in, {.queue_depth = 8});
  graph.add_flow(near_relay->out, far_relay->in, {.queue_depth = 8});
  graph.add_flow(far_relay->out, sink->in, {.queue_depth = 8});
  graph.partition("from").add(source).add(near_relay);
  graph.partition("to").add(far_relay).add(sink);
  CompileOptions options;
  place(options, "from", WakeMode::kBusyPoll, 0, 2);
  place(options, "to", WakeMode::kBusyPoll, 1, 2);
  RunSession session = run_async(compiled(graph, options));
  const auto wait_for = [&](std::uint64_t target) {
    while (count.load(std::memory_order_relaxed) < target) {
      if (session.termination() != RunTermination::kRunning) throw std::runtime_error("run ended");
    }
  };
  wait_for(frames / 4);
  const std::uint64_t first = count.load(std::memory_order_relaxed);
  const std::uint64_t allocated = testing::allocations_of_all_threads();
  syscall(SYS_prctl, kMark, 1);
  wait_for(first + frames);
  syscall(SYS_prctl, kMark, 0);
  report.allocations = testing::allocations_of_all_threads() - allocated;
  report.frames = count.load(std::memory_order_relaxed) - first;
  session.request_stop();
  session.wait();
}

[[noreturn]] void child(Report& report, int go, std::uint64_t frames) {
  char byte = 0;
  if (read(go, &byte, 1) != 1) _exit(1);  // the parent traces from here on
  try {
    run_between_marks(report, frames);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "steady state: %s\n", error.what());
    report.failed = true;
  }
  _exit(0);
}

/// Calls by number, made between the marks by threads other than the first.
using Calls = std::map<std::uint64_t, std::uint64_t>;

Calls trace(pid_t traced, int go) {
  constexpr unsigned long kOptions =
      PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, traced, nullptr, kOptions) != 0) {
    kill(traced, SIGKILL);
    waitpid(traced, nullptr, 0);
    throw std::runtime_error("this system does not let a process trace its own child");
  }
  ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr);
  if (write(go, "g", 1) != 1) throw std::runtime_error("the child is gone");
  Calls calls;
  bool counting = false;
  for (;;) {
    int status = 0;
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return calls;
    if (!WIFSTOPPED(status)) continue;
    int signal = 0;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      __ptrace_syscall_info info{};
      ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        const bool mark = info.entry.nr == SYS_prctl && info.entry.args[0] == kMark;
        if (mark) counting = info.entry.args[1] == 1;
        if (counting && thread != traced) ++calls[info.entry.nr];
      }
    } else if (status >> 16 == 0) {
      signal = WSTOPSIG(status);
    }
    ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
  }
}

}  // namespace

std::vector<BenchRow> measure_steady_state(bool quick) {
  const std::uint64_t frames = quick ? 100'000 : 2'000'000;
  void* const shared =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared page");
  auto& report = *new (shared) Report;
  std::array<int, 2> go{};
  if (pipe(go.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t process = fork();
  if (process == 0) child(report, go[0], frames);
  const Calls calls = trace(process, go[1]);
  close(go[0]);
  close(go[1]);
  if (report.failed || report.frames == 0) throw std::runtime_error("the traced run failed");

  const auto counted = static_cast<double>(report.frames.load());
  std::uint64_t total = 0;
  std::string by_number;
  for (const auto& call : calls) {
    total += call.second;
    by_number += (by_number.empty() ? "; by number: " : ", ") + std::to_string(call.first) + ": " +
                 std::to_string(call.second);
  }
  const std::string note = std::to_string(report.frames.load()) +
                           " frames through 4 operators in 2 polling lanes, between two marks; ";
  std::vector<BenchRow> rows{
      {.name = "plan-runtime: heap allocations in a polling steady state",
       .unit = "allocations/frame",
       .value = static_cast<double>(report.allocations.load()) / counted,
       .target = "0",
       .note = note + std::to_string(report.allocations.load()) +
               " calls of operator new in all threads; " + placement_note(2)},
      {.name = "plan-runtime: system calls in a polling steady state",
       .unit = "calls/frame",
       .value = static_cast<double>(total) / counted,
       .target = "0",
       .note = note + std::to_string(total) + " calls of the lanes, counted by ptrace" + by_number +
               "; " + placement_note(2)}};
  munmap(shared, sizeof(Report));
  return rows;
}

}  // namespace weftline::bench
