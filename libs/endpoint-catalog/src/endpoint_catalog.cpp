// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/endpoint_catalog.hpp"

#include <algorithm>

#include "catalog_state.hpp"
#include "object_reader.hpp"
#include "record_json.hpp"
#include "text.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/core/file.hpp"

namespace weftline {
namespace {

using catalog_text::concat;
using catalog_text::in_quotes;
using catalog_text::item_path;

/// Objects and lists inside one another, in the deepest place: a field of a POD.
constexpr unsigned kCatalogDepth = 6;

const std::string& no_text() noexcept {
  static const std::string kText;
  return kText;
}

expected<void, Error> check_marker(const std::string& schema, std::uint64_t version) {
  if (schema == kCatalogSchema && version == kCatalogVersion) return {};
  return fail(
      ErrorCode::kNotSupported, "CATALOG_SCHEMA_UNKNOWN",
      concat({"the text is ", in_quotes(schema), " version ", std::to_string(version),
              ", this build reads '", kCatalogSchema, "' version ", std::to_string(kCatalogVersion),
              "; save the catalog again with this version"}));
}

}  // namespace

ChannelEndpointCatalogBuilder ChannelEndpointCatalog::builder(std::string deployment_id) {
  return ChannelEndpointCatalogBuilder(std::move(deployment_id));
}

expected<ChannelEndpointCatalog, Error> ChannelEndpointCatalog::parse(std::string_view json) {
  WEFTLINE_ASSIGN(const JsonValue root, parse_json(json, {.max_bytes = kMaximumCatalogBytes,
                                                          .max_depth = kCatalogDepth}));
  ObjectReader reader(root, "catalog");
  // The marker comes first: a later version may have other keys.
  const std::string schema = reader.text("schema");
  const auto version = reader.number<std::uint64_t>("version");
  if (reader.ok()) {
    WEFTLINE_TRY(check_marker(schema, version));
  }
  std::string deployment_id = reader.text("deployment_id");
  const JsonValue::Array* endpoints = reader.array("endpoints");
  WEFTLINE_TRY(reader.finish());
  if (endpoints->empty()) {
    return fail(ErrorCode::kInvalidArgument, "CATALOG_EMPTY",
                "catalog.endpoints is an empty list; a catalog has at least one endpoint");
  }
  ChannelEndpointCatalogBuilder builder(std::move(deployment_id));
  for (std::size_t i = 0; i < endpoints->size(); ++i) {
    WEFTLINE_ASSIGN(EndpointRecord record,
                    record_from_json((*endpoints)[i], item_path("endpoints", i)));
    WEFTLINE_TRY(builder.add(std::move(record)));
  }
  return std::move(builder).build();
}

expected<ChannelEndpointCatalog, Error> ChannelEndpointCatalog::load_json(
    const std::filesystem::path& path) {
  WEFTLINE_ASSIGN(const std::string bytes, read_file(path, kMaximumCatalogBytes));
  auto catalog = parse(bytes);
  if (!catalog) {
    Error error = std::move(catalog).error();
    error.message = concat({"catalog file '", path.native(), "': ", error.message});
    return make_unexpected(std::move(error));
  }
  return catalog;
}

expected<bool, Error> ChannelEndpointCatalog::save_json(const std::filesystem::path& path) const {
  if (state_ == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "CATALOG_EMPTY",
                concat({"the catalog has no endpoints, so there is nothing to save at '",
                        path.native(), "'"}));
  }
  return save_file(path, state_->json);
}

const std::string& ChannelEndpointCatalog::json() const noexcept {
  return state_ ? state_->json : no_text();
}

const std::string& ChannelEndpointCatalog::digest() const noexcept {
  return state_ ? state_->digest : no_text();
}

const std::string& ChannelEndpointCatalog::deployment_id() const noexcept {
  return state_ ? state_->deployment_id : no_text();
}

std::span<const EndpointRecord> ChannelEndpointCatalog::endpoints() const noexcept {
  return state_ ? std::span<const EndpointRecord>(state_->endpoints)
                : std::span<const EndpointRecord>();
}

const EndpointRecord* ChannelEndpointCatalog::find(std::string_view name) const noexcept {
  const auto records = endpoints();
  const auto found = std::ranges::lower_bound(records, name, {}, &EndpointRecord::name);
  return found == records.end() || found->name != name ? nullptr : &*found;
}

}  // namespace weftline
