// SPDX-License-Identifier: Apache-2.0
#include "plan_layout.hpp"

#include <algorithm>
#include <numeric>

namespace motion_watch {
namespace {

// A node, or the place where a connection passes a layer.
struct Item {
  std::size_t layer = 0;
  bool is_node = true;
  double centre = 0;  // vertical
  std::vector<std::size_t> before, after;
};

// One more than the highest layer that leads to a node. Where only cycles are left, the first
// node of them is taken as a source.
std::vector<std::size_t> layers_of(std::size_t nodes, const std::vector<Connection>& connections) {
  std::vector<std::size_t> layer(nodes, 0);
  std::vector<bool> placed(nodes, false);
  const auto is_ready = [&](std::size_t node) {
    return std::none_of(connections.begin(), connections.end(), [&](const Connection& c) {
      return c.to == node && c.from != node && !placed[c.from];
    });
  };
  for (std::size_t step = 0; step < nodes; ++step) {
    std::size_t first = nodes;
    std::size_t ready = nodes;
    for (std::size_t node = nodes; node-- > 0;) {
      if (placed[node]) continue;
      first = node;
      if (is_ready(node)) ready = node;
    }
    const std::size_t next = ready < nodes ? ready : first;
    for (const Connection& c : connections) {
      if (c.to == next && placed[c.from]) layer[next] = std::max(layer[next], layer[c.from] + 1);
    }
    placed[next] = true;
  }
  return layer;
}

class Drawing {
 public:
  Drawing(std::size_t nodes, const std::vector<Connection>& connections, const LayoutSizes& sizes)
      : sizes_(sizes), items_(nodes) {
    const std::vector<std::size_t> layer = layers_of(nodes, connections);
    for (std::size_t i = 0; i < nodes; ++i) place(i, layer[i]);
    for (const Connection& c : connections) chains_.push_back(chain_of(c));
    for (int sweep = 0; sweep < 4; ++sweep) {
      for (std::size_t i = 1; i < layers_.size(); ++i) order(layers_[i], &Item::before);
      for (std::size_t i = layers_.size(); i-- > 1;) order(layers_[i - 1], &Item::after);
    }
    stack_layers();
  }

  PlanLayout result(std::size_t nodes) const {
    PlanLayout layout;
    const double columns = static_cast<double>(layers_.size());
    layout.width = columns * sizes_.node_width + std::max(columns - 1, 0.0) * sizes_.column_gap;
    layout.height = height_;
    for (std::size_t i = 0; i < nodes; ++i) {
      layout.nodes.push_back({left_of(items_[i]), items_[i].centre - sizes_.node_height / 2});
    }
    const std::vector<double> starts = spread_ends(nodes, true);
    const std::vector<double> ends = spread_ends(nodes, false);
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const std::vector<std::size_t>& chain = chains_[c];
      std::vector<Point>& points = layout.connections.emplace_back();
      points.push_back({left_of(items_[chain.front()]) + sizes_.node_width, starts[c]});
      for (std::size_t k = 1; k + 1 < chain.size(); ++k) {
        const Item& lane = items_[chain[k]];
        points.push_back({left_of(lane), lane.centre});
        points.push_back({left_of(lane) + sizes_.node_width, lane.centre});
      }
      points.push_back({left_of(items_[chain.back()]), ends[c]});
    }
    return layout;
  }

 private:
  double left_of(const Item& item) const {
    return static_cast<double>(item.layer) * (sizes_.node_width + sizes_.column_gap);
  }

  double height_of(const Item& item) const {
    return item.is_node ? sizes_.node_height : sizes_.lane_height;
  }

