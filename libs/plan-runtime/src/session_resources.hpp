// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "arm_numbers.hpp"
#include "callback_watch.hpp"
#include "channel_bindings.hpp"
#include "edge_queue.hpp"
#include "export_arm.hpp"
#include "import_runtime.hpp"
#include "lane.hpp"
#include "lifecycle_runner.hpp"
#include "operator_runtime.hpp"
#include "param_control.hpp"
#include "rate_control.hpp"
#include "restart_desk.hpp"
#include "run_control.hpp"
#include "run_observation.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline::runtime {

/// Destroys from the back: the reverse of making.
template <class T>
void pop_all(std::vector<T>& made) noexcept {
  while (!made.empty()) made.pop_back();
}

/// Everything that one run of a plan owns, made and undone by steps (session_steps.hpp) in the
/// order of the members. Ids of the plan index the vectors.
struct SessionResources {
  SessionResources(const ExecutionPlan& the_plan, const RunOptions& the_options)
      : plan(the_plan), options(the_options) {}
  SessionResources(const SessionResources&) = delete;
  SessionResources& operator=(const SessionResources&) = delete;

  /// Destroys the users' instances and all queued samples, so that every slot is back in its pool.
  void release_samples() noexcept;
  /// Waits on the host for all device work; cold.
  void synchronize_streams() noexcept;

  /// Reads without stopping anything; allocates.
  [[nodiscard]] RunCounters counters() const;

  const ExecutionPlan plan;
  const ArmNumbers arms{plan.records()};
  const RunOptions options;
  RunControl control{};
  const std::shared_ptr<RestartDesk> desk{
      std::make_shared<RestartDesk>(plan.records(), control.controller())};
  /// Shared with the handles that were given out.
  std::shared_ptr<ParamControl> params{};
  RateControl rates{plan.records()};
  std::vector<std::unique_ptr<Clock>> clocks{};
  std::map<DeviceId, std::shared_ptr<Device>> devices{};
  /// Shared with the pools: a handle that a user keeps beyond the run may have to wait for them.
  std::shared_ptr<std::vector<Stream>> streams{std::make_shared<std::vector<Stream>>()};
  std::vector<std::unique_ptr<TensorPool>> pools{};
  std::unique_ptr<RunObservation> observation{};  ///< Null unless something is asked for.
  std::vector<std::unique_ptr<Lane>> lanes{};
  std::unique_ptr<ChannelBindings> channels{};
  std::vector<std::unique_ptr<ExportArm>> exports{};
  std::vector<std::unique_ptr<OperatorRuntime>> operators{};
  std::vector<std::unique_ptr<EdgeQueue>> edges{};
  std::vector<std::unique_ptr<EdgeQueue>> import_queues{};  ///< By the plan's import edges.
  std::vector<std::unique_ptr<ImportRuntime>> imports{};    ///< One for each topic with inputs.
  /// In the order of making; complete before the controller begins.
  std::vector<ThreadPlacementReport> placements{};
  std::unique_ptr<LifecycleRunner> lifecycle{};
  CallbackWatch watch{control, lanes, options.late_callback_interval};

  [[nodiscard]] std::span<const VertexId> start_order() const noexcept {
    return plan.records().lifecycle.start_order;
  }

  [[nodiscard]] Lane& lane_of(PortRef port) {
    return *lanes[plan.operators()[port.vertex.value].partition.value];
  }
};

}  // namespace weftline::runtime
