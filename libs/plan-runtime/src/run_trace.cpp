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
    metadata("thread_name", controller_track(), "controller");
    for (const auto& stream : plan_.cuda_compute_streams) {
      metadata("thread_name", stream_track(stream.id.value),
               "stream " + std::to_string(stream.id.value) + " of " + stream.device.to_string());
    }
  }

  void add_of_lane(PartitionId lane, const TraceEvent& event) { add(lane_track(lane), event); }
  void add_of_controller(const TraceEvent& event) { add(controller_track(), event); }

  [[nodiscard]] std::string finish(const RunTrace& trace) {
    text_ += "],\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":{";
    for (const LaneTrace& lane : trace.lanes) {
      append_json_string(text_, plan_.execution_partitions[lane.partition.value].name);
      text_ += ':' + std::to_string(lane.overwritten) + ',';
    }
    text_ += "\"(controller)\":" + std::to_string(trace.controller.overwritten) + "}}}\n";
    return std::move(text_);
  }

 private:
  void add(std::uint32_t track, const TraceEvent& event) {
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
      case TraceEventKind::kStand:
        slice(track, "restart", "stood still", event);
        break;
      case TraceEventKind::kParams:
        moment(track, "parameters", "parameters of " + plan_.operators[event.vertex.value].path,
               event, "generation");
        break;
      case TraceEventKind::kStage:
        slice(track, "stage",
              plan_.operators[event.vertex.value].path + "." +
                  std::string(lifecycle_stage_name(static_cast<LifecycleStage>(event.value))),
              event);
        break;
      case TraceEventKind::kRestart:
        slice(track, "restart",
              "restart " + plan_.operators[event.vertex.value].path + ": " +
                  std::string(lifecycle_transaction_state_name(
                      static_cast<LifecycleTransactionState>(event.value))),
              event);
        break;
    }
  }

  [[nodiscard]] static PortRef port(const TraceEvent& event) noexcept {
    return {event.vertex, event.port};
  }
  [[nodiscard]] static std::uint32_t lane_track(PartitionId lane) noexcept {
    return lane.value + 1;
  }
  [[nodiscard]] std::uint32_t controller_track() const noexcept {
    return static_cast<std::uint32_t>(plan_.execution_partitions.size() + 1);
  }
  [[nodiscard]] std::uint32_t stream_track(std::uint64_t stream) const noexcept {
    return controller_track() + 1 + static_cast<std::uint32_t>(stream);
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
    for (const TraceEvent& event : lane.events) chrome.add_of_lane(lane.partition, event);
  }
  for (const TraceEvent& event : trace.controller.events) chrome.add_of_controller(event);
  return chrome.finish(trace);
}

}  // namespace weftline
