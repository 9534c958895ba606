// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include "detect_operators.hpp"
#include "event_operator.hpp"
#include "preview_operators.hpp"

namespace motion_watch {

using weftline::ConnectionOptions;
using weftline::MemoryKind;

weftline::ExecutionPlan compile_job(const JobOptions& options, const JobState& state,
                                    const weftline::DeviceCatalog& devices) {
  const FrameGeometry frame = options.geometry;
  const MemoryPlan memory = options.device
                                ? MemoryPlan{MemoryKind::kPinnedHost, MemoryKind::kCudaDevice}
                                : MemoryPlan{MemoryKind::kHost, MemoryKind::kHost};

  weftline::Graph graph{"motion-watch"};
  const auto source =
      graph.op<SourceOperator>("source", options.source, frame, options.rate, memory, state.stats,
                               std::shared_ptr<const std::atomic<bool>>(state.interrupted));
  const auto gray = graph.op<GrayHalfOperator>("gray", frame, memory);
  const auto motion = graph.op<MotionMaskOperator>("motion", frame, memory);
  const auto boxes = graph.op<BoxesOperator>("boxes", frame, memory);
  const auto overlay = graph.op<OverlayOperator>("overlay", frame, memory);
  const auto preview =
      graph.op<PreviewOperator>("preview", frame, memory, state.stats, state.sheet);
  const auto event = graph.op<EventOperator>("event", memory, state.stats);

  // Frames and masks wait for the boxes that belong to them, so their queues are deeper than the
  // way through detect.
  const ConnectionOptions waits_for_boxes{.queue_depth = 8};
  graph.add_flow(source->frames, gray->frames, {.queue_depth = 4});
  graph.add_flow(gray->gray, motion->gray, {.queue_depth = 2});
  graph.add_flow(motion->mask, boxes->mask, {.queue_depth = 2});
  graph.add_flow(source->frames, overlay->frames, waits_for_boxes);
  graph.add_flow(motion->mask, overlay->mask, waits_for_boxes);
  graph.add_flow(boxes->boxes, overlay->boxes, waits_for_boxes);
  graph.add_flow(overlay->preview, preview->preview, {.queue_depth = 2});
  graph.add_flow(motion->mask, preview->mask, waits_for_boxes);
  graph.add_flow(boxes->boxes, event->boxes, {.queue_depth = 8});

  // Topics block, so that a recorder gets every event: one that stops reading holds up the job once
  // the queue is full.
  weftline::TopicOptions topic;
  topic.endpoint_name = std::string(kEventsEndpoint);
  topic.attach = {.peer = weftline::PeerRequirement::kOptional, .wait = options.attach_wait};
  topic.queue_depth = 256;
  const auto events = graph.export_topic<MotionEvent>("weftline://motion-watch/events", topic);
  graph.add_flow(event->events, events.input());

  graph.partition("source").add(source);
  graph.partition("detect").add(gray).add(motion).add(boxes);
  graph.partition("preview").add(overlay).add(preview);
  graph.partition("events").add(event);
  graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>("monotonic"));

  weftline::CompileOptions compile_options;
  compile_options.devices = devices;
  if (options.device) {
    compile_options.deployment
        .bind_tensor_output_device(
            {.operator_path = "gray", .output_port = "gray", .device = *options.device})
        .bind_tensor_output_device(
            {.operator_path = "motion", .output_port = "mask", .device = *options.device})
        .bind_tensor_output_device(
            {.operator_path = "overlay", .output_port = "preview", .device = *options.device});
  }
  return weftline::compile(graph, compile_options);
}

}  // namespace motion_watch
