// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "contact_sheet.hpp"
#include "run_stats.hpp"
#include "scene.hpp"
#include "tensor_formats.hpp"
#include "weftline/graph/operator.hpp"

namespace motion_watch {

/// Frame, mask and boxes of the same capture time -> preview of half the size with the boxes drawn
/// in. The mask goes on beside it.
class OverlayOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.Overlay";
  OverlayOperator(FrameGeometry frame, MemoryPlan memory) : frame_(frame), memory_(memory) {}

  weftline::Input<weftline::Tensor> frames;
  weftline::Input<weftline::Tensor> mask;
  weftline::Input<weftline::Tensor> boxes;
  weftline::Output<weftline::Tensor> preview;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnAligned{.inputs = {frames, mask, boxes}});
  }
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const FrameGeometry frame_;
  const MemoryPlan memory_;
};

/// Brings every preview to the host, as a window would, and keeps a few for the contact sheet.
class PreviewOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.Preview";
  PreviewOperator(FrameGeometry frame, MemoryPlan memory, std::shared_ptr<RunStats> stats,
                  std::shared_ptr<ContactSheet> sheet)
      : frame_(frame), memory_(memory), stats_(std::move(stats)), sheet_(std::move(sheet)) {}

  weftline::Input<weftline::Tensor> preview;
  weftline::Input<weftline::Tensor> mask;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnAligned{.inputs = {preview, mask}});
  }
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const FrameGeometry frame_;
  const MemoryPlan memory_;
  const std::shared_ptr<RunStats> stats_;
  const std::shared_ptr<ContactSheet> sheet_;  ///< Read by others only after the run.
  std::vector<std::uint8_t> host_preview_{};
  std::vector<std::uint8_t> host_mask_{};
};

}  // namespace motion_watch
