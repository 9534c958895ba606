// SPDX-License-Identifier: Apache-2.0
//
// A run ends at a seeded random point, in every way there is; nothing is left of it, and what it
// says of itself is right. WEFTLINE_SHUTDOWN_SEED says with which seed to begin (1), and
// WEFTLINE_SHUTDOWN_RUNS how many there are (300). In a program that replaces operator new.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <optional>
#include <random>

#include "channel_folder.hpp"
#include "process_census.hpp"
#include "staged_graph.hpp"
#include "weftline/testing/counted_new.hpp"

using namespace test;
using weftline::LifecycleStage;
using weftline::RunTermination;

namespace {

std::uint64_t number_of_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

enum class Stop { kHere, kElsewhere, kDestroy };

/// One way of ending.
struct Ending {
  std::string point{};
  Points::Act act{Points::Act::kNothing};
  Stop stop{Stop::kHere};
  bool in_activation{false};
  bool while_taken_down{false};
};

Ending draw(std::mt19937& random) {
  Ending ending;
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random()) % count; };
  const std::string& who = kStagedNames[pick(kStagedNames.size())];
  ending.stop = static_cast<Stop>(pick(3));
  ending.in_activation = pick(2) == 0;
  if (ending.in_activation) {
    ending.point = "compute " + who + " " + std::to_string(1 + pick(StagedFrames::kFrames));
    constexpr std::array kActs{Points::Act::kUntilCancelled, Points::Act::kFail,
                               Points::Act::kThrow, Points::Act::kThrowInt, Points::Act::kSucceed};
    ending.act = kActs[pick(kActs.size())];
  } else {
    const LifecycleStage stage = kLifecycleStages[pick(kLifecycleStages.size())];
    ending.point = std::string(lifecycle_stage_name(stage)) + " " + who;
    ending.while_taken_down = !weftline::is_lifecycle_forward_stage(stage);
    ending.act = pick(2) == 0 ? Points::Act::kUntilCancelled : Points::Act::kFail;
  }
  return ending;
}

RunTermination expected_of(const Ending& ending) {
  switch (ending.act) {
    case Points::Act::kUntilCancelled:
      return ending.while_taken_down ? RunTermination::kCompleted : RunTermination::kStopped;
    case Points::Act::kSucceed:
      return RunTermination::kCompleted;
    default:
      return RunTermination::kFailed;
  }
}

/// What is wrong with the run; empty when nothing is.
std::string run_and_end(const weftline::ExecutionPlan& plan, const CurrentPoints& current,
                        const weftline::RunOptions& options, const Ending& ending) {
  Points points(ending.point, ending.act);
  *current = &points;
  std::string wrong;
  {
    std::optional<weftline::RunSession> session(weftline::run_async(plan, options));
    if (ending.act == Points::Act::kUntilCancelled) {
      if (!points.wait_until_reached()) wrong += "the point was never reached\n";
      if (ending.stop == Stop::kHere) session->request_stop();
      if (ending.stop == Stop::kElsewhere) std::thread([&] { session->request_stop(); }).join();
      if (ending.stop == Stop::kDestroy) session.reset();
    }
    if (session) {
      const RunTermination termination = run_to_end(*session);
      if (termination != expected_of(ending))
        wrong += "it is " + std::string(run_termination_name(termination)) + "\n";
      const auto diagnostics = session->diagnostics();
      const bool failed = expected_of(ending) == RunTermination::kFailed;
      if (diagnostics.size() != (failed ? 1U : 0U)) {
        wrong += std::to_string(diagnostics.size()) + " diagnostics\n";
      } else if (failed) {
        const std::size_t blank = ending.point.find(' ');
        const std::string rest = ending.point.substr(blank + 1);
        const std::string place = ending.in_activation ? rest.substr(0, rest.find(' '))
                                                       : rest + "." + ending.point.substr(0, blank);
        if (diagnostics[0].place != place) wrong += "it failed at " + diagnostics[0].place + "\n";
      }
    }
  }
  const bool fails = ending.act != Points::Act::kUntilCancelled && !ending.in_activation;
  return wrong + taken_down_wrongly(points, fails ? ending.point : std::string());
}

}  // namespace

TEST_CASE("a run that ends at any point, in any way, leaves nothing and says how it ended") {
  const ChannelFolder folder;
  const weftline::RunOptions options{.channels = folder.options()};
  const auto current = std::make_shared<Points*>(nullptr);
  const auto plan = staged_plan(current);
  const std::uint64_t first = number_of_environment("WEFTLINE_SHUTDOWN_SEED", 1);
  const std::uint64_t runs = number_of_environment("WEFTLINE_SHUTDOWN_RUNS", 300);
  // Tables that libraries make once.
  for (const auto act : {Points::Act::kNothing, Points::Act::kFail, Points::Act::kThrow,
                         Points::Act::kThrowInt, Points::Act::kUntilCancelled}) {
    static_cast<void>(run_and_end(plan, current, options,
                                  {.point = "compute eater 1", .act = act, .in_activation = true}));
  }
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    const Ending ending = draw(random);
    INFO("seed " << seed << ": " << ending.point << ", act " << static_cast<int>(ending.act)
                 << ", stop " << static_cast<int>(ending.stop));
    bool right = false;
    const std::string left =
        left_behind([&] { right = run_and_end(plan, current, options, ending).empty(); });
    CHECK(left == "");
    if (!right) CHECK(run_and_end(plan, current, options, ending) == "");
    CHECK(right);
  }
}
