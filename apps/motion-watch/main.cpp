// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph.hpp"
#include "job_arguments.hpp"
#include "output_folder.hpp"
#include "png_writer.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "run_report.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/plan/plan_json.hpp"
#include "weftline/runtime/run_counters_text.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/runtime/run_trace.hpp"
#include "whole_file.hpp"

namespace motion_watch {
namespace {

/// Of each lane, with --observe: the last seconds of a run.
constexpr std::uint32_t kTraceEvents = 16'384;

/// What the user got wrong or the machine can't do: one line on stderr, exit code 2.
struct Refusal {
  std::string text{};
};

tl::expected<std::optional<weftline::DeviceId>, Refusal> choose_device(
    const std::string& name, const weftline::DeviceCatalog& catalog) {
  if (name == "host") return std::nullopt;
  auto device = weftline::DeviceId::parse(name);
  if (!device)
    return tl::make_unexpected(Refusal{"--device " + name + ": use host, emulated:N or cuda:N"});
  if (catalog.find(*device) != nullptr) return *device;
  std::string known = "host";
  for (const auto& each : catalog.devices) known += ", " + each.id.to_string();
  std::string text = "--device " + name + ": there is no such device here; there are " + known;
  // A build or a machine without CUDA says so when asked for the device.
  const auto opened = weftline::open_device(*device);
  if (!opened && opened.error().code == weftline::ErrorCode::kNotSupported) {
    text += ". " + opened.error().message;
  }
  return tl::make_unexpected(Refusal{std::move(text)});
}

std::shared_ptr<std::atomic<bool>> interrupted_flag;

void on_signal(int) { interrupted_flag->store(true, std::memory_order_relaxed); }

/// The first interrupt ends the source, and the run ends by itself; a second one kills as usual.
void handle_interrupts(std::shared_ptr<std::atomic<bool>> flag) {
  static_assert(std::atomic<bool>::is_always_lock_free, "stored from a signal handler");
  interrupted_flag = std::move(flag);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// All of the results or none.
tl::expected<void, Refusal> write_results(const std::filesystem::path& out,
                                          const weftline::ExecutionPlan& plan,
                                          const JobState& state, ReportData& report,
                                          const std::string& trace_json) {
  auto png = encode_png(state.sheet->render());
  if (!png) return tl::make_unexpected(Refusal{std::move(png).error()});
  report.contact_sheet_png = std::move(*png);
  const std::string plan_json = plan.json() + "\n";
  const std::string page = render_report(report);
  std::vector<WholeFile> files{{out / "contact-sheet.png", report.contact_sheet_png},
                               {out / "plan.json", plan_json},
                               {out / "report.html", page}};
  if (!trace_json.empty()) files.push_back({out / "trace.json", trace_json});
  auto written = write_whole_files(files);
  if (!written) return tl::make_unexpected(Refusal{std::move(written).error()});
  return {};
}

/// An interrupt ends the source, and what is on its way is finished. A run that waits for a
/// recorder before the first frame, or for one that reads no more, is stopped then.
void wait_for_end(weftline::RunSession& session, const JobState& state, ProgressLine& progress) {
  constexpr std::chrono::milliseconds kTick{250};
  constexpr int kPatience = 12;
  std::uint64_t completed = 0;
  int ticks_without_progress = 0;
  while (!session.wait_until(std::chrono::steady_clock::now() + kTick)) {
    progress.update(*state.stats, session.counters());
    if (!state.interrupted->load(std::memory_order_relaxed)) continue;
    const std::uint64_t completed_now = state.stats->completed();
    ticks_without_progress = completed_now == completed ? ticks_without_progress + 1 : 0;
    completed = completed_now;
    if (state.stats->captured() == 0 || ticks_without_progress == kPatience) session.request_stop();
  }
}

tl::expected<int, Refusal> run_job(const JobArguments& arguments) {
  const SourceOptions source{arguments.input, arguments.frames, arguments.realtime};
  auto opened = open_source(source);
  if (!opened) return tl::make_unexpected(Refusal{std::move(opened).error()});

  const weftline::DeviceCatalog devices = weftline::capture_device_catalog();
  auto device = choose_device(arguments.device, devices);
  if (!device) return tl::make_unexpected(std::move(device).error());
  auto out = OutputFolder::prepare(arguments.out);
  if (!out) return tl::make_unexpected(Refusal{std::move(out).error()});

  const JobOptions job{source, (*opened)->geometry(), (*opened)->frame_rate(), *device,
                       arguments.attach_wait};
  opened->reset();
  JobState state(job.geometry);
  handle_interrupts(state.interrupted);
  const weftline::ExecutionPlan plan = compile_job(job, state, devices);
  if (!plan.ok())
    return tl::make_unexpected(Refusal{weftline::format_diagnostics(plan.diagnostics())});
  if (auto saved = out->save_catalog(plan.endpoint_catalog()); !saved) {
    return tl::make_unexpected(Refusal{std::move(saved).error()});
  }

  const std::string input = arguments.input.empty() ? "synthetic scene" : arguments.input.string();
  std::printf("%s  %ux%u  on %s\n", input.c_str(), job.geometry.width, job.geometry.height,
              arguments.device.c_str());
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  weftline::RunOptions options;
  if (arguments.observe) options.observe = {.latencies = true, .trace_events = kTraceEvents};
  weftline::RunSession session = weftline::run_async(plan, options);
  ProgressLine progress;
  wait_for_end(session, state, progress);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const weftline::RunCounters counters = session.counters();
  if (session.termination() == weftline::RunTermination::kFailed) {
    std::string why = state.stats->source_failure();
    if (why.empty()) why = session.diagnostics().front().to_string();
    return tl::make_unexpected(Refusal{std::move(why)});
  }
  progress.finish(*state.stats, counters);
  if (session.termination() == weftline::RunTermination::kStopped) {
    const std::uint64_t lost = state.stats->captured() - state.stats->completed();
    std::printf("stopped  %llu frames on their way were not finished\n",
                static_cast<unsigned long long>(lost));
  }

  ReportData report;
  report.title = "motion-watch: " + arguments.input.filename().string();
  if (arguments.input.empty()) report.title = "motion-watch: synthetic scene";
  report.run = {input,
                arguments.device,
                arguments.realtime ? "realtime" : "max",
                state.stats->completed(),
                seconds,
                state.stats->dropped()};
  LatencyHistogram latency;
  state.stats->latency(latency);
  report.latency = summarize(latency);
  describe_plan(plan, counters, report);
  std::string trace_json;
  if (arguments.observe) {
    trace_json = weftline::chrome_trace_json(plan.records(), session.trace());
    std::printf("\n%s", weftline::render_run_counters(plan.records(), counters).c_str());
  }
  if (auto written = write_results(out->path(), plan, state, report, trace_json); !written) {
    return tl::make_unexpected(std::move(written).error());
  }
  out->keep();
  std::printf("\n%s\nreport   %s\n", summary_table(report).c_str(),
              (out->path() / "report.html").c_str());
  return 0;
}

}  // namespace
}  // namespace motion_watch

int main(int argc, char** argv) {
  const auto arguments = motion_watch::parse_arguments(argc, argv);
  if (!arguments) {
    const auto& end = arguments.error();
    if (end.exit_code == 0) {
      std::fputs(end.text.c_str(), stdout);
    } else {
      std::fprintf(stderr, "motion-watch: %s\n", end.text.c_str());
    }
    return end.exit_code;
  }
  const auto result = motion_watch::run_job(*arguments);
  if (!result) {
    std::fprintf(stderr, "motion-watch: %s\n", result.error().text.c_str());
    return 2;
  }
  return *result;
}
