// SPDX-License-Identifier: Apache-2.0
//
// Lanes are where the deployment puts them and wait as it says, or the run is refused, or says what
// it goes without.
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <optional>

#include "channel_folder.hpp"
#include "test_operators.hpp"

using namespace test;
using weftline::CpuAffinity;
using weftline::ProbeFailurePolicy;
using weftline::RunTermination;
using weftline::SchedulingPolicy;
using weftline::ThreadPlacement;
using weftline::WakeMode;

namespace {

/// What the sink's thread sees of itself: where it runs, under what policy, and how often it has
/// waited for something since its first sample.
struct Seen {
  std::atomic<int> cpu{-1};
  std::atomic<int> policy{-1};
  std::atomic<long> switches{0};
  std::atomic<std::uint64_t> samples{0};
};

class Looking final : public Operator<> {
 public:
  explicit Looking(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    rusage usage{};
    static_cast<void>(::getrusage(RUSAGE_THREAD, &usage));
    if (seen_->samples.load() == 0) before_ = usage.ru_nvcsw;
    seen_->switches.store(usage.ru_nvcsw - before_);
    seen_->cpu.store(::sched_getcpu());
    seen_->policy.store(::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK);
    seen_->samples.fetch_add(1);
    return {};
  }

 private:
  const std::shared_ptr<Seen> seen_;
  long before_{0};
};

/// Emits one sample a millisecond, so that the sink has to wait for each.
class Slow final : public Operator<> {
 public:
  explicit Slow(std::uint64_t count) : count_(count) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    return next_ == count_ ? out.close() : out.emit(next_++);
  }

 private:
  const std::uint64_t count_;
  std::uint64_t next_{0};
};

constexpr std::uint64_t kSamples = 20;

struct Placed {
  std::shared_ptr<Seen> seen{std::make_shared<Seen>()};
  weftline::ExecutionPlan plan;
};

/// A sink in a partition of its own, placed.
Placed placed(ThreadPlacement placement) {
  weftline::Graph graph{"placed"};
  use_realtime_clock(graph);
  auto seen = std::make_shared<Seen>();
  const auto source = graph.op<Slow>("source", kSamples);
  const auto sink = graph.op<Looking>("sink", seen);
  graph.add_flow(source->out, sink->in).queue_depth(kSamples);
  graph.partition("slow").add(source);
  graph.partition("looking").add(sink);
  weftline::CompileOptions options;
  options.devices.host_cpu_count = weftline::kMaximumCpu + 1;
  options.deployment.place_partition({"looking", std::move(placement)});
  auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return {std::move(seen), std::move(plan)};
}

weftline::ThreadPlacementReport report_of(
    const std::vector<weftline::ThreadPlacementReport>& reports, std::string_view thread) {
  for (const auto& report : reports) {
    if (report.thread == thread) return report;
  }
  throw std::runtime_error("no such thread");
}

/// The last CPU that this process may use.
std::uint32_t usable_cpu() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  for (std::uint32_t cpu = CPU_SETSIZE; cpu-- > 0;) {
    if (CPU_ISSET(cpu, &set)) return cpu;
  }
  return 0;
}

CpuAffinity beyond_the_machine() { return {{{weftline::kMaximumCpu, weftline::kMaximumCpu}}}; }

/// Takes from the calling thread what it would need for a real-time policy. False where the system
/// lets everybody have one.
bool give_up_real_time() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_RTPRIO, &limit) != 0 || limit.rlim_cur > 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  data[0].effective &= ~(1U << CAP_SYS_NICE);
  data[0].permitted &= ~(1U << CAP_SYS_NICE);
  data[0].inheritable &= ~(1U << CAP_SYS_NICE);
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

bool real_time_permitted() {
  bool permitted = false;
  std::thread([&] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    permitted = ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
  }).join();
  return permitted;
}

ThreadPlacement fifo(ProbeFailurePolicy policy) {
  return {.scheduling = {SchedulingPolicy::kFifo, 3}, .probe_failure_policy = policy};
}

}  // namespace

TEST_CASE("a placed lane runs its operators on its CPU, and says so before the run is armed") {
  const std::uint32_t cpu = usable_cpu();
  const Placed run = placed({.affinity = CpuAffinity{{{cpu, cpu}}}});
  const auto session = weftline::run_async(run.plan);
  const auto reports = session.thread_placements();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(run.seen->samples.load() == kSamples);
  CHECK(run.seen->cpu.load() == static_cast<int>(cpu));
  CHECK(session.warnings().empty());

  REQUIRE(reports.size() == 3);  // two lanes and the controller
  const auto report = report_of(reports, "partition looking");
  CHECK(report.requested.affinity == CpuAffinity{{{cpu, cpu}}});
  CHECK(report.accepted == report.requested);
  CHECK(report.observed.affinity == report.requested.affinity);
  CHECK(report.observed.cpu == cpu);
  // The others were not asked to move, and did not.
  CHECK(report_of(reports, "partition slow").observed.affinity ==
        report_of(reports, "the controller's thread").observed.affinity);
}

