// SPDX-License-Identifier: Apache-2.0
#include "session_channels.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "inline_channels.hpp"
#include "session_threads.hpp"
#include "thread_placement.hpp"

namespace weftline::runtime {
namespace {

/// With the service thread in its place.
expected<ChannelRuntime, Error> make_channels(SessionBuild& build) {
  constexpr SupportThreadRole kRole = SupportThreadRole::kChannelPump;
  const auto placed = std::make_shared<std::promise<ThreadPlacementReport>>();
  ChannelRuntimeOptions options = build.resources.options.channels;
  options.on_service_thread = [placed, asked = asked_for(build.plan().records(), kRole),
                               first = build.resources.options.channels.on_service_thread] {
    if (first) first();
    placed->set_value(place_this_thread(thread_name(kRole), asked));
  };
  WEFTLINE_ASSIGN(ChannelRuntime runtime, ChannelRuntime::create(options));
  WEFTLINE_TRY(build.at(thread_name(kRole)));
  WEFTLINE_TRY(admit(build.resources, placed->get_future().get()));
  return runtime;
}

expected<ChannelBindings*, Error> bindings_of(SessionBuild& build) {
  if (build.bindings != nullptr) return build.bindings;
  if (!build.resources.channels) {
    WEFTLINE_TRY(build.at("channels"));
    WEFTLINE_ASSIGN(ChannelRuntime runtime, make_channels(build));
    build.resources.channels =
        std::make_unique<InlineChannels>(std::move(runtime), build.plan().endpoint_catalog());
  }
  return build.resources.channels.get();
}

/// Whether a restart that somebody may ask for takes one of the import's inputs with it.
bool replaceable(const PlanRecords& plan, const std::string& endpoint) {
  const auto restarts = [&](VertexId vertex) {
    return std::ranges::any_of(plan.lifecycle.restart_grants, [&](const RestartGrantRecord& grant) {
      if (grant.disposition != LifecycleRestartDisposition::kAdmitted) return false;
      const auto closure = std::ranges::find(plan.lifecycle.restart_closures, grant.target,
                                             &RestartClosureRecord::target);
      return closure != plan.lifecycle.restart_closures.end() &&
             std::ranges::find(closure->members, vertex) != closure->members.end();
    });
  };
  return std::ranges::any_of(plan.import_edges, [&](const ImportEdgePlanRecord& edge) {
    return edge.endpoint_name == endpoint && restarts(edge.target.vertex);
  });
}

/// A tensor in the queue is held; the producer's pool has slots for no more than the plan says.
std::uint32_t queue_depth(const ImportEdgePlanRecord& edge, bool is_tensor) {
  const std::uint32_t depth =
      is_tensor ? std::min(edge.queue_depth, edge.max_borrowed_samples) : edge.queue_depth;
  return std::max(depth, 1U);
}

expected<void, Error> make_import(SessionBuild& build, const ImportEdgePlanRecord& first) {
  SessionResources& resources = build.resources;
  WEFTLINE_TRY(build.at("endpoint " + first.endpoint_name));
  WEFTLINE_ASSIGN(ChannelBindings* const bindings, bindings_of(build));
  WEFTLINE_ASSIGN(
      std::unique_ptr<ImportPort> port,
      bindings->open_import(*build.plan().endpoint_catalog().find(first.endpoint_name)));
  const auto topic =
      std::ranges::find_if(build.plan().external_topics(), [&](const ExternalTopicRecord& record) {
        return record.direction == TopicDirection::kImport &&
               record.endpoint_name == first.endpoint_name;
      });
  resources.imports.push_back(std::make_unique<ImportRuntime>(
      ImportRuntime::Options{
          .endpoint = first.endpoint,
          .name = first.endpoint_name,
          .ops = &resources.operators[first.target.vertex.value]->input_ops(first.target.port),
          .generation_capacity =
              topic == build.plan().external_topics().end() ? 1 : topic->generation_capacity,
          .replaceable = replaceable(build.plan().records(), first.endpoint_name),
          .burst = std::max(first.queue_depth, 1U)},
      std::move(port), resources.control));
  Lane& lane = resources.lane_of(first.target);
  resources.imports.back()->wake(lane.parker());
  lane.add(*resources.imports.back());
  return {};
}

/// Null before it is made.
ImportRuntime* import_of(SessionResources& resources, const ImportEdgePlanRecord& edge) {
  const auto found = std::ranges::find(resources.imports, edge.endpoint_name,
                                       [](const auto& made) { return made->name(); });
  return found == resources.imports.end() ? nullptr : found->get();
}

/// Side inputs before triggers, as connect_outputs() has it.
void connect_imports(SessionResources& resources) {
  for (const bool side : {true, false}) {
    for (std::size_t index = 0; index < resources.import_queues.size(); ++index) {
      const ImportEdgePlanRecord& edge = resources.plan.records().import_edges[index];
      const OperatorRuntime& target = *resources.operators[edge.target.vertex.value];
      if (target.input(edge.target.port).is_side() != side) continue;
      import_of(resources, edge)->connect(*resources.import_queues[index]);
    }
  }
}

}  // namespace

expected<void, Error> make_exports(SessionBuild& build) {
  for (const auto& edge : build.plan().records().export_edges) {
    WEFTLINE_ASSIGN(ChannelBindings* const bindings, bindings_of(build));
    WEFTLINE_TRY(build.at("endpoint " + edge.endpoint_name));
    const EndpointRecord& endpoint = *build.plan().endpoint_catalog().find(edge.endpoint_name);
    WEFTLINE_ASSIGN(std::unique_ptr<ExportPort> port, bindings->open_export(endpoint));
    build.resources.exports.push_back(std::make_unique<ExportArm>(
        ExportArm::Options{.endpoint = edge.endpoint,
                           .name = edge.endpoint_name,
                           .peer_required = endpoint.peer == PeerRequirement::kRequired},
        std::move(port), build.resources.lane_of(edge.source).parker(), build.resources.control));
  }
  return {};
}

expected<void, Error> make_imports(SessionBuild& build) {
  SessionResources& resources = build.resources;
  const auto& edges = build.plan().records().import_edges;
  for (const ImportEdgePlanRecord& edge : edges) {
    if (import_of(resources, edge) == nullptr) WEFTLINE_TRY(make_import(build, edge));
    const auto first =
        std::ranges::find(edges, edge.endpoint_name, &ImportEdgePlanRecord::endpoint_name);
    Lane& from = resources.lane_of(first->target);
    Lane& to = resources.lane_of(edge.target);
    OperatorRuntime& target = *resources.operators[edge.target.vertex.value];
    const PayloadOps& ops = target.input_ops(edge.target.port);
    resources.import_queues.push_back(std::make_unique<EdgeQueue>(EdgeQueue::Options{
        .ops = &ops,
        .policy = edge.queue_policy == ChannelQueuePolicy::kDropOldest ? QueuePolicy::kDropOldest
                                                                       : QueuePolicy::kBlocking,
        .depth = queue_depth(edge, ops.is_tensor),
        .producer = &from == &to ? nullptr : &from.parker(),
        .consumer = &from == &to ? nullptr : &to.parker()}));
    target.input(edge.target.port).connect_import(*resources.import_queues.back());
  }
  connect_imports(resources);
  return {};
}

void drop_exports(SessionResources& resources) noexcept {
  pop_all(resources.exports);
  resources.channels.reset();
}

void drop_imports(SessionResources& resources) noexcept {
  pop_all(resources.import_queues);
  pop_all(resources.imports);
}

}  // namespace weftline::runtime
