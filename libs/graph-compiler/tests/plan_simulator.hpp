// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// Plays a plan as a game of tokens, to find how many slots of each pool can be out at one time. It
/// knows the rules of activation, of selections and of queues, and nothing of how sizes are
/// computed: pools are endless here. Operators are activated, emit and end in random order, some of
/// them starved for long, each on a lane of its own; they do whatever a contract allows them, the
/// worst preferred.
class PlanSimulator {
 public:
  PlanSimulator(const PlanRecords& plan, std::uint32_t seed)
      : plan_(plan), random_(seed), queues_(plan.payload_edges.size()) {
    pools_.resize(plan.tensor_allocations.size());
    peaks_.resize(plan.tensor_allocations.size(), 0);
    for (const OperatorPlanRecord& op : plan.operators) {
      Actor& actor = actors_.emplace_back();
      actor.input_edge.resize(op.inputs.size());
      actor.arms.resize(op.outputs.size());
      actor.pool.resize(op.outputs.size());
      actor.kept.resize(op.inputs.size());
      actor.cached.resize(op.inputs.size());
      actor.reused.resize(op.inputs.size());
      actor.history.resize(op.outputs.size());
    }
    for (std::uint32_t index = 0; index < plan.payload_edges.size(); ++index) {
      const PayloadEdgePlanRecord& edge = plan.payload_edges[index];
      actors_[edge.target.vertex.value].input_edge[edge.target.port] = index;
      actors_[edge.source.vertex.value].arms[edge.source.port].push_back(index);
    }
    for (const ExportEdgePlanRecord& edge : plan.export_edges) {
      const EndpointRecord& topic = plan.endpoint_catalog.endpoints()[edge.endpoint.value];
      for (std::uint32_t peer = 0; peer < topic.max_subscribers; ++peer) {
        actors_[edge.source.vertex.value].peers.push_back(
            {edge.source.port, topic.queue_depth, topic.max_borrowed_samples, {}, {}});
      }
    }
    for (std::uint32_t index = 0; index < plan.tensor_allocations.size(); ++index) {
      const PortRef output = plan.tensor_allocations[index].output;
      actors_[output.vertex.value].pool[output.port] = index;
    }
    weights_.resize(actors_.size(), 1);
  }

