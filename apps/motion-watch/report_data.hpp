// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/runtime/latency_histogram.hpp"

namespace motion_watch {

using weftline::LatencyHistogram;

// What a report shows, as plain values. Every text may hold any characters; the report escapes
// them. Numbers that nobody knows are absent, never 0.

/// The run as a whole. Frames per second are derived from `frames` and `seconds`.
struct ReportRun {
  std::string input;
  std::string device;
  std::string speed;
  std::uint64_t frames = 0;
  double seconds = 0;
  std::uint64_t drops = 0;
};

/// Any further fact worth a line, for example the plan's digest.
struct ReportFact {
  std::string name;
  std::string value;
};

/// From the capture of a frame to its last sink.
struct ReportLatency : weftline::LatencySummary {
  std::vector<LatencyHistogram::Bucket> buckets;
};
ReportLatency summarize(const LatencyHistogram& histogram);

/// An operator of the plan. Names are unique.
struct ReportNode {
  std::string name;
  std::string partition;
  std::string device;
};

/// An edge between two ports. `from_node` and `to_node` are names of nodes.
struct ReportEdge {
  std::string from_node, from_port;
  std::string to_node, to_port;
  std::string payload;
  std::uint64_t depth = 0;
  std::string policy;
  std::uint64_t high_water = 0;
};

struct ReportPool {
  std::string name;
  std::string kind;
  std::string device;
  std::optional<std::uint64_t> slot_bytes;
  std::uint64_t slots = 0;
  std::optional<std::uint64_t> declared_bytes;
  std::uint64_t slots_high_water = 0;
};

/// Where the graph meets other processes. `node` is the name of the operator behind it.
struct ReportEndpoint {
  std::string name;
  bool is_export = true;
  std::string node;
  std::string payload;
  std::string attach;
  std::uint64_t samples = 0;
  std::uint64_t delivered = 0;
};

struct ReportDiagnostic {
  std::string severity;
  std::string token;
  std::string place;
  std::string message;
};

struct ReportData {
  std::string title;
  ReportRun run;
  std::vector<ReportFact> facts;
  ReportLatency latency;
  std::vector<ReportNode> nodes;
  std::vector<ReportEdge> edges;
  std::vector<ReportPool> pools;
  std::vector<ReportEndpoint> endpoints;
  std::vector<ReportDiagnostic> diagnostics;
  std::string contact_sheet_png;  ///< The bytes of a PNG file; empty if there is none.
};

}  // namespace motion_watch
