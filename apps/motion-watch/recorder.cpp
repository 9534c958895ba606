// SPDX-License-Identifier: Apache-2.0
// motion-recorder: subscribes to the events of motion-watch from a process of its own and writes
// one JSON object a line. Exit status: 0 at the end of the stream, 1 when it was stopped before
// that, 2 when something is wrong.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "event_file.hpp"
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
  if (!catalog) {
    const bool missing = catalog.error().code == weftline::ErrorCode::kNotFound;
    return refuse(catalog.error().to_string() +
                  (missing ? "; start motion-watch, or pass --wait to wait for it" : ""));
  }
  auto runtime = weftline::ChannelRuntime::create();
  if (!runtime) return refuse(runtime.error().to_string());
  auto subscriber = runtime->create_subscriber<MotionEvent>(*catalog, arguments.endpoint);
  if (!subscriber) return refuse(subscriber.error().to_string());
  auto file = EventFile::create(arguments.out);
  if (!file) return refuse(file.error());

  std::uint64_t events = 0;
  bool ended = false;
  while (interrupted == 0 && !ended) {
    auto sample = subscriber->receive_sample();
    if (!sample && sample.error().code == weftline::ErrorCode::kNotReady) {
      if (auto written = file->flush(); !written) return refuse(written.error());
      // A short bound, so that an interrupt is seen.
      sample = subscriber->wait_and_receive_sample(Clock::now() + std::chrono::milliseconds(200));
      if (!sample && sample.error().code == weftline::ErrorCode::kTimeout) continue;
    }
    if (sample) {
      if (auto written = file->add(sample->data); !written) return refuse(written.error());
      ++events;
    } else if (sample.error().code == weftline::ErrorCode::kClosed) {
      ended = true;
    } else {
      (void)file->flush();
      return refuse("the stream broke after " + std::to_string(events) +
                    " events: " + sample.error().to_string());
    }
  }
  if (auto written = file->flush(); !written) return refuse(written.error());
  std::printf("recorded %llu events in %s%s\n", static_cast<unsigned long long>(events),
              arguments.out.c_str(), ended ? "" : "; stopped before the end of the stream");
  return ended ? 0 : 1;
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