  void run(std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (step % (20 * actors_.size() + 1) == 0) draw_weights();
      const std::size_t chosen = below(actors_.size());
      if (below(10) < weights_[chosen]) advance(chosen);
    }
  }

  /// By pool: the most slots that were out at one time.
  [[nodiscard]] const std::vector<std::uint32_t>& peaks() const noexcept { return peaks_; }
  [[nodiscard]] std::uint64_t activations() const noexcept { return activations_; }

 private:
  /// Something that moves along edges; scalars have no pool.
  struct Sample {
    std::optional<std::uint32_t> pool{};
    std::uint32_t slot{0};
  };
  struct Pool {
    std::vector<std::uint32_t> holders{};  ///< By slot.
    std::vector<std::uint32_t> free{};
    std::uint32_t out{0};
  };
  struct Loan {
    std::uint32_t output{0};
    Sample sample{};
  };
  struct Taken {
    std::uint32_t input{0};
    Sample sample{};
    bool fresh{true};
  };
  /// A subscriber in another process.
  struct Peer {
    std::uint32_t output{0};
    std::size_t depth{0};
    std::size_t most_borrowed{0};
    std::deque<Sample> queue{};
    std::vector<Sample> borrowed{};
  };
  struct Actor {
    std::vector<std::optional<std::uint32_t>> input_edge{};
    std::vector<std::vector<std::uint32_t>> arms{};
    std::vector<std::optional<std::uint32_t>> pool{};
    bool active{false};
    std::vector<Taken> hand{};
    std::vector<Loan> loans{};  ///< Borrowed and not emitted yet; the last one is next.
    std::vector<std::deque<Sample>> kept{};
    std::vector<std::deque<Sample>>
        cached{};  ///< By input: a selector's, or open windows' anchors.
    std::vector<std::vector<Sample>> reused{};  ///< By input: what ReuseLast holds.
    std::vector<std::deque<Sample>> history{};  ///< By output: for late joiners.
    std::vector<Peer> peers{};
    std::deque<std::vector<Sample>> retiring{};
  };

  std::size_t below(std::size_t limit) { return random_() % limit; }

  void draw_weights() {
    for (std::uint32_t& weight : weights_) {
      const std::size_t kind = below(4);
      weight = kind == 0 ? 0 : kind == 1 ? 1 : 10;
    }
  }

  void hold(const Sample& sample) {
    if (sample.pool) ++pools_[*sample.pool].holders[sample.slot];
  }
  void drop(const Sample& sample) {
    if (!sample.pool) return;
    Pool& pool = pools_[*sample.pool];
    if (--pool.holders[sample.slot] > 0) return;
    pool.free.push_back(sample.slot);
    --pool.out;
  }
  Sample borrow(std::optional<std::uint32_t> index) {
    if (!index) return {};
    Pool& pool = pools_[*index];
    if (pool.free.empty()) {
      pool.free.push_back(static_cast<std::uint32_t>(pool.holders.size()));
      pool.holders.push_back(0);
    }
    const Sample sample{index, pool.free.back()};
    pool.free.pop_back();
    pool.holders[sample.slot] = 1;
    peaks_[*index] = std::max(peaks_[*index], ++pool.out);
    return sample;
  }

  [[nodiscard]] bool has_room(std::uint32_t edge, std::size_t count) const {
    const PayloadEdgePlanRecord& record = plan_.payload_edges[edge];
    return record.queue_policy == QueuePolicy::kDropOldest ||
           queues_[edge].size() + count <= record.queue_depth;
  }

  void advance(std::size_t index) {
    Actor& actor = actors_[index];
    const OperatorPlanRecord& op = plan_.operators[index];
    if (!actor.peers.empty() && below(2) == 0) serve(actor.peers[below(actor.peers.size())]);
    if (!actor.active) {
      if (below(3) == 0) absorb(actor, op);
      begin(actor, op);
    } else if (!actor.loans.empty()) {
      emit(actor);
    } else {
      end(actor, op);
    }
  }

  void begin(Actor& actor, const OperatorPlanRecord& op) {
    if (!runs_by_itself(op.trigger.kind)) {
      for (std::uint32_t output = 0; output < op.outputs.size(); ++output) {
        for (const std::uint32_t arm : actor.arms[output]) {
          if (!has_room(arm, op.outputs[output].max_emits_per_compute)) return;
        }
      }
      if (!select(actor, op)) return;
    }
    for (std::uint32_t input = 0; input < op.inputs.size(); ++input) select_beside(actor, input);
    ++activations_;
    actor.active = true;
    for (std::uint32_t output = 0; output < op.outputs.size(); ++output) {
      for (std::uint32_t burst = op.outputs[output].max_emits_per_compute; burst > 0; --burst) {
        lend(actor, op, output);
      }
    }
    std::shuffle(actor.loans.begin(), actor.loans.end(), random_);
  }

  static bool runs_by_itself(TemporalRecordTriggerKind kind) {
    return kind == TemporalRecordTriggerKind::kClock ||
           (kind >= TemporalRecordTriggerKind::kReadable &&
            kind <= TemporalRecordTriggerKind::kSpin);
  }

  [[nodiscard]] const EdgeSelectionRecord* selection_of(const Actor& actor,
                                                        std::uint32_t input) const {
    const auto edge = actor.input_edge[input];
    return edge ? &plan_.edge_selections[*edge] : nullptr;
  }

  /// What waits in a queue moves into a selector's cache, or becomes an open window's anchor.
  void absorb(Actor& actor, const OperatorPlanRecord& op) {
    for (std::uint32_t input = 0; input < op.inputs.size(); ++input) {
      const EdgeSelectionRecord* const selection = selection_of(actor, input);
      if (selection == nullptr || queues_[*actor.input_edge[input]].empty()) continue;
      auto& cached = actor.cached[input];
      if (selection->pending_cache > 0) {
        if (cached.size() < selection->pending_cache) cached.push_back(take(actor, input));
        continue;
      }
      const bool caches = selection->selector == InputSelectorKind::kLatestWithin ||
                          selection->selector == InputSelectorKind::kBracketedWindow;
      if (!caches || selection->selector_cache == 0) continue;
      cached.push_back(take(actor, input));
      if (cached.size() <= selection->selector_cache) continue;
      drop(cached.front());
      cached.pop_front();
    }
  }

  /// From an input that the trigger does not wait for.
  void select_beside(Actor& actor, std::uint32_t input) {
    const EdgeSelectionRecord* const selection = selection_of(actor, input);
    if (selection == nullptr || selection->triggering) return;
    std::vector<Sample> selected;
    auto& queue = queues_[*actor.input_edge[input]];
    const auto& cached = actor.cached[input];
    switch (selection->selector) {
      case InputSelectorKind::kExact:
        while (!queue.empty() && below(2) == 0) {
          for (const Sample& passed : selected) drop(passed);
          selected = {take(actor, input)};
        }
        break;
      case InputSelectorKind::kDrainAll:
        while (!queue.empty() && selected.size() < selection->max_selected_samples &&
               below(16) != 0) {
          selected.push_back(take(actor, input));
        }
        break;
      case InputSelectorKind::kLatestWithin:
      case InputSelectorKind::kBracketedWindow:
        for (auto sample = cached.rbegin();
             sample != cached.rend() && selected.size() < selection->max_selected_samples;
             ++sample) {
          hold(*sample);
          selected.push_back(*sample);
        }
    }
    const bool fresh = !selected.empty();
    if (!fresh && selection->missing == MissingDataKind::kReuseLast) {
      for (const Sample& sample : actor.reused[input]) {
        hold(sample);
        selected.push_back(sample);
      }
    }
    for (const Sample& sample : selected) actor.hand.push_back({input, sample, fresh});
  }

  void serve(Peer& peer) {
    if (!peer.queue.empty() && peer.borrowed.size() < peer.most_borrowed) {
      peer.borrowed.push_back(peer.queue.front());
      peer.queue.pop_front();
    } else if (!peer.borrowed.empty() && below(3) == 0) {
      const std::size_t which = below(peer.borrowed.size());
      drop(peer.borrowed[which]);
      peer.borrowed.erase(peer.borrowed.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }

  /// From the pool, or a tensor that the operator has in hand or keeps.
  void lend(Actor& actor, const OperatorPlanRecord& op, std::uint32_t output) {
    if (actor.pool[output] || op.outputs[output].payload.kind != PayloadIdentityKind::kTensor) {
      actor.loans.push_back({output, borrow(actor.pool[output])});
      return;
    }
    std::vector<Sample> tensors;
    for (const Taken& taken : actor.hand) {
      if (taken.sample.pool) tensors.push_back(taken.sample);
    }
    for (const auto& kept : actor.kept) {
      for (const Sample& sample : kept) {
        if (sample.pool) tensors.push_back(sample);
      }
    }
    if (tensors.empty()) return;
    const Sample sample = tensors[below(tensors.size())];
    hold(sample);
    actor.loans.push_back({output, sample});
  }

  bool select(Actor& actor, const OperatorPlanRecord& op) {
    if (op.trigger.kind == TemporalRecordTriggerKind::kWindow) {
      auto& anchors = actor.cached[op.trigger.inputs.front()];
      if (anchors.empty()) return false;
      actor.hand.push_back({op.trigger.inputs.front(), anchors.front()});
      anchors.pop_front();
      return true;
    }
    std::vector<std::uint32_t> ready;
    for (const std::uint32_t input : op.trigger.inputs) {
      const auto edge = actor.input_edge[input];
      if (!edge || !queues_[*edge].empty()) ready.push_back(input);  // topics always have some
    }
    if (ready.empty()) return false;
    if (op.trigger.kind == TemporalRecordTriggerKind::kAligned) {
      if (ready.size() < op.trigger.inputs.size()) return false;
      if (below(4) == 0) {  // not within the window: one head goes
        drop(take(actor, ready[below(ready.size())]));
        return false;
      }
    } else if (op.trigger.kind == TemporalRecordTriggerKind::kAnyInput && below(2) == 0) {
      ready = {ready[below(ready.size())]};
    }
    for (const std::uint32_t input : ready) actor.hand.push_back({input, take(actor, input)});
    return true;
  }

  Sample take(Actor& actor, std::uint32_t input) {
    if (!actor.input_edge[input]) return {};  // from another process
    auto& queue = queues_[*actor.input_edge[input]];
    const Sample sample = queue.front();
    queue.pop_front();
    return sample;
  }

  void emit(Actor& actor) {
    const Loan loan = actor.loans.back();
    const auto& arms = actor.arms[loan.output];
    bool fits = std::ranges::all_of(arms, [&](std::uint32_t arm) { return has_room(arm, 1); });
    for (const Peer& peer : actor.peers) {
      fits = fits && (peer.output != loan.output || peer.queue.size() < peer.depth);
    }
    if (!fits && below(2) == 0) return;  // kept, and tried again
    actor.loans.pop_back();
    if (fits) {
      for (const std::uint32_t arm : arms) {
        auto& queue = queues_[arm];
        if (queue.size() == plan_.payload_edges[arm].queue_depth) {
          drop(queue.front());
          queue.pop_front();
        }
        hold(loan.sample);
        queue.push_back(loan.sample);
      }
      publish(actor, loan);
    }
    drop(loan.sample);
  }

  void publish(Actor& actor, const Loan& loan) {
    for (Peer& peer : actor.peers) {
      if (peer.output != loan.output) continue;
      hold(loan.sample);
      peer.queue.push_back(loan.sample);
    }
    const OperatorPlanRecord& op =
        plan_.operators[static_cast<std::size_t>(&actor - actors_.data())];
    auto& history = actor.history[loan.output];
    if (op.outputs[loan.output].late_joiner_history_depth == 0) return;
    hold(loan.sample);
    history.push_back(loan.sample);
    if (history.size() <= op.outputs[loan.output].late_joiner_history_depth) return;
    drop(history.front());
    history.pop_front();
  }

  /// What was selected last takes the place of what was selected before it.
  void remember(Actor& actor, std::uint32_t input) {
    const EdgeSelectionRecord* const selection = selection_of(actor, input);
    if (selection == nullptr || selection->missing != MissingDataKind::kReuseLast) return;
    std::vector<Sample> last;
    for (const Taken& taken : actor.hand) {
      if (taken.input == input && taken.fresh) last.push_back(taken.sample);
    }
    if (last.empty()) return;
    for (const Sample& sample : last) hold(sample);
    for (const Sample& sample : actor.reused[input]) drop(sample);
    actor.reused[input] = std::move(last);
  }

  void end(Actor& actor, const OperatorPlanRecord& op) {
    for (std::uint32_t input = 0; input < op.inputs.size(); ++input) remember(actor, input);
    std::vector<Sample> released;
    for (const Taken& taken : actor.hand) {
      const std::uint32_t limit = op.inputs[taken.input].retained_samples;
      auto& kept = actor.kept[taken.input];
      if (limit == 0 || below(3) == 0) {
        released.push_back(taken.sample);
        continue;
      }
      kept.push_back(taken.sample);
      if (kept.size() <= limit) continue;
      const auto oldest = kept.begin() + static_cast<std::ptrdiff_t>(below(kept.size()));
      released.push_back(*oldest);
      kept.erase(oldest);
    }
    actor.hand.clear();
    actor.active = false;
    retire(actor, op, std::move(released));
  }

  /// What was read on a device is out until the stream has passed: of the last two activations.
  void retire(Actor& actor, const OperatorPlanRecord& op, std::vector<Sample> released) {
    std::vector<Sample> on_stream;
    for (const Sample& sample : released) {
      const bool waits = sample.pool && op.stream.valid() &&
                         plan_.tensor_allocations[*sample.pool].device.has_value();
      if (waits) {
        on_stream.push_back(sample);
      } else {
        drop(sample);
      }
    }
    if (on_stream.empty()) return;
    actor.retiring.push_back(std::move(on_stream));
    if (actor.retiring.size() <= 2) return;
    for (const Sample& sample : actor.retiring.front()) drop(sample);
    actor.retiring.pop_front();
  }

  const PlanRecords& plan_;
  std::mt19937 random_;
  std::vector<std::deque<Sample>> queues_;
  std::vector<Pool> pools_{};
  std::vector<std::uint32_t> peaks_{};
  std::vector<Actor> actors_{};
  std::vector<std::uint32_t> weights_{};
  std::uint64_t activations_{0};
};

}  // namespace weftline
