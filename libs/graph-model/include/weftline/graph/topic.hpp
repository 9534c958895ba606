// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/graph/port.hpp"

namespace weftline {

/// Does the graph insist on a peer, and how long does start-up wait for one? With an optional peer
/// that is not there an emit succeeds with 0 recipients; with a required one it is kNotReady.
struct TopicAttachPolicy {
  PeerRequirement peer{PeerRequirement::kRequired};
  std::chrono::nanoseconds wait{0};
};

struct TopicOptions {
  /// The name that peers use; without one it is made from the URI.
  std::optional<std::string> endpoint_name{};
  TopicAttachPolicy attach{};
  /// Frames queued per link; the catalog's default otherwise.
  std::optional<std::uint32_t> queue_depth{};
};

/// What `add_flow()` connects an output to.
template <PublishedPayload T>
struct ExportInlet {
  std::uint32_t ordinal{0};
};

/// Stands for one exported topic of a graph.
template <PublishedPayload T>
class ExportedTopic {
 public:
  explicit ExportedTopic(std::uint32_t ordinal) noexcept : ordinal_(ordinal) {}
  [[nodiscard]] ExportInlet<T> input() const noexcept { return {ordinal_}; }

 private:
  std::uint32_t ordinal_;
};

}  // namespace weftline
