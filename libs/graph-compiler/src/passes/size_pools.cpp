// SPDX-License-Identifier: Apache-2.0
//
// Needs: pools with their devices, queue depths with their recipes, selections, streams.
// Adds: slot bytes, slot counts with their contributors and dependencies, largest rank and release
// streams of each pool, what its provider is asked for; errors for outputs that do not bound their
// tensors and for sizes that can't be counted.
//
// Slots are counted as distinct ones, so that no queue that the plan admits can starve the pool:
//
//   the burst         what the producer may emit in one activation, which it borrows before it
//   emits
//   + longest arm     The arms of an output hold the same samples, and a blocking arm holds the
//                     newest of them without a gap: its queue, and one in its consumer's hands. So
//                     whatever the shorter arms hold, the longest one holds too.
//   + drop-oldest     A consumer behind such a queue may keep one sample while the queue moves on
//                     without limit: it is nobody else's, and each of these arms adds it.
//   + topics          Of each peer's queue the same as of an arm, and what its peers may borrow.
//   + history         Samples kept for peers of a topic that attach later, however old they are.
//   + retained        Samples that a consumer keeps beyond its callback: any ones, so they add up.
//   + caches          What selectors, windows and ReuseLast hold outside the queue (see
//                     resolve_selections.cpp): the same.
//   + retiring        On a device, a slot that a consumer's stream reads is still out after its
//                     callback. Two such activations are covered, each with what its input selects
//                     at most: 2 an arm, more for batches.
//
// A consumer that passes tensors through may hand the slot on: the arms of its pass-through outputs
// are added in the same way. They hold older samples, hence a sum and not the longer of the two.
//
// The count is made twice: with the depths at start, and with the deepest that selectable rates
// admit. The pool has slots for the latter, since it is built once; the queues keep the former.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "topics.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/plan/queue_sizing.hpp"

