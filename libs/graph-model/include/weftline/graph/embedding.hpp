// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/graph/handles.hpp"
#include "weftline/graph/port.hpp"

namespace weftline {

class Graph;

/// No graph is embedded deeper: the outermost is at level 0, this is the last level.
inline constexpr std::uint32_t kMaximumGraphNesting = 64;

// A reusable graph derives from Graph, composes itself, and has its exported ports as members:
//
//   class Fusion : public Graph {
//    public:
//     using Graph::Graph;
//     GraphInput<Tensor> frames;
//     GraphOutput<float> score;
//    protected:
//     void compose() override {
//       const auto detect = op<Detect>("detect");
//       const auto rank = op<Rank>("rank");
//       add_flow(detect->boxes, rank->boxes);
//       frames = export_input("frames", detect->frames, rank->frames);
//       score = export_output("score", rank->score);
//     }
//   };
//
//   const auto fusion = graph.embed<Fusion>("fusion");
//   graph.add_flow(camera->frames, fusion->frames);
//
// The plan is flat: the operator is "fusion/detect".

/// An exported port without its type; one that was not exported is empty.
class ExportedPortRef {
 public:
  ExportedPortRef() = default;

 protected:
  ExportedPortRef(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : graph_(std::move(graph)), index_(index), bound_(true) {}

 private:
  friend struct GraphState;
  std::weak_ptr<GraphState> graph_{};
  std::uint32_t index_{0};
  bool bound_{false};
};

/// An exported input: stands for one or more inputs inside. A weak handle; flows to it belong to
/// the graph around it.
template <PublishedPayload T>
class GraphInput final : public ExportedPortRef {
 public:
  using Payload = T;
  GraphInput() = default;

 private:
  friend class Graph;
  GraphInput(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : ExportedPortRef(std::move(graph), index) {}
};

/// An exported output: stands for one output inside.
template <PublishedPayload T>
class GraphOutput final : public ExportedPortRef {
 public:
  using Payload = T;
  GraphOutput() = default;

 private:
  friend class Graph;
  GraphOutput(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : ExportedPortRef(std::move(graph), index) {}
};

/// An operator's output, or an embedded graph's. For Graph.
struct FlowSource {
  const OutputPort* port{nullptr};
  ExportedPortRef exported{};
};

/// An operator's input, or an embedded graph's. For Graph.
struct FlowTarget {
  const InputPort* port{nullptr};
  ExportedPortRef exported{};
};

/// Something that can stand where inputs of T are named.
template <class Port, class T>
concept InputLike = std::same_as<Port, Input<T>> || std::same_as<Port, GraphInput<T>>;

/// An embedded graph without its type.
class EmbeddedGraphRef {
 protected:
  explicit EmbeddedGraphRef(std::weak_ptr<Graph> graph) noexcept : graph_(std::move(graph)) {}
  [[nodiscard]] std::shared_ptr<Graph> lock() const;

 private:
  friend struct GraphState;
  std::weak_ptr<Graph> graph_;
};

/// A weak handle: `fusion->frames` names an exported port.
template <class G>
class EmbeddedGraph final : public EmbeddedGraphRef {
 public:
  explicit EmbeddedGraph(const std::shared_ptr<G>& graph) noexcept : EmbeddedGraphRef(graph) {}
  [[nodiscard]] G* operator->() const { return static_cast<G*>(lock().get()); }
};

}  // namespace weftline
