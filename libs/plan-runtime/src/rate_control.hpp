// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "edge_queue.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/plan/rate_generation.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline::runtime {

/// The rates of one session: what the owners of selectable outputs choose while the operators
/// start, and the generation that is made of it before the session arms. Everything but capture()
/// is the controller's, while no lane runs.
class RateControl {
 public:
  explicit RateControl(const PlanRecords& plan) : plan_(plan), rates_(plan.port_rates) {}
  RateControl(const RateControl&) = delete;
  RateControl& operator=(const RateControl&) = delete;

  /// A choice of an operator's callback. The candidate with this choice and those before it is
  /// evaluated; one that can't be is the last rejected generation, and its reason the answer.
  [[nodiscard]] expected<void, Error> select(PortRef output, Rate rate);
  /// Makes a generation of the choices: the queues get its depths, the ports its rates. After it no
  /// choice is taken.
  [[nodiscard]] expected<void, Error> publish(std::span<const std::unique_ptr<EdgeQueue>> edges,
                                              std::span<const std::unique_ptr<TensorPool>> pools);

  /// The rates of an operator's ports, inputs before outputs: the plan's until publish(), the
  /// generation's from then on. Empty: none is known. The span stays valid.
  [[nodiscard]] std::span<const PortRatePlanRecord> of(VertexId vertex) const noexcept;

  /// Any thread.
  [[nodiscard]] RateGenerationSnapshot capture() const;

 private:
  [[nodiscard]] RateGenerationRecord evaluate(std::vector<LifecycleRateSelection> selections);
  void show(const RateGenerationRecord& generation);

  const PlanRecords& plan_;
  std::vector<PortRatePlanRecord> rates_;
  std::vector<LifecycleRateSelection> chosen_{};
  std::uint64_t candidates_{0};
  mutable std::mutex mutex_{};
  std::optional<RateGenerationRecord> published_{};      // under the mutex
  std::optional<RateGenerationRecord> last_rejected_{};  // under the mutex
};

}  // namespace weftline::runtime
