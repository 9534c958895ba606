// SPDX-License-Identifier: Apache-2.0
#include "event_operator.hpp"

#include <algorithm>

#include "step_support.hpp"

namespace motion_watch {

void EventOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(boxes, "boxes").expects_tensor(expected_tensor(memory_.host_side, 1));
  spec.output(events, "events");
}

weftline::expected<void, weftline::Error> EventOperator::compute(
    weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto sample, boxes.receive());
  // No stream here: the runtime has waited until the bytes are complete.
  const auto& found = *sample.data.data_as<MotionBoxes>();
  MotionEvent event;
  event.frame_id = sample.metadata.frame_id.value_or(0);
  WEFTLINE_ASSIGN(event.capture_time_ns, capture_ns(sample.metadata));
  event.box_count = found.count;
  event.total_regions = found.total;
  std::ranges::copy(found.boxes, event.boxes);
  WEFTLINE_TRY(events.emit(event, same_frame(sample.metadata)));
  stats_->frame_arrived(Sink::kEvents, event.frame_id,
                        context.clock().now().timestamp_ns - event.capture_time_ns);
  return {};
}

}  // namespace motion_watch
