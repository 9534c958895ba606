// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph_state.hpp"

namespace weftline {

/// A tree of embedded graphs as one list, each with where its things stand in the snapshot.
class FlatGraphs {
 public:
  struct Place {
    const GraphState* graph{nullptr};
    std::string prefix{};
    std::optional<std::uint32_t> instance{};  ///< Absent: the outermost.
    std::optional<std::uint32_t> parent_instance{};
    std::string type_id{};
    std::uint32_t type_version{0};
    std::uint32_t first_vertex{0};
    std::uint32_t first_partition{0};
    std::optional<std::uint32_t> partition{};  ///< That the graph around it put all of it in.
  };

  explicit FlatGraphs(const GraphState& outermost);
  [[nodiscard]] const std::vector<Place>& places() const noexcept { return places_; }
  [[nodiscard]] VertexId vertex(AuthoredOperator op) const;
  [[nodiscard]] PortRef port(AuthoredPort port) const;
  /// Everything but the operators themselves.
  void add_structure(GraphSnapshot& snapshot) const;

 private:
  [[nodiscard]] const Place& of(const GraphState* graph) const;
  void add_flows(GraphSnapshot& snapshot, const Place& place) const;
  void add_instance(GraphSnapshot& snapshot, const Place& place) const;
  void add_scopes(GraphSnapshot& snapshot, const Place& place) const;
  void add_overrides(GraphSnapshot& snapshot, const Place& place) const;
  void add_lifecycle(GraphSnapshot& snapshot, const Place& place) const;

  std::vector<Place> places_{};
  std::map<const GraphState*, std::size_t, std::less<>> index_{};
};

}  // namespace weftline
