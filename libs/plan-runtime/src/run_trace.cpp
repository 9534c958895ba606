// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/run_trace.hpp"

#include <algorithm>
#include <string_view>

#include "weftline/core/json.hpp"

namespace weftline {
namespace {

/// Writes the trace-event format: one object a line. Times are microseconds with the nanoseconds as
/// decimals.
class ChromeTrace {
 public:
  explicit ChromeTrace(const PlanRecords& plan) : plan_(plan) {}

  void name_tracks(const RunTrace& trace) {
    metadata("process_name", 0, "weftline");
    for (const LaneTrace& lane : trace.lanes) {
      metadata("thread_name", lane_track(lane.partition),
               "lane " + plan_.execution_partitions[lane.partition.value].name);
    }
    for (const auto& stream : plan_.cuda_compute_streams) {
      metadata("thread_name", stream_track(stream.id.value),
               "stream " + std::to_string(stream.id.value) + " of " + stream.device.to_string());
    }
  }

  void add(PartitionId lane, const TraceEvent& event) {
    const std::uint32_t track = lane_track(lane);
    switch (event.kind) {
      case TraceEventKind::kActivation:
        slice(track, "activation", plan_.operators[event.vertex.value].path, event);
        break;
      case TraceEventKind::kEmit:
        moment(track, "emit", plan_.output_name(port(event)), event, "sequence");
        for (const PayloadEdgePlanRecord& edge : plan_.payload_edges) {
          if (edge.source == port(event)) arrow("s", track, edge, event);
        }
        break;
      case TraceEventKind::kReceive:
        moment(track, "receive", plan_.input_name(port(event)), event, "sequence");
        for (const PayloadEdgePlanRecord& edge : plan_.payload_edges) {
          if (edge.target == port(event)) arrow("f", track, edge, event);
        }
        break;
      case TraceEventKind::kFenceRecord:
        moment(stream_track(event.value), "fence", "record " + plan_.output_name(port(event)),
               event, "stream");
        break;
      case TraceEventKind::kFenceWait:
        moment(stream_track(event.value), "fence", "wait " + plan_.input_name(port(event)), event,
               "stream");
        break;
      case TraceEventKind::kHostWait:
        slice(track, "host wait", "wait for " + plan_.input_name(port(event)), event);
        break;
      case TraceEventKind::kRetirement:
        moment(track, "retirement", "slots of " + plan_.output_name(port(event)), event, "slots");
        break;
      case TraceEventKind::kPark:
        slice(track, "park", event.value != 0 ? "parked, woken" : "parked", event);
        break;
    }
  }

  [[nodiscard]] std::string finish(const RunTrace& trace) {
    text_ += "],\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":{";
    for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
      if (lane > 0) text_ += ',';
      append_json_string(text_, plan_.execution_partitions[trace.lanes[lane].partition.value].name);
      text_ += ':' + std::to_string(trace.lanes[lane].overwritten);
    }
    text_ += "}}}\n";
    return std::move(text_);
  }

 private:
  [[nodiscard]] static PortRef port(const TraceEvent& event) noexcept {
    return {event.vertex, event.port};
  }
  [[nodiscard]] static std::uint32_t lane_track(PartitionId lane) noexcept {
    return lane.value + 1;
  }
  [[nodiscard]] std::uint32_t stream_track(std::uint64_t stream) const noexcept {
    return static_cast<std::uint32_t>(plan_.execution_partitions.size() + 1 + stream);
  }

  void begin(std::string_view phase, std::uint32_t track, std::string_view name) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_.append("{\"ph\":\"").append(phase).append("\",\"pid\":1,\"tid\":");
    text_.append(std::to_string(track)).append(",\"name\":");
    append_json_string(text_, name);
  }
  void time(std::string_view key, std::int64_t ns) {
    const std::string decimals = std::to_string(ns % 1000);
    text_.append(",\"").append(key).append("\":").append(std::to_string(ns / 1000)).append(".");
    text_.append(3 - decimals.size(), '0').append(decimals);
  }
  void category(std::string_view name) { text_.append(",\"cat\":\"").append(name).append("\""); }
  void argument(std::string_view key, std::uint64_t value) {
    text_.append(",\"args\":{\"").append(key).append("\":").append(std::to_string(value)) += '}';
  }

  void metadata(std::string_view what, std::uint32_t track, std::string_view name) {
    begin("M", track, what);
    text_ += ",\"args\":{\"name\":";
    append_json_string(text_, name);
    text_ += "}}";
  }
  void slice(std::uint32_t track, std::string_view kind, std::string_view name,
             const TraceEvent& event) {
    begin("X", track, name);
    category(kind);
    time("ts", event.begin_ns);
    time("dur", std::max<std::int64_t>(event.end_ns - event.begin_ns, 0));
    text_ += '}';
  }
  void moment(std::uint32_t track, std::string_view kind, std::string_view name,
              const TraceEvent& event, std::string_view value) {
    begin("i", track, name);
    category(kind);
    time("ts", event.begin_ns);
    text_ += ",\"s\":\"t\"";
    argument(value, event.value);
    text_ += '}';
  }
  /// One end of an arrow between the activations that enclose the two moments.
  void arrow(std::string_view phase, std::uint32_t track, const PayloadEdgePlanRecord& edge,
             const TraceEvent& event) {
    begin(phase, track, "sample");
    category("flow");
    time("ts", event.begin_ns);
    text_.append(",\"bp\":\"e\",\"id\":\"").append(std::to_string(edge.edge.value)).append(":");
    text_.append(std::to_string(event.value)).append("\"}");
  }

  const PlanRecords& plan_;
  std::string text_{"{\"traceEvents\":["};
  bool first_{true};
};

}  // namespace

std::string chrome_trace_json(const PlanRecords& plan, const RunTrace& trace) {
  ChromeTrace chrome(plan);
  chrome.name_tracks(trace);
  for (const LaneTrace& lane : trace.lanes) {
    for (const TraceEvent& event : lane.events) chrome.add(lane.partition, event);
  }
  return chrome.finish(trace);
}

}  // namespace weftline
