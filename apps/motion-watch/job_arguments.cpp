// SPDX-License-Identifier: Apache-2.0
#include "job_arguments.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>

namespace motion_watch {
namespace {

std::filesystem::path default_input() {
  namespace fs = std::filesystem;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path cache_root = cache != nullptr && *cache != '\0' ? fs::path(cache)
                              : home != nullptr                  ? fs::path(home) / ".cache"
                                                                 : fs::path();
  for (const fs::path& candidate : {fs::path("/usr/share/doc/opencv-doc/examples/data/vtest.avi"),
                                    cache_root / "weftline" / "vtest.avi"}) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  }
  return {};
}

/// Empty, or what is wrong with a number of frames.
std::string refuse_frames(const std::string& text) {
  std::uint64_t frames = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, frames);
  if (error == std::errc() && rest == end && frames > 0) return {};
  return "'" + text + "' is no number of frames; use 1 or more";
}

}  // namespace

tl::expected<JobArguments, ParseEnd> parse_arguments(int argc, const char* const* argv) {
  JobArguments arguments;
  std::string input;
  std::string speed = "realtime";
  std::string out = arguments.out.string();
  std::uint32_t attach_wait_ms = 0;

  CLI::App app{
      "Finds what moves in a video: boxes of moving regions, a preview, and one event per frame "
      "for\n"
      "other processes (see motion-recorder). A recorder that is attached and stops reading holds "
      "up\n"
      "the run; an interrupt ends it all the same."};
  app.add_option("--input", input,
                 "video file, or \"synthetic\" for a made-up scene (default: the sample video "
                 "vtest.avi where it\n"
                 "is found, else synthetic)");
  app.add_option("--device", arguments.device, "host, emulated:N or cuda:N")->capture_default_str();
  app.add_option("--speed", speed, "realtime: the rate of the video; max: as fast as it goes")
      ->check(CLI::IsMember({"realtime", "max"}))
      ->capture_default_str();
  app.add_option("--frames", arguments.frames, "stop after so many frames (default: all)")
      ->check(refuse_frames);
  app.add_option("--out", out, "folder for the results")->capture_default_str();
  app.add_option("--attach-wait", attach_wait_ms,
                 "milliseconds to wait for a recorder before the first frame; goes on without one")
      ->capture_default_str();
  app.add_flag(
      "--observe", arguments.observe,
      "keep latencies and a trace: print all counters at the end, and write trace.json, for\n"
      "ui.perfetto.dev, beside the results");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return tl::make_unexpected(ParseEnd{app.help(), 0});
  } catch (const CLI::ParseError& error) {
    return tl::make_unexpected(ParseEnd{std::string(error.what()) + "; see --help", 2});
  }
  arguments.realtime = speed == "realtime";
  arguments.out = out;
  arguments.attach_wait = std::chrono::milliseconds(attach_wait_ms);
  if (app.count("--input") == 0) {
    arguments.input = default_input();
  } else if (input.empty()) {
    return tl::make_unexpected(ParseEnd{"--input is empty; name a video file", 2});
  } else if (input != "synthetic") {
    arguments.input = input;
  }
  return arguments;
}

}  // namespace motion_watch
