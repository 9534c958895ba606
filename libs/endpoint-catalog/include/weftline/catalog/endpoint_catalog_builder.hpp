// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "weftline/catalog/endpoint_catalog.hpp"

namespace weftline {

/// What a builder call may say beyond name, URI and type; absent facts keep the record's defaults.
struct EndpointOptions {
  ChannelQueuePolicy queue_policy{ChannelQueuePolicy::kBlocking};
  std::uint32_t queue_depth{8};
  std::uint32_t max_subscribers{8};
  std::uint32_t max_borrowed_samples{1};
  std::uint32_t max_loaned_samples{1};
  PeerRequirement peer{PeerRequirement::kRequired};
  std::uint64_t attach_timeout_ns{0};
  std::uint32_t incarnations{1};
  std::string process_group{"default"};
  EndpointNameOrigin name_origin{EndpointNameOrigin::kAuthored};
  std::optional<TensorBoundaryContract> tensor{};
  RequireCaptureTime capture_time{RequireCaptureTime::kNo};
  ClockHealthOptions clock_health{};
};

/// Authors a catalog without a graph. Names are from the graph's point of view, as in a graph:
/// `import_topic` declares an endpoint that a peer publishes into a graph, `export_topic` one that
/// a peer subscribes to. A refused call leaves the builder as it was.
class ChannelEndpointCatalogBuilder {
 public:
  explicit ChannelEndpointCatalogBuilder(std::string deployment_id);

  template <PublishedPayload T>
  [[nodiscard]] expected<void, Error> import_topic(std::string name, std::string uri,
                                                   EndpointOptions options = {}) {
    PayloadIdentity payload = payload_identity<T>();
    return add(make_record(std::move(name), std::move(uri), TopicDirection::kImport,
                           std::move(payload), std::move(options)));
  }
  template <PublishedPayload T>
  [[nodiscard]] expected<void, Error> export_topic(std::string name, std::string uri,
                                                   EndpointOptions options = {}) {
    PayloadIdentity payload = payload_identity<T>();
    return add(make_record(std::move(name), std::move(uri), TopicDirection::kExport,
                           std::move(payload), std::move(options)));
  }
  /// Adds a finished record (what the compiler does). kDuplicateName, kInvalidArgument or
  /// kResourceExhausted (frame too large) with the offending values. "holomq://…" URIs are accepted
  /// and kept as "weftline://…".
  [[nodiscard]] expected<void, Error> add(EndpointRecord record);

  /// Refuses a deployment id that is no name (CATALOG_DEPLOYMENT_INVALID) and a catalog too large
  /// to be loaded again (CATALOG_TOO_LARGE). Without endpoints the result is the empty catalog.
  [[nodiscard]] expected<ChannelEndpointCatalog, Error> build() &&;

 private:
  [[nodiscard]] static EndpointRecord make_record(std::string name, std::string uri,
                                                  TopicDirection direction, PayloadIdentity payload,
                                                  EndpointOptions options);
  std::string deployment_id_;
  std::map<std::string, EndpointRecord> records_{};
};

}  // namespace weftline
