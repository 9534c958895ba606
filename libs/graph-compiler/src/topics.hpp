// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "compile_state.hpp"

namespace weftline {

/// "weftline://…" for "holomq://…"; anything else as it is.
[[nodiscard]] std::string canonical_uri(std::string uri);

/// "weftline://camera/left" becomes "camera.left".
[[nodiscard]] std::string name_from_uri(std::string_view uri);

[[nodiscard]] std::string endpoint_name(const std::string& uri, const TopicOptions& options);

/// The depth that a topic gives; absent where it gives none.
[[nodiscard]] std::optional<std::uint32_t> stated_depth(const TopicOptions& options);

/// All that two topics of one URI can differ in, in an order.
[[nodiscard]] inline auto topic_order(const TopicOptions& options) {
  const auto dtype = [](DLDataType type) { return std::tuple(type.code, type.bits, type.lanes); };
  std::optional<std::tuple<MemoryKind, decltype(dtype({})), std::optional<std::uint32_t>,
                           std::optional<std::uint32_t>, std::uint64_t>>
      tensor;
  if (const auto& contract = options.tensor) {
    tensor.emplace(contract->memory_kind, dtype(contract->dtype), contract->rank,
                   contract->max_rank, contract->max_byte_span);
  }
  const ClockHealthOptions& health = options.clock_health;
  const EndpointBounds& bounds = options.bounds;
  return std::tuple(
      options.endpoint_name, options.queue_depth, options.attach.peer, options.attach.wait,
      options.memory_conversion, options.capture_time,
      std::tuple(health.capability, health.requirement, health.max_report_age, health.action),
      tensor,
      std::tuple(bounds.publisher.max_subscribers, bounds.publisher.max_loaned_samples,
                 bounds.subscriber.queue_depth, bounds.subscriber.max_borrowed_samples),
      options.restart.allow_external_restart, options.restart.generation_capacity);
}

/// What a port states and a boundary contract contradicts, both values of each; empty: nothing.
[[nodiscard]] std::string contradictions(const TensorBoundaryContract& contract,
                                         const TensorRepresentation& port,
                                         std::string_view port_name);

/// An endpoint's record without what only the whole plan tells.
[[nodiscard]] EndpointRecord endpoint_record(const std::string& uri, const TopicOptions& options,
                                             const PayloadIdentity& payload,
                                             TopicDirection direction, const TopicState& topic);

}  // namespace weftline