  // Where each connection meets its first (or last) node: spread over the node's side, in the order
  // of what they come from, so that they neither cross nor cover one another there.
  std::vector<double> spread_ends(std::size_t nodes, bool first) const {
    std::vector<double> y(chains_.size());
    const auto neighbour_centre = [&](std::size_t c) {
      const std::vector<std::size_t>& chain = chains_[c];
      return items_[first ? chain[1] : chain[chain.size() - 2]].centre;
    };
    for (std::size_t node = 0; node < nodes; ++node) {
      std::vector<std::size_t> here;
      for (std::size_t c = 0; c < chains_.size(); ++c) {
        if ((first ? chains_[c].front() : chains_[c].back()) == node) here.push_back(c);
      }
      std::stable_sort(here.begin(), here.end(), [&](std::size_t a, std::size_t b) {
        return neighbour_centre(a) < neighbour_centre(b);
      });
      const double step = sizes_.node_height / (static_cast<double>(here.size()) + 1);
      for (std::size_t k = 0; k < here.size(); ++k) {
        y[here[k]] =
            items_[node].centre - sizes_.node_height / 2 + step * static_cast<double>(k + 1);
      }
    }
    return y;
  }

  void place(std::size_t item, std::size_t layer) {
    items_[item].layer = layer;
    if (layers_.size() <= layer) layers_.resize(layer + 1);
    layers_[layer].push_back(item);
  }

  // The items from one end of a connection to the other, with new ones in the layers between.
  std::vector<std::size_t> chain_of(const Connection& c) {
    std::vector<std::size_t> chain{c.from};
    for (std::size_t layer = items_[c.from].layer + 1; layer < items_[c.to].layer; ++layer) {
      items_.emplace_back().is_node = false;
      place(items_.size() - 1, layer);
      chain.push_back(items_.size() - 1);
    }
    chain.push_back(c.to);
    if (items_[c.from].layer < items_[c.to].layer) {
      for (std::size_t k = 0; k + 1 < chain.size(); ++k) {
        items_[chain[k]].after.push_back(chain[k + 1]);
        items_[chain[k + 1]].before.push_back(chain[k]);
      }
    }
    return chain;
  }

  // Sorts a layer by the mean position of each item's neighbours on one side; an item without any
  // stays about where it is.
  void order(std::vector<std::size_t>& layer, std::vector<std::size_t> Item::*side) {
    std::vector<double> wanted(items_.size());
    for (std::size_t place = 0; place < layer.size(); ++place) {
      const std::vector<std::size_t>& neighbours = items_[layer[place]].*side;
      double sum = 0;
      for (const std::size_t n : neighbours) sum += relative_place(n);
      const double own = relative_place(layer[place]);
      wanted[layer[place]] =
          neighbours.empty() ? own : sum / static_cast<double>(neighbours.size());
    }
    std::stable_sort(layer.begin(), layer.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  }

  // From 0 at the top of the item's layer to 1 at its bottom.
  double relative_place(std::size_t item) const {
    const std::vector<std::size_t>& layer = layers_[items_[item].layer];
    const auto place = std::find(layer.begin(), layer.end(), item) - layer.begin();
    return (static_cast<double>(place) + 0.5) / static_cast<double>(layer.size());
  }

  void stack_layers() {
    const auto layer_height = [&](const std::vector<std::size_t>& layer) {
      return std::accumulate(layer.begin(), layer.end(), -sizes_.row_gap,
                             [&](double sum, std::size_t item) {
                               return sum + height_of(items_[item]) + sizes_.row_gap;
                             });
    };
    for (const auto& layer : layers_) height_ = std::max(height_, layer_height(layer));
    for (const auto& layer : layers_) {
      double y = (height_ - layer_height(layer)) / 2;
      for (const std::size_t item : layer) {
        items_[item].centre = y + height_of(items_[item]) / 2;
        y += height_of(items_[item]) + sizes_.row_gap;
      }
    }
  }

  LayoutSizes sizes_;
  std::vector<Item> items_;  // the nodes first
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<std::vector<std::size_t>> chains_;  // by connection
  double height_ = 0;
};

}  // namespace

PlanLayout lay_out_plan(std::size_t nodes, const std::vector<Connection>& connections,
                        const LayoutSizes& sizes) {
  return Drawing(nodes, connections, sizes).result(nodes);
}

}  // namespace motion_watch