namespace weftline::passes {
namespace {

using Reason = TensorSlotClaimReason;

constexpr std::uint64_t kSlotAlignment = 256;
constexpr std::uint64_t kRetiringActivations = 2;

/// 0 when the sum is beyond 32 bits.
std::uint32_t narrow(std::uint64_t count) {
  return count <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(count) : 0;
}

/// As many as 32 bits hold: a pool of so many slots is refused anyway.
std::uint32_t saturated(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

/// Walks the edges that slots of a pool travel on, and says for each how many it may hold.
class SlotHolders {
 public:
  SlotHolders(CompileState& state, const TensorAllocationPlanRecord& pool)
      : state_(state), pool_(pool) {
    producer_ = state.output(pool.output).max_emits_per_compute;
    contributors_.push_back({"producer", saturated(producer_), {Reason::kProducerLoan}});
    visit(pool.output);
    for (std::size_t next = 0; next < outputs_.size(); ++next) add_arms_of(outputs_[next]);
  }

  /// The producer's own, and those kept for peers that attach later.
  [[nodiscard]] std::uint64_t producer() const noexcept { return producer_; }
  [[nodiscard]] const std::vector<PoolCapacityDependencyRecord>& dependencies() const noexcept {
    return dependencies_;
  }
  [[nodiscard]] std::vector<PoolCapacityContributorRecord> take_contributors() && {
    return std::move(contributors_);
  }

 private:
  void visit(PortRef output) {
    if (!visited_.insert(output).second) return;
    outputs_.push_back(output);
    const std::uint32_t history = state_.output(output).late_joiner_history_depth;
    if (history == 0) return;
    producer_ += history;
    contributors_.push_back({"late joiners of " + state_.plan.output_name(output),
                             history,
                             {Reason::kTransportFanOut}});
  }

  void add_arms_of(PortRef output) {
    add_topic_of(output);
    for (const std::uint32_t index : state_.outgoing[output.vertex.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      if (edge.source == output) add_arm(edge);
    }
  }

  void add_arm(const PayloadEdgePlanRecord& edge) {
    const bool keeps_older = edge.queue_policy == QueuePolicy::kDropOldest;
    const std::uint64_t in_hand = keeps_older ? 0 : 1;
    const std::uint64_t retained = state_.input(edge.target).retained_samples;
    const std::uint64_t admitted =
        state_.plan.queue_sizing_recipes[edge.edge.value].admitted_depth + in_hand;
    const EdgeSelectionRecord& selection = state_.plan.edge_selections[edge.edge.value];
    const std::uint64_t retiring = retiring_in(edge.target.vertex, selection);
    const std::uint64_t own =
        (keeps_older ? 1 : 0) + retained + selection.cache_capacity + retiring;
    dependencies_.push_back({.pool = pool_.id,
                             .edge = edge.edge,
                             .source = edge.source,
                             .active_shared_slots = saturated(edge.queue_depth + in_hand),
                             .admitted_shared_slots = saturated(admitted),
                             .own_slots = saturated(own)});
    std::vector reasons{Reason::kAcceptedPublication, Reason::kFrameworkBorrow};
    add_reasons(selection, retained > 0, reasons);
    if (retiring > 0) reasons.push_back(Reason::kConsumerCudaRelease);
    if (edge.source != pool_.output) reasons.push_back(Reason::kRelay);
    contributors_.push_back(
        {state_.plan.input_name(edge.target), narrow(admitted + own), std::move(reasons)});
    follow(edge.target.vertex);
  }

  /// The newest publications wait in each peer's queue; what a peer has borrowed may be older.
  void add_topic_of(PortRef output) {
    const ExportSnapshot* const topic = state_.topic_of(output);
    if (topic == nullptr || !is_tensor(state_.output(output))) return;
    const EndpointRecord defaults;
    const EndpointBounds& bounds = topic->options.bounds;
    const std::uint32_t depth = stated_depth(topic->options).value_or(defaults.queue_depth);
    const std::uint64_t borrowed =
        std::uint64_t{bounds.publisher.max_subscribers.value_or(defaults.max_subscribers)} *
        bounds.subscriber.max_borrowed_samples.value_or(defaults.max_borrowed_samples);
    const std::string name = endpoint_name(topic->uri, topic->options);
    dependencies_.push_back({.pool = pool_.id,
                             .endpoint_name = name,
                             .source = output,
                             .active_shared_slots = depth,
                             .admitted_shared_slots = depth,
                             .own_slots = saturated(borrowed)});
    std::vector reasons{Reason::kTransportFanOut, Reason::kSubscriberBorrow};
    if (output != pool_.output) reasons.push_back(Reason::kRelay);
    contributors_.push_back({"endpoint " + name, saturated(depth + borrowed), std::move(reasons)});
  }

  [[nodiscard]] std::uint64_t retiring_in(VertexId consumer,
                                          const EdgeSelectionRecord& selection) const {
    if (!pool_.device || !state_.op(consumer).stream.valid()) return 0;
    return kRetiringActivations * selection.max_selected_samples;
  }

  static void add_reasons(const EdgeSelectionRecord& selection, bool retains,
                          std::vector<Reason>& reasons) {
    const bool caches = selection.selector_cache > 0;
    const bool latest = caches && selection.selector == InputSelectorKind::kLatestWithin;
    const bool bracket = caches && selection.selector == InputSelectorKind::kBracketedWindow;
    if (retains || latest) reasons.push_back(Reason::kTemporalCache);
    if (bracket || selection.pending_cache > 0) reasons.push_back(Reason::kWindow);
    if (selection.reuse_cache > 0) reasons.push_back(Reason::kReuseLast);
    if (caches && selection.selector == InputSelectorKind::kDrainAll) {
      reasons.push_back(Reason::kDrainAll);
    }
  }

  void follow(VertexId consumer) {
    const auto& outputs = state_.op(consumer).outputs;
    for (std::uint32_t port = 0; port < outputs.size(); ++port) {
      if (is_pass_through(outputs[port])) visit({consumer, port});
    }
  }

  CompileState& state_;
  const TensorAllocationPlanRecord& pool_;
  std::uint64_t producer_{0};
  std::vector<PoolCapacityDependencyRecord> dependencies_{};
  std::vector<PoolCapacityContributorRecord> contributors_{};
  std::vector<PortRef> outputs_{};  ///< Where slots of the pool are emitted, in order of discovery.
  std::set<PortRef> visited_{};
};

/// 0 when it can't be had, with an error.
std::uint64_t slot_bytes(CompileState& state, const TensorBounds& bounds, const std::string& place,
                         bool derived) {
  const std::uint64_t span = bounds.max_byte_span.value_or(0);
  if (span == 0 && derived) return 0;  // Reported where it was to be derived.
  if (span == 0) {
    state.error("TENSOR_POOL_SPAN_MISSING", place,
                bounds.max_byte_span
                    ? "the pool's max_byte_span is 0, which refuses every allocation"
                    : "the pool states no max_byte_span",
                "set TensorOutputSpec::bounds to tensor_bounds(bytes of the largest tensor)");
    return 0;
  }
  if (span > std::numeric_limits<std::uint64_t>::max() - kSlotAlignment) {
    state.error("TENSOR_POOL_BYTES_OVERFLOW", place,
                "slots of " + std::to_string(span) + " bytes can't be counted",
                "lower TensorOutputSpec::bounds.max_byte_span");
    return 0;
  }
  return (span + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

/// The pool's own limit, at least 1: a scalar needs no dimension, but a slot has room for one.
std::uint32_t max_rank(CompileState& state, const TensorOutputSpec& spec,
                       const std::string& place) {
  const auto rank = spec.representation.rank;
  const auto limit = spec.bounds.max_rank;
  if (!rank && !limit) {
    state.error("TENSOR_POOL_RANK_MISSING", place, "the pool states neither a rank nor a max_rank",
                "set TensorOutputSpec::representation.rank or bounds.max_rank");
    return 0;
  }
  if (limit == 0U) {
    state.error("TENSOR_POOL_RANK_MISSING", place,
                "the pool's max_rank is 0, which refuses every allocation",
                "set TensorOutputSpec::bounds.max_rank to 1 or more");
    return 0;
  }
  const std::uint32_t largest = std::max(rank.value_or(0), limit.value_or(0));
  if (largest > kMaximumTensorRank) {
    state.error("TENSOR_POOL_RANK_TOO_HIGH", place,
                "a rank of " + std::to_string(largest) + ", the limit is " +
                    std::to_string(kMaximumTensorRank),
                "fold dimensions");
    return 0;
  }
  if (rank && limit && *rank > *limit) {
    state.error("TENSOR_POOL_RANK_TOO_HIGH", place,
                "tensors of rank " + std::to_string(*rank) + ", but a max_rank of " +
                    std::to_string(*limit),
                "raise TensorOutputSpec::bounds.max_rank or leave it out");
    return 0;
  }
  return std::max(rank.value_or(largest), 1U);
}

/// How many operators are on each device.
using DeviceUsers = std::map<DeviceId, std::uint32_t>;

DeviceUsers count_device_users(const PlanRecords& plan) {
  DeviceUsers users;
  for (const OperatorPlanRecord& op : plan.operators) {
    if (op.device) ++users[*op.device];
  }
  return users;
}

/// A slot may be read on any stream of its device: the stream of each other operator there and one
/// that the operator chose, and the producer's. Streams that stage descriptors for other processes
/// would count, too; there are none yet.
std::uint32_t release_streams(const CompileState& state, const TensorAllocationPlanRecord& pool,
                              const DeviceUsers& users) {
  if (!pool.device) return 0;
  const auto found = users.find(*pool.device);
  const std::uint32_t all = found != users.end() ? found->second : 0;
  const bool own = state.plan.operators[pool.output.vertex.value].device == pool.device;
  return 2 * (all - (own ? 1 : 0)) + 1;
}

void size_pool(CompileState& state, TensorAllocationPlanRecord& pool, const DeviceUsers& users) {
  const std::string place = state.plan.output_name(pool.output);
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only a tensor's output has a pool
  const TensorOutputSpec& spec = *state.output(pool.output).tensor;
  pool.max_rank = max_rank(state, spec, place);
  pool.slot_bytes = slot_bytes(state, spec.bounds, place, state.span_of(pool.output) != nullptr);
  pool.max_release_streams = release_streams(state, pool, users);
  SlotHolders holders(state, pool);
  const PoolSlots slots = count_pool_slots(holders.producer(), holders.dependencies());
  pool.slot_count = narrow(slots.admitted);
  pool.active_slot_count = narrow(slots.active);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(pool.slot_bytes, slots.admitted, &bytes) || pool.slot_count == 0) {
    state.error("TENSOR_POOL_BYTES_OVERFLOW", place,
                std::to_string(slots.admitted) + " slots of " + std::to_string(pool.slot_bytes) +
                    " bytes can't be counted",
                "lower TensorOutputSpec::bounds.max_byte_span or the depths of the queues behind "
                "the output");
    pool.slot_count = 0;
    pool.active_slot_count = 0;
  }
  state.plan.provider_allocation_plans.push_back(
      {.pool = pool.id,
       .entry_bytes = spec.bounds.max_byte_span.value_or(0),
       .producer_entries = saturated(holders.producer()),
       .active_entries = pool.active_slot_count,
       .admitted_entries = pool.slot_count});
  auto& dependencies = state.plan.pool_capacity_dependencies;
  dependencies.insert(dependencies.end(), holders.dependencies().begin(),
                      holders.dependencies().end());
  pool.contributors = std::move(holders).take_contributors();
}

/// A formula without a value is reported where the reason lies. Should nobody have done so, the
/// plan must not be accepted with a pool of no bytes.
void refuse_unknown_spans(CompileState& state) {
  if (!state.plan.ok()) return;
  for (const auto& derivation : state.plan.tensor_byte_span_derivations) {
    if (derivation.resolved_bytes > 0) continue;
    state.error("TENSOR_POOL_SPAN_MISSING", state.plan.output_name(derivation.output),
                "the formula of the pool's slot bytes has no value",
                "derive them from parameters and inputs of this operator");
  }
}

}  // namespace

void size_pools(CompileState& state) {
  const DeviceUsers users = count_device_users(state.plan);
  for (TensorAllocationPlanRecord& pool : state.plan.tensor_allocations) {
    size_pool(state, pool, users);
  }
  refuse_unknown_spans(state);
}

}  // namespace weftline::passes
