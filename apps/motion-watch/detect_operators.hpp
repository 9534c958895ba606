// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scene.hpp"
#include "tensor_formats.hpp"
#include "weftline/cuda/memory_block.hpp"
#include "weftline/graph/operator.hpp"

namespace motion_watch {

// The three steps from a frame to its moving regions. Each has one body for host, emulated device
// and CUDA: where its tensors live and whether it has a stream is the plan's decision.

/// RGB frame -> gray picture of half the size.
class GrayHalfOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.GrayHalf";
  GrayHalfOperator(FrameGeometry frame, MemoryPlan memory) : frame_(frame), memory_(memory) {}

  weftline::Input<weftline::Tensor> frames;
  weftline::Output<weftline::Tensor> gray;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnEach{frames});
  }
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const FrameGeometry frame_;
  const MemoryPlan memory_;
};

/// Gray picture -> mask of what differs from the running background, cleaned. Keeps the background.
class MotionMaskOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.MotionMask";
  MotionMaskOperator(FrameGeometry frame, MemoryPlan memory) : frame_(frame), memory_(memory) {}

  weftline::Input<weftline::Tensor> gray;
  weftline::Output<weftline::Tensor> mask;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnEach{gray});
  }
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const FrameGeometry frame_;
  const MemoryPlan memory_;
  weftline::MemoryBlock background_{};  ///< uint16 per pixel
  weftline::MemoryBlock raw_mask_{};
  bool first_{true};
};

/// Mask -> boxes of the moving regions, in memory that the host can read.
class BoxesOperator final : public weftline::Operator<> {
 public:
  static constexpr std::string_view kTypeId = "weftline.motion_watch.Boxes";
  BoxesOperator(FrameGeometry frame, MemoryPlan memory) : frame_(frame), memory_(memory) {}

  weftline::Input<weftline::Tensor> mask;
  weftline::Output<weftline::Tensor> boxes;

  void setup(weftline::OperatorSpec& spec) override;
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnEach{mask});
  }
  void start(weftline::LifecycleContext& context) override;
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext& context) override;

 private:
  const FrameGeometry frame_;
  const MemoryPlan memory_;
  weftline::MemoryBlock counts_{};  ///< one byte per cell
  weftline::MemoryBlock work_{};    ///< one CellRegion per cell
};

}  // namespace motion_watch
