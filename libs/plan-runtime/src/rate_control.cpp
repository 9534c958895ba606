// SPDX-License-Identifier: Apache-2.0
#include "rate_control.hpp"

#include <algorithm>
#include <utility>

namespace weftline::runtime {

expected<void, Error> RateControl::select(PortRef output, Rate rate) {
  if (published_) {
    return fail(ErrorCode::kNotSupported, "RATE_SELECTION_LATE",
                plan_.output_name(output) + ": the session has armed with rate generation " +
                    std::to_string(published_->rate_generation) +
                    "; select in start() of the first start, or in a stage before it");
  }
  std::vector<LifecycleRateSelection> candidate = chosen_;
  std::erase_if(candidate,
                [&](const LifecycleRateSelection& each) { return each.output == output; });
  candidate.push_back({output, rate});
  RateGenerationRecord record = evaluate(candidate);
  if (record.rejection) {
    Error reason = *record.rejection;
    const std::lock_guard lock(mutex_);
    last_rejected_ = std::move(record);
    return make_unexpected(std::move(reason));
  }
  chosen_ = std::move(candidate);
  return {};
}

expected<void, Error> RateControl::publish(std::span<const std::unique_ptr<EdgeQueue>> edges,
                                           std::span<const std::unique_ptr<TensorPool>> pools) {
  RateGenerationRecord record = evaluate(chosen_);
  if (record.rejection) {
    Error reason = *record.rejection;
    const std::lock_guard lock(mutex_);
    last_rejected_ = std::move(record);
    return make_unexpected(std::move(reason));
  }
  for (std::size_t edge = 0; edge < record.edges.size(); ++edge) {
    edges[edge]->set_depth(record.edges[edge].active_depth);
  }
  for (std::size_t pool = 0; pool < record.pools.size(); ++pool) {
    record.pools[pool].reserved_bytes = pools[pool]->usage().reserved_bytes;
  }
  show(record);
  const std::lock_guard lock(mutex_);
  published_ = std::move(record);
  return {};
}

RateGenerationRecord RateControl::evaluate(std::vector<LifecycleRateSelection> selections) {
  RateGenerationRecord record =
      evaluate_rate_generation(plan_, candidates_ + 1, std::move(selections));
  if (record.rejection) ++candidates_;
  return record;
}

void RateControl::show(const RateGenerationRecord& generation) {
  for (PortRatePlanRecord& rate : rates_) {
    const auto chosen =
        std::ranges::find(generation.selections, rate.root, &LifecycleRateSelection::output);
    if (chosen == generation.selections.end() || !rate.nominal) continue;
    auto selected = chosen->rate.as_rational();
    if (!selected) continue;
    if (auto nominal = selected->multiply(rate.factor)) rate.nominal = *nominal;
  }
}

std::span<const PortRatePlanRecord> RateControl::of(VertexId vertex) const noexcept {
  const auto rates = std::ranges::equal_range(
      rates_, vertex, {}, [](const PortRatePlanRecord& rate) { return rate.port.vertex; });
  return {rates.begin(), rates.end()};
}

RateGenerationSnapshot RateControl::capture() const {
  const std::lock_guard lock(mutex_);
  return {published_, last_rejected_};
}

}  // namespace weftline::runtime
