// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators; the graph's topics.
// Adds: the endpoint catalog, made with the catalog's own builder, whose refusals become
// diagnostics; the export edges by endpoint and source; errors for topics that are not fed exactly
// once or that carry tensors.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "passes/passes.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline::passes {
namespace {

/// "weftline://camera/left" becomes "camera.left".
std::string name_from_uri(std::string_view uri) {
  constexpr std::string_view kSeparator = "://";
  if (const auto at = uri.find(kSeparator); at != std::string_view::npos) {
    uri.remove_prefix(at + kSeparator.size());
  }
  while (uri.starts_with('/') || uri.starts_with('.')) uri.remove_prefix(1);
  std::string name(uri);
  for (char& c : name) {
    if (c == '/') c = '.';
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return name;
}

EndpointRecord endpoint_of(const ExportSnapshot& topic) {
  const TopicOptions& options = topic.options;
  EndpointRecord record;
  record.name = options.endpoint_name.value_or(name_from_uri(topic.uri));
  record.uri = topic.uri;
  record.name_origin =
      options.endpoint_name ? EndpointNameOrigin::kAuthored : EndpointNameOrigin::kGenerated;
  record.direction = TopicDirection::kExport;
  record.payload = topic.payload;
  record.queue_depth = options.queue_depth.value_or(record.queue_depth);
  record.peer = options.attach.peer;
  record.attach_timeout_ns = static_cast<std::uint64_t>(options.attach.wait.count());
  return record;
}

void check_sources(CompileState& state, const ExportSnapshot& topic, const std::string& place) {
  if (topic.sources.empty()) {
    state.error("ENDPOINT_UNCONNECTED", place, "no output feeds the exported topic " + topic.uri,
                "add_flow() an output to its input(), or do not export it");
  }
  if (topic.sources.size() > 1) {
    std::string names;
    for (const PortRef source : topic.sources) {
      names.append(names.empty() ? "" : ", ").append(state.plan.output_name(source));
    }
    state.error("ENDPOINT_FAN_IN", place,
                std::to_string(topic.sources.size()) + " outputs feed one topic: " + names,
                "export one topic for each of them");
  }
}

/// False when no endpoint can be made of the topic.
bool check_topic(CompileState& state, const ExportSnapshot& topic, const std::string& place) {
  check_sources(state, topic, place);
  const bool tensor = topic.payload.kind == PayloadIdentityKind::kTensor;
  if (tensor) {
    state.error("TENSOR_EXPORT_UNSUPPORTED", place,
                "tensors can't leave the process through " + topic.uri + " in this version",
                "export a scalar or a POD computed from the tensor");
  }
  const auto wait = topic.options.attach.wait.count();
  if (wait < 0) {
    state.error("ENDPOINT_ATTACH_WAIT_INVALID", place,
                "a wait of " + std::to_string(wait) + " ns for the peer",
                "give TopicAttachPolicy::wait 0 or more");
  }
  return !tensor && wait >= 0;
}

struct NamedSource {
  std::string endpoint{};
  PortRef source{};
};

void record_edges(PlanRecords& plan, const std::vector<NamedSource>& named) {
  const auto endpoints = plan.endpoint_catalog.endpoints();
  for (const auto& [name, source] : named) {
    const auto found = std::ranges::find(endpoints, name, &EndpointRecord::name);
    if (found == endpoints.end()) continue;
    const EndpointId id{static_cast<std::uint32_t>(found - endpoints.begin())};
    plan.export_edges.push_back({id, name, source});
  }
  std::ranges::sort(plan.export_edges, {}, [](const ExportEdgePlanRecord& edge) {
    return std::tuple(edge.endpoint, edge.source);
  });
}

}  // namespace

void freeze_endpoints(CompileState& state) {
  if (state.graph.exports.empty()) return;
  auto builder = ChannelEndpointCatalog::builder(state.plan.graph_name);
  const auto refuse = [&](const std::string& place, const Error& error) {
    state.error(error.token, place, error.message, {});
  };
  std::vector<NamedSource> named;
  for (const ExportSnapshot& topic : state.graph.exports) {
    EndpointRecord record = endpoint_of(topic);
    const std::string name = record.name;
    const std::string place = "endpoint " + name;
    if (!check_topic(state, topic, place)) continue;
    if (const auto added = builder.add(std::move(record)); !added) {
      refuse(place, added.error());
      continue;
    }
    for (const PortRef source : topic.sources) named.push_back({name, source});
  }
  auto catalog = std::move(builder).build();
  if (!catalog) {
    refuse("graph " + state.plan.graph_name, catalog.error());
    return;
  }
  state.plan.endpoint_catalog = std::move(*catalog);
  record_edges(state.plan, named);
}

}  // namespace weftline::passes