TEST_CASE("a lane on CPUs that are not there fails the session before it starts, or runs warned") {
  const Placed strict = placed({.affinity = beyond_the_machine()});
  const auto failed = weftline::run_async(strict.plan);
  CHECK(failed.termination() == RunTermination::kFailed);
  REQUIRE(failed.diagnostics().size() == 1);
  CHECK(failed.diagnostics()[0].place == "partition looking");
  CHECK(failed.diagnostics()[0].error.token == "RUN_AFFINITY_REFUSED");
  CHECK(strict.seen->samples.load() == 0);

  const Placed lenient =
      placed({.affinity = beyond_the_machine(),
              .probe_failure_policy = ProbeFailurePolicy::kWarnAndRecordFallback});
  const auto warned = weftline::run_async(lenient.plan);
  REQUIRE(warned.warnings().size() == 1);
  CHECK(warned.warnings()[0].place == "partition looking");
  CHECK(warned.warnings()[0].error.token == "RUN_AFFINITY_REFUSED");
  CHECK(run_to_end(warned) == RunTermination::kCompleted);
  CHECK(lenient.seen->samples.load() == kSamples);
}

TEST_CASE("a lane has its real-time policy where the system permits it") {
  if (!real_time_permitted()) SKIP("this process may not have a real-time policy");
  const Placed run = placed(fifo(ProbeFailurePolicy::kFailAdmission));
  const auto session = weftline::run_async(run.plan);
  const auto report = report_of(session.thread_placements(), "partition looking");
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(run.seen->policy.load() == SCHED_FIFO);
  CHECK(report.observed.scheduling == report.requested.scheduling);
}

TEST_CASE("a real-time policy that the system refuses fails the session, or is warned of") {
  const Placed strict = placed(fifo(ProbeFailurePolicy::kFailAdmission));
  const Placed lenient = placed(fifo(ProbeFailurePolicy::kWarnAndRecordFallback));
  std::optional<weftline::RunSession> failed;
  std::optional<weftline::RunSession> warned;
  std::thread([&] {
    if (!give_up_real_time()) return;  // lanes inherit it
    failed = weftline::run_async(strict.plan);
    warned = weftline::run_async(lenient.plan);
  }).join();
  if (!failed || !warned) SKIP("everybody may have a real-time policy here");
  REQUIRE(failed->diagnostics().size() == 1);
  CHECK(failed->diagnostics()[0].error.token == "RUN_SCHEDULING_REFUSED");
  CHECK(failed->diagnostics()[0].error.message.starts_with(
      "asked for fifo with priority 3, the system refused (Operation not permitted); "));
  CHECK(strict.seen->samples.load() == 0);

  CHECK(warned->warnings().size() == 1);
  CHECK(report_of(warned->thread_placements(), "partition looking").accepted.scheduling ==
        weftline::ThreadScheduling{});
  REQUIRE(run_to_end(*warned) == RunTermination::kCompleted);
  CHECK(lenient.seen->policy.load() == SCHED_OTHER);
}

TEST_CASE("a lane that polls never waits: no park, and no switch of its own will") {
  const Placed run = placed({.wake_mode = WakeMode::kBusyPoll});
  const auto session = weftline::run_async(run.plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(run.seen->samples.load() == kSamples);
  CHECK(run.seen->switches.load() == 0);
  for (const auto& lane : session.counters().lanes) {
    if (run.plan.execution_partitions()[lane.partition.value].name != "looking") continue;
    CHECK(lane.parks == 0);
    CHECK(lane.spin_wakes == 0);
  }
}

TEST_CASE("a lane that parks at once does not spin, and its sleeps are counted") {
  const Placed run = placed({.wake_mode = WakeMode::kPark});
  const auto session = weftline::run_async(run.plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  for (const auto& lane : session.counters().lanes) {
    if (run.plan.execution_partitions()[lane.partition.value].name != "looking") continue;
    CHECK(lane.spin_wakes == 0);
    CHECK(lane.parks > 0);
    CHECK(lane.wakes > 0);
    CHECK(lane.wakes <= lane.parks);
    CHECK(lane.voluntary_switches > 0);
  }
}

TEST_CASE("the controller and the channels' thread go where they are put") {
  const std::uint32_t cpu = usable_cpu();
  weftline::Graph graph{"support"};
  use_realtime_clock(graph);
  const auto source = graph.op<CountingSource>("source", 3);
  weftline::TopicOptions topic;
  topic.endpoint_name = "numbers";
  topic.attach.peer = weftline::PeerRequirement::kOptional;
  graph.add_flow(source->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", topic).input());
  weftline::CompileOptions options;
  options.devices.host_cpu_count = weftline::kMaximumCpu + 1;
  const CpuAffinity there{{{cpu, cpu}}};
  for (const auto role :
       {weftline::SupportThreadRole::kController, weftline::SupportThreadRole::kChannelPump}) {
    options.deployment.place_support_thread({role, there, ProbeFailurePolicy::kFailAdmission});
  }
  const ChannelFolder folder;
  const auto run = [&] {
    const auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return weftline::run_async(plan, {.channels = folder.options()});
  };
  {
    const auto session = run();
    const auto reports = session.thread_placements();
    REQUIRE(run_to_end(session) == RunTermination::kCompleted);
    CHECK(report_of(reports, "the controller's thread").observed.affinity == there);
    CHECK(report_of(reports, "the channels' thread").observed.affinity == there);
    const auto& lane = reports.at(1);
    CHECK(lane.thread.starts_with("partition "));
    if (std::thread::hardware_concurrency() > 1) CHECK(lane.observed.affinity != there);
  }
  options.deployment = {};
  options.deployment.place_support_thread({weftline::SupportThreadRole::kChannelPump,
                                           beyond_the_machine(),
                                           ProbeFailurePolicy::kFailAdmission});
  const auto failed = run();
  REQUIRE(failed.diagnostics().size() == 1);
  CHECK(failed.diagnostics()[0].place == "the channels' thread");
  CHECK(failed.diagnostics()[0].error.token == "RUN_AFFINITY_REFUSED");
}
