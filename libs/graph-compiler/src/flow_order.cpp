// SPDX-License-Identifier: Apache-2.0
#include "flow_order.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>

namespace weftline {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Tarjan's strongly connected components with a stack of its own in place of recursion.
class Components {
 public:
  explicit Components(const Successors& successors)
      : successors_(successors),
        index_(successors.size(), kNone),
        low_(successors.size(), 0),
        component_(successors.size(), kNone) {
    for (std::uint32_t root = 0; root < successors.size(); ++root) {
      if (index_[root] == kNone) walk_from(root);
    }
  }

  /// Vertices of each component, ascending; components by their smallest vertex.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> members() const {
    std::vector<std::vector<std::uint32_t>> sets(component_count_);
    for (std::uint32_t v = 0; v < component_.size(); ++v) sets[component_[v]].push_back(v);
    std::ranges::sort(sets);
    return sets;
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t vertex) const { return component_[vertex]; }

 private:
  struct Frame {
    std::uint32_t vertex{0};
    std::size_t next{0};
  };

  void enter(std::uint32_t vertex) {
    index_[vertex] = low_[vertex] = visited_++;
    open_.push_back(vertex);
    frames_.push_back({vertex, 0});
  }

  void walk_from(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t v = frame.vertex;
      if (frame.next < successors_[v].size()) {
        const std::uint32_t w = successors_[v][frame.next++];
        if (index_[w] == kNone) {
          enter(w);
        } else if (component_[w] == kNone) {
          low_[v] = std::min(low_[v], index_[w]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        const std::uint32_t parent = frames_.back().vertex;
        low_[parent] = std::min(low_[parent], low_[v]);
      }
      if (low_[v] == index_[v]) close(v);
    }
  }

  void close(std::uint32_t root) {
    std::uint32_t vertex = kNone;
    do {
      vertex = open_.back();
      open_.pop_back();
      component_[vertex] = component_count_;
    } while (vertex != root);
    ++component_count_;
  }

  const Successors& successors_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> open_;
  std::vector<Frame> frames_;
  std::uint32_t visited_{0};
  std::uint32_t component_count_{0};
};

/// Breadth first from `start` back to itself inside its component; empty when no edge leads back.
std::vector<std::uint32_t> shortest_loop(const Successors& successors, const Components& components,
                                         std::uint32_t start,
                                         std::vector<std::uint32_t>& came_from) {
  std::queue<std::uint32_t> waiting({start});
  while (!waiting.empty()) {
    const std::uint32_t v = waiting.front();
    waiting.pop();
    for (const std::uint32_t w : successors[v]) {
      if (w == start) {
        std::vector<std::uint32_t> loop{v};
        while (loop.back() != start) loop.push_back(came_from[loop.back()]);
        std::ranges::reverse(loop);
        return loop;
      }
      if (components.of(w) != components.of(start) || came_from[w] != kNone) continue;
      came_from[w] = v;
      waiting.push(w);
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> topological_order(const Successors& successors) {
  std::vector<std::uint32_t> unmet(successors.size(), 0);
  for (const auto& targets : successors) {
    for (const std::uint32_t w : targets) ++unmet[w];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t v = 0; v < unmet.size(); ++v) {
    if (unmet[v] == 0) ready.push(v);
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const std::uint32_t v = ready.top();
    ready.pop();
    order.push_back(v);
    for (const std::uint32_t w : successors[v]) {
      if (--unmet[w] == 0) ready.push(w);
    }
  }
  for (std::uint32_t v = 0; v < unmet.size(); ++v) {
    if (unmet[v] != 0) order.push_back(v);
  }
  return order;
}

std::vector<std::vector<std::uint32_t>> find_loops(const Successors& successors) {
  const Components components(successors);
  std::vector<std::uint32_t> came_from(successors.size(), kNone);
  std::vector<std::vector<std::uint32_t>> loops;
  for (const auto& members : components.members()) {
    auto loop = shortest_loop(successors, components, members.front(), came_from);
    if (!loop.empty()) loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace weftline
