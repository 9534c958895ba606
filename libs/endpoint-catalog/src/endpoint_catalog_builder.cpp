// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/endpoint_catalog_builder.hpp"

#include "catalog_state.hpp"
#include "record_json.hpp"
#include "record_rules.hpp"
#include "text.hpp"
#include "weftline/core/digest.hpp"

namespace weftline {

using catalog_text::concat;
using catalog_text::in_quotes;

ChannelEndpointCatalogBuilder::ChannelEndpointCatalogBuilder(std::string deployment_id)
    : deployment_id_(std::move(deployment_id)) {}

expected<void, Error> ChannelEndpointCatalogBuilder::add(EndpointRecord record) {
  WEFTLINE_ASSIGN(EndpointRecord checked, checked_record(std::move(record)));
  const auto [place, added] = records_.try_emplace(checked.name);
  if (!added) {
    return fail(
        ErrorCode::kDuplicateName, "CATALOG_DUPLICATE_NAME",
        concat({"endpoint ", in_quotes(checked.name), " is there already, as ", place->second.uri,
                ", and is added again as ", checked.uri, "; give one of them another name"}));
  }
  place->second = std::move(checked);
  return {};
}

expected<ChannelEndpointCatalog, Error> ChannelEndpointCatalogBuilder::build() && {
  if (!catalog_text::is_name(deployment_id_)) {
    return fail(ErrorCode::kInvalidArgument, "CATALOG_DEPLOYMENT_INVALID",
                concat({"deployment_id is ", in_quotes(deployment_id_),
                        "; use 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front"}));
  }
  if (records_.empty()) return ChannelEndpointCatalog();

  auto state = std::make_shared<ChannelEndpointCatalog::State>();
  JsonValue::Array endpoints;
  for (auto& [name, record] : records_) {
    endpoints.push_back(record_to_json(record));
    state->endpoints.push_back(std::move(record));
  }
  records_.clear();
  state->json = JsonValue(JsonValue::Object{{"deployment_id", deployment_id_},
                                            {"endpoints", std::move(endpoints)},
                                            {"schema", kCatalogSchema},
                                            {"version", kCatalogVersion}})
                    .dump(2);
  if (state->json.size() > kMaximumCatalogBytes) {
    return fail(ErrorCode::kResourceExhausted, "CATALOG_TOO_LARGE",
                concat({"the catalog has ", std::to_string(state->json.size()),
                        " bytes, the limit is ", std::to_string(kMaximumCatalogBytes),
                        "; split the deployment into several catalogs"}));
  }
  state->digest = digest_text(sha256(state->json));
  state->deployment_id = std::move(deployment_id_);
  return ChannelEndpointCatalog(std::move(state));
}

EndpointRecord ChannelEndpointCatalogBuilder::make_record(std::string name, std::string uri,
                                                          TopicDirection direction,
                                                          PayloadIdentity payload,
                                                          EndpointOptions options) {
  return {.name = std::move(name),
          .uri = std::move(uri),
          .name_origin = options.name_origin,
          .direction = direction,
          .payload = std::move(payload),
          .queue_policy = options.queue_policy,
          .queue_depth = options.queue_depth,
          .max_subscribers = options.max_subscribers,
          .max_borrowed_samples = options.max_borrowed_samples,
          .max_loaned_samples = options.max_loaned_samples,
          .peer = options.peer,
          .attach_timeout_ns = options.attach_timeout_ns,
          .incarnations = options.incarnations,
          .process_group = std::move(options.process_group),
          .tensor = options.tensor,
          .capture_time = options.capture_time,
          .clock_health = options.clock_health};
}

}  // namespace weftline
