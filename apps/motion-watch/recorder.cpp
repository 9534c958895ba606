// SPDX-License-Identifier: Apache-2.0
// motion-recorder: subscribes to the events of motion-watch from a process of its own and writes
// one JSON object a line.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "event_type.hpp"
#include "weftline/channel/channel_runtime.hpp"

namespace motion_watch {
namespace {

using Clock = std::chrono::steady_clock;

volatile sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = 1; }

struct RecorderArguments {
  std::string catalog{};
  std::string endpoint{"events"};
  std::string out{};
  std::uint32_t wait_ms{0};
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

void write_event(std::FILE* file, const MotionEvent& event) {
  std::fprintf(file, "{\"frame\":%llu,\"capture_ns\":%lld,\"regions\":%u,\"boxes\":[",
               static_cast<unsigned long long>(event.frame_id),
               static_cast<long long>(event.capture_time_ns), event.total_regions);
  for (std::uint32_t index = 0; index < event.box_count && index < kMaxBoxes; ++index) {
    const Box& box = event.boxes[index];
    std::fprintf(file, "%s[%u,%u,%u,%u]", index == 0 ? "" : ",", box.x, box.y, box.w, box.h);
  }
  std::fputs("]}\n", file);
}

int refuse(const std::string& text) {
  std::fprintf(stderr, "motion-recorder: %s\n", text.c_str());
  return 2;
}

/// The other program writes the catalog when it starts, which may be after us.
weftline::expected<weftline::ChannelEndpointCatalog, weftline::Error> load_catalog(
    const RecorderArguments& arguments) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(arguments.wait_ms);
  for (;;) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(arguments.catalog, ignored);
    if (there || Clock::now() >= deadline || interrupted != 0) {
      return weftline::ChannelEndpointCatalog::load_json(arguments.catalog);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int record(const RecorderArguments& arguments) {
  auto catalog = load_catalog(arguments);
  if (!catalog) return refuse(catalog.error().message);
  auto runtime = weftline::ChannelRuntime::create();
  if (!runtime) return refuse(runtime.error().message);
  auto subscriber = runtime->create_subscriber<MotionEvent>(*catalog, arguments.endpoint);
  if (!subscriber) return refuse(subscriber.error().message);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(arguments.out.c_str(), "w"));
  if (!file)
    return refuse("cannot write " + arguments.out + "; name a file in a folder that exists");

  std::uint64_t events = 0;
  while (interrupted == 0) {
    auto sample = subscriber->receive_sample();
    if (!sample && sample.error().code == weftline::ErrorCode::kNotReady) {
      std::fflush(file.get());
      // A short bound, so that an interrupt is seen.
      sample = subscriber->wait_and_receive_sample(Clock::now() + std::chrono::milliseconds(200));
      if (!sample && sample.error().code == weftline::ErrorCode::kTimeout) continue;
    }
    if (!sample) {
      if (sample.error().code == weftline::ErrorCode::kClosed) break;  // the end of the stream
      return refuse("the stream broke after " + std::to_string(events) +
                    " events: " + sample.error().to_string());
    }
    write_event(file.get(), sample->data);
    ++events;
  }
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) {
    return refuse("cannot write all of " + arguments.out + "; is the disk full?");
  }
  std::printf("recorded %llu events in %s\n", static_cast<unsigned long long>(events),
              arguments.out.c_str());
  return 0;
}

}  // namespace
}  // namespace motion_watch

int main(int argc, char** argv) {
  motion_watch::RecorderArguments arguments;
  CLI::App app{"Records the events of motion-watch as JSON lines, until the end of the stream."};
  app.add_option("--catalog", arguments.catalog,
                 "catalog.json in the output folder of motion-watch")
      ->required();
  app.add_option("--endpoint", arguments.endpoint, "endpoint of the catalog")
      ->capture_default_str();
  app.add_option("--out", arguments.out, "file to write")->required();
  app.add_option("--wait", arguments.wait_ms, "milliseconds to wait for the catalog to appear")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    return motion_watch::refuse(std::string(error.what()) + "; see --help");
  }
  struct sigaction action {};
  action.sa_handler = motion_watch::on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return motion_watch::record(arguments);
}
