// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/plan/boundary_records.hpp"

namespace weftline {

/// Does the graph insist on a peer, and how long does start-up wait for one? With an optional peer
/// that is not there an emit succeeds with 0 recipients; with a required one it is kNotReady.
struct TopicAttachPolicy {
  PeerRequirement peer{PeerRequirement::kRequired};
  std::chrono::nanoseconds wait{0};
};

/// What the side that publishes may have under way; absent: the catalog's default.
struct PublisherEndpointBounds {
  std::optional<std::uint32_t> max_subscribers{};     ///< Links at a time; 1 to 64.
  std::optional<std::uint32_t> max_loaned_samples{};  ///< Samples being filled; 1 to 64.
};

/// What each side that subscribes may have under way.
struct SubscriberEndpointBounds {
  /// Frames queued per link; 1 to 65,536. Absent: the catalog's default.
  std::optional<std::uint32_t> queue_depth{};
  /// Samples held at a time; 1 to 64. Absent: for an imported tensor topic what its inputs hold
  /// together, else the catalog's default. A given one is exact, and an error where that is more.
  std::optional<std::uint32_t> max_borrowed_samples{};
};

struct EndpointBounds {
  PublisherEndpointBounds publisher{};
  SubscriberEndpointBounds subscriber{};
};

/// Whether an imported topic outlives its producer. Only an explicit end of stream makes room for
/// the next incarnation; the budget is for one run and is not given back.
struct TopicRestartOptions {
  bool allow_external_restart{false};
  /// Incarnations, the first included; 2 to 65,536. A deployment may raise it.
  std::uint32_t generation_capacity{2};
};

/// What a graph says of one external topic. Checked by compile().
struct TopicOptions {
  /// The name that peers use; without one it is made from the URI.
  std::optional<std::string> endpoint_name{};
  TopicAttachPolicy attach{};
  /// Frames queued per link, the same as `bounds.subscriber.queue_depth`.
  std::optional<std::uint32_t> queue_depth{};
  MemoryConversionPolicy memory_conversion{MemoryConversionPolicy::kDefault};
  RequireCaptureTime capture_time{RequireCaptureTime::kNo};
  ClockHealthOptions clock_health{};
  /// For tensor topics only. An import needs it; an export without it takes what its output's pool
  /// states, all of memory kind, dtype, rank and largest span.
  std::optional<TensorBoundaryContract> tensor{};
  EndpointBounds bounds{};
  TopicRestartOptions restart{};  ///< Imports only.
};

struct GraphState;

/// What `add_flow()` connects an output to.
template <PublishedPayload T>
struct ExportInlet {
  std::uint32_t ordinal{0};
  std::weak_ptr<const GraphState> graph{};
};

/// What `add_flow()` connects to an input.
template <PublishedPayload T>
struct ImportOutlet {
  std::uint32_t ordinal{0};
  std::weak_ptr<const GraphState> graph{};
};

/// Stands for one exported topic of a graph. Weak: of no use to another graph, or once it is gone.
template <PublishedPayload T>
class ExportedTopic {
 public:
  ExportedTopic(std::uint32_t ordinal, std::weak_ptr<const GraphState> graph) noexcept
      : inlet_{ordinal, std::move(graph)} {}
  [[nodiscard]] ExportInlet<T> input() const noexcept { return inlet_; }

 private:
  ExportInlet<T> inlet_;
};

/// Stands for one imported topic of a graph; any number of inputs may take from it. Weak, as above.
template <PublishedPayload T>
class ImportedTopic {
 public:
  ImportedTopic(std::uint32_t ordinal, std::weak_ptr<const GraphState> graph) noexcept
      : outlet_{ordinal, std::move(graph)} {}
  [[nodiscard]] ImportOutlet<T> output() const noexcept { return outlet_; }

 private:
  ImportOutlet<T> outlet_;
};

}  // namespace weftline
