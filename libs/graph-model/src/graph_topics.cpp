// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>

#include "graph_state.hpp"

namespace weftline {
namespace {

/// The rest of a URI's form is checked with the endpoint catalog's rules.
void require_topic_uri(const std::string& uri) {
  for (const std::string_view scheme : {"weftline://", "holomq://"}) {
    if (uri.size() > scheme.size() && uri.starts_with(scheme)) return;
  }
  refuse(
      "GRAPH_TOPIC_URI_INVALID",
      "a topic's URI is weftline://<path> or holomq://<path>, not \"" + uri.substr(0, 128) + "\"");
}

void require_topic(bool known) {
  if (known) return;
  refuse("GRAPH_FLOW_HANDLE_INVALID",
         "a flow names a topic that is not one of this graph's: take it from this graph's "
         "import_topic() or export_topic()");
}

}  // namespace

std::uint32_t Graph::add_export(std::string uri, TopicOptions options, PayloadIdentity payload) {
  state_->require_open();
  require_topic_uri(uri);
  state_->exports.push_back({std::move(uri), std::move(options), std::move(payload), {}});
  return static_cast<std::uint32_t>(state_->exports.size() - 1);
}

std::uint32_t Graph::add_import(std::string uri, TopicOptions options, PayloadIdentity payload) {
  state_->require_open();
  require_topic_uri(uri);
  state_->imports.push_back({std::move(uri), std::move(options), std::move(payload), {}});
  return static_cast<std::uint32_t>(state_->imports.size() - 1);
}

void Graph::connect_export(const FlowSource& source, std::uint32_t topic,
                           const std::shared_ptr<const GraphState>& owner) {
  state_->require_open();
  require_topic(owner == state_ && topic < state_->exports.size());
  const AuthoredPort port = state_->resolve(source);
  GraphState::mark_connected(source.exported);
  state_->exports[topic].ports.push_back(port);
}

void Graph::connect_import(std::uint32_t topic, const std::shared_ptr<const GraphState>& owner,
                           const FlowTarget& target) {
  state_->require_open();
  require_topic(owner == state_ && topic < state_->imports.size());
  AuthoredTopic& import = state_->imports[topic];
  const std::vector<AuthoredPort> targets = state_->resolve(target);
  for (const AuthoredPort& each : targets) {
    if (state_->imported.contains({topic, each})) {
      refuse("GRAPH_FLOW_DUPLICATE", "the same input takes twice from one topic: " + import.uri +
                                         " -> " + state_->path(each));
    }
  }
  GraphState::mark_connected(target.exported);
  for (const AuthoredPort& each : targets) state_->imported.insert({topic, each});
  import.ports.insert(import.ports.end(), targets.begin(), targets.end());
}

}  // namespace weftline
