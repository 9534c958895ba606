// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "weftline/catalog/endpoint_record.hpp"

namespace weftline {

/// One field in which two sides of an endpoint differ, both values as text.
struct EndpointDifference {
  std::string field{};
  std::string here{};
  std::string there{};
};

/// Why two records of one endpoint can or can't work together.
struct EndpointCompatibilityReport {
  std::string endpoint{};
  std::vector<EndpointDifference> differences{};
  [[nodiscard]] bool compatible() const noexcept { return differences.empty(); }
  /// One line: endpoint, each field with both values, and what to do.
  [[nodiscard]] std::string to_string() const;
};

/// Compares what has to match exactly: direction, payload identity, queue policy, queue depth, the
/// maxima of subscribers and borrowed samples, tensor contract, capture time, what is promised and
/// required of the capture clock. Name, URI, peer requirement, time-out, incarnations, process
/// group, loaned samples and the action on an unhealthy clock may differ.
[[nodiscard]] EndpointCompatibilityReport compare_endpoints(const EndpointRecord& here,
                                                            const EndpointRecord& there);

}  // namespace weftline
