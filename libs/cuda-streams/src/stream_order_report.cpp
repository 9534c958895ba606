// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/stream_order_report.hpp"

namespace weftline {
namespace {

const std::string kHost = "the host";

std::string describe(const StreamOrderReport::Side& side) {
  std::string text = side.operation + (side.use == MemoryUse::kWrite ? " (write)" : " (read)") +
                     (side.place == kHost ? " by " : " on ") + side.place;
  if (!side.activity.empty()) {
    text += " [" + side.activity + "]";
  }
  return text;
}

}  // namespace

std::string StreamOrderReport::missing_edge() const {
  if (earlier.open) {
    return "the " + earlier.operation +
           " is not over: the earlier side commits, or drops its last handle, before the later one "
           "begins";
  }
  if (later.place == kHost) {
    return "the host has not seen the " + earlier.operation + " complete: record an event on " +
           earlier.place + " after it, and synchronize with the event before the later use";
  }
  return "nothing makes " + later.place + " wait for the " + earlier.operation +
         ": record an event on " + earlier.place + " after it, and let " + later.place +
         " wait for the event before the later use";
}

std::string StreamOrderReport::to_string() const {
  return "stream order: " + describe(later) + " is not ordered after " + describe(earlier) +
         " of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " in " + memory +
         ". Missing: " + missing_edge() + ".";
}

}  // namespace weftline
