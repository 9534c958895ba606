// SPDX-License-Identifier: Apache-2.0
#include "session_channels.hpp"

namespace weftline::runtime {

expected<void, Error> make_exports(SessionBuild& build) {
  if (build.plan().records().export_edges.empty()) return {};
  build.place = "channels";
  WEFTLINE_ASSIGN(ChannelRuntime runtime, ChannelRuntime::create(build.options.channels));
  build.resources.channels.emplace(std::move(runtime));
  for (const auto& edge : build.plan().records().export_edges) {
    build.place = "endpoint " + edge.endpoint_name;
    const EndpointRecord& endpoint = *build.plan().endpoint_catalog().find(edge.endpoint_name);
    WEFTLINE_ASSIGN(InlinePublisher publisher,
                    build.resources.channels->create_inline_publisher(
                        build.plan().endpoint_catalog(), edge.endpoint_name, EndpointSide::kGraph,
                        endpoint.payload));
    build.resources.exports.push_back(std::make_unique<ExportArm>(
        edge.endpoint, std::move(publisher), endpoint.peer == PeerRequirement::kRequired,
        build.resources.lane_of(edge.source).parker()));
  }
  return {};
}

}  // namespace weftline::runtime
