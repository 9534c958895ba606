// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "event_type.hpp"
#include "run_stats.hpp"
#include "tensor_formats.hpp"
#include "weftline/graph/operator.hpp"

namespace motion_watch {

/// Boxes on the host -> one MotionEvent per frame.
class EventOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.Event";
  EventOperator(MemoryPlan memory, std::shared_ptr<RunStats> stats)
      : memory_(memory), stats_(std::move(stats)) {}

  weftline::Input<weftline::Tensor> boxes;
  weftline::Output<MotionEvent> events;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnEach{boxes});
  }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const MemoryPlan memory_;
  const std::shared_ptr<RunStats> stats_;
};

}  // namespace motion_watch
