// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with what their outputs state, queues and pools with their sizes; the graph's
// topics and what was found out about them.
// Adds: the endpoint catalog, made with the catalog's own builder, whose refusals become
// diagnostics; the records of topics, the edges into and out of the process by endpoint and port.
// Errors for topics that are not fed exactly once, for tensors that can't cross, for an import
// whose inputs hold more samples than it lends, and where a given catalog says otherwise.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "passes/passes.hpp"
#include "topics.hpp"
#include "weftline/catalog/compatibility.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/plan/queue_sizing.hpp"

namespace weftline::passes {
namespace {

/// Counts the samples of an import that its inputs hold when nothing moves: one in each consumer's
/// hands, those that it retains or its selection holds, and where a consumer hands tensors on, what
/// the queues behind it hold. What a stream still reads comes back by itself and is not counted.
class ImportHolders {
 public:
  ImportHolders(CompileState& state, const ImportSnapshot& topic) : state_(state) {
    for (const PortRef target : topic.targets) {
      held_ += 1 + std::uint64_t{state.input(target).retained_samples};
      const auto selection = state.import_selections.find(target);
      if (selection != state.import_selections.end()) held_ += selection->second.cache_capacity;
      follow(target.vertex);
    }
    for (std::size_t next = 0; next < outputs_.size(); ++next) add_arms_of(outputs_[next]);
    const PoolSlots behind = count_pool_slots(0, arms_);
    held_ += behind.admitted;
  }

  [[nodiscard]] std::uint32_t held() const noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(held_, 0xffff'ffffU));
  }

 private:
  void follow(VertexId consumer) {
    const auto& outputs = state_.op(consumer).outputs;
    for (std::uint32_t port = 0; port < outputs.size(); ++port) {
      const PortRef output{consumer, port};
      if (is_pass_through(outputs[port]) && visited_.insert(output).second) {
        outputs_.push_back(output);
      }
    }
  }

  void add_arms_of(PortRef output) {
    for (const std::uint32_t index : state_.outgoing[output.vertex.value]) {
      const PayloadEdgePlanRecord& edge = state_.plan.payload_edges[index];
      if (edge.source != output) continue;
      const bool keeps_older = edge.queue_policy == QueuePolicy::kDropOldest;
      const std::uint64_t admitted = state_.plan.queue_sizing_recipes[index].admitted_depth;
      arms_.push_back({.edge = edge.edge,
                       .source = edge.source,
                       .admitted_shared_slots = static_cast<std::uint32_t>(
                           std::min<std::uint64_t>(admitted + (keeps_older ? 0 : 1), 0xffff'ffffU)),
                       .own_slots = (keeps_older ? 1U : 0U) +
                                    state_.input(edge.target).retained_samples +
                                    state_.plan.edge_selections[index].cache_capacity});
      follow(edge.target.vertex);
    }
  }

  CompileState& state_;
  std::uint64_t held_{0};
  std::set<PortRef> visited_{};
  std::vector<PortRef> outputs_{};
  std::vector<PoolCapacityDependencyRecord> arms_{};
};

class Endpoints {
 public:
  explicit Endpoints(CompileState& state)
      : state_(state), builder_(ChannelEndpointCatalog::builder(state.plan.graph_name)) {}

  void freeze() {
    for (std::size_t index = 0; index < state_.exports.size(); ++index) add_export(index);
    for (std::size_t index = 0; index < state_.imports.size(); ++index) add_import(index);
    auto catalog = std::move(builder_).build();
    if (!catalog) {
      refuse("graph " + state_.plan.graph_name, catalog.error());
    } else {
      state_.plan.endpoint_catalog = std::move(*catalog);
    }
    record_topics();
    compare_with_authority();
  }

 private:
  static std::string place(const TopicState& topic) { return "endpoint " + topic.name; }

  void refuse(const std::string& where, const Error& error) {
    state_.error(error.token, where, error.message, {});
  }

  void add(const TopicState& topic, EndpointRecord record) {
    if (const auto added = builder_.add(std::move(record)); !added) {
      refuse(place(topic), added.error());
    }
  }

  void add_export(std::size_t index) {
    const ExportSnapshot& snapshot = state_.graph.exports[index];
    const TopicState& topic = state_.exports[index];
    check_sources(snapshot, topic);
    EndpointRecord record = topic.sound
                                ? endpoint_record(snapshot.uri, snapshot.options, snapshot.payload,
                                                  TopicDirection::kExport, topic)
                                : EndpointRecord();
    if (!topic.sound || !settle_contract(snapshot, topic, record)) return;
    add(topic, std::move(record));
  }

  void check_sources(const ExportSnapshot& snapshot, const TopicState& topic) {
    if (snapshot.sources.empty()) {
      state_.error("ENDPOINT_UNCONNECTED", place(topic),
                   "no output feeds the exported topic " + snapshot.uri,
                   "add_flow() an output to its input(), or do not export it");
    }
    if (snapshot.sources.size() > 1) {
      std::string names;
      for (const PortRef source : snapshot.sources) {
        names.append(names.empty() ? "" : ", ").append(state_.plan.output_name(source));
      }
      state_.error("ENDPOINT_FAN_IN", place(topic),
                   std::to_string(snapshot.sources.size()) + " outputs feed one topic: " + names,
                   "export one topic for each of them");
    }
  }

  /// What crosses: as the topic states, or as its one pool does. False when no endpoint can be
  /// made.
  bool settle_contract(const ExportSnapshot& snapshot, const TopicState& topic,
                       EndpointRecord& record) {
    if (snapshot.payload.kind != PayloadIdentityKind::kTensor) return true;
    bool sound = true;
    for (const PortRef source : snapshot.sources) {
      const auto& spec = state_.output(source).tensor;
      if (!spec) continue;
      if (spec->representation.memory_kind == MemoryKind::kCudaManaged) {
        state_.error("TENSOR_BOUNDARY_MANAGED", place(topic),
                     state_.plan.output_name(source) +
                         " has tensors in cuda_managed memory, which never crosses processes",
                     "emit tensors in host, pinned_host or cuda_device memory");
        sound = false;
      } else if (record.tensor) {
        check_agreement(topic, *record.tensor, source, *spec);
      }
    }
    if (!sound || record.tensor || snapshot.sources.size() != 1) {
      return sound && record.tensor.has_value();
    }
    const OutputPortRecord& output = state_.output(snapshot.sources.front());
    const TensorOutputSpec spec = output.tensor.value_or(TensorOutputSpec{});
    const TensorRepresentation& stated = spec.representation;
    const auto span = spec.bounds.max_byte_span;
    if (is_pooled(output) && stated.memory_kind && stated.dtype && stated.rank && span) {
      record.tensor = TensorBoundaryContract{.memory_kind = *stated.memory_kind,
                                             .dtype = *stated.dtype,
                                             .rank = stated.rank,
                                             .max_byte_span = *span};
      return true;
    }
    state_.error("TENSOR_BOUNDARY_MISSING", place(topic),
                 "neither the exported topic nor a pool of " +
                     state_.plan.output_name(snapshot.sources.front()) +
                     " states memory kind, dtype, rank and largest span",
                 "set TopicOptions::tensor to a TensorBoundaryContract, or state them all in the "
                 "output's TensorOutputSpec");
    return false;
  }

  void check_agreement(const TopicState& topic, const TensorBoundaryContract& contract,
                       PortRef source, const TensorOutputSpec& spec) {
    const std::string name = state_.plan.output_name(source);
    std::string differences = contradictions(contract, spec.representation, name);
    const auto span = spec.bounds.max_byte_span;
    if (span && *span > contract.max_byte_span) {
      differences.append(differences.empty() ? "" : "; ")
          .append("the topic states at most " + std::to_string(contract.max_byte_span) +
                  " bytes, " + name + " " + std::to_string(*span));
    }
    if (differences.empty()) return;
    state_.error("TENSOR_BOUNDARY_MISMATCH", name + " -> " + place(topic), differences,
                 "state the same on both sides, or put an operator between them that converts");
  }

  void add_import(std::size_t index) {
    const ImportSnapshot& snapshot = state_.graph.imports[index];
    const TopicState& topic = state_.imports[index];
    const bool lends = snapshot.payload.kind == PayloadIdentityKind::kTensor;
    // Scalars and PODs are copied out when they are received.
    const std::uint32_t held = lends ? ImportHolders(state_, snapshot).held() : 0;
    held_.push_back(held);
    if (!topic.sound) return;
    EndpointRecord record = endpoint_record(snapshot.uri, snapshot.options, snapshot.payload,
                                            TopicDirection::kImport, topic);
    const std::optional<std::uint32_t> given =
        snapshot.options.bounds.subscriber.max_borrowed_samples;
    if (!given) {
      record.max_borrowed_samples = std::max(record.max_borrowed_samples, held);
    } else if (held > *given) {
      state_.error("IMPORT_BORROWS_EXCEEDED", place(topic),
                   "the topic's inputs hold up to " + std::to_string(held) +
                       " samples together, max_borrowed_samples is " + std::to_string(*given),
                   "give EndpointBounds::subscriber.max_borrowed_samples " + std::to_string(held) +
                       " or more, or leave it out");
    }
    add(topic, std::move(record));
  }

  /// Invalid where the endpoint did not get into the catalog.
  EndpointId id_of(const std::string& name) const {
    const auto endpoints = state_.plan.endpoint_catalog.endpoints();
    const auto found =
        std::ranges::lower_bound(endpoints, name, std::less<>{}, &EndpointRecord::name);
    if (found == endpoints.end() || found->name != name) return {};
    return EndpointId{static_cast<std::uint32_t>(found - endpoints.begin())};
  }

  ExternalTopicRecord record_of(const std::string& uri, const TopicOptions& options,
                                const PayloadIdentity& payload, TopicDirection direction,
                                const TopicState& topic) const {
    return {.declaration = static_cast<std::uint32_t>(state_.plan.external_topics.size()),
            .direction = direction,
            .uri = uri,
            .endpoint = id_of(topic.name),
            .endpoint_name = topic.name,
            .name_origin = options.endpoint_name ? EndpointNameOrigin::kAuthored
                                                 : EndpointNameOrigin::kGenerated,
            .payload = payload,
            .service_id = state_.plan.graph_name + "/" + topic.name,
            .memory_conversion = options.memory_conversion,
            .generation_capacity = topic.generations,
            .device = topic.device};
  }

  void record_topics() {
    PlanRecords& plan = state_.plan;
    for (std::size_t index = 0; index < state_.imports.size(); ++index) {
      const ImportSnapshot& snapshot = state_.graph.imports[index];
      const TopicState& topic = state_.imports[index];
      plan.external_topics.push_back(record_of(snapshot.uri, snapshot.options, snapshot.payload,
                                               TopicDirection::kImport, topic));
      const EndpointId endpoint = plan.external_topics.back().endpoint;
      ImportEdgePlanRecord edge{.endpoint = endpoint,
                                .endpoint_name = topic.name,
                                .held_samples = held_[index],
                                .device = topic.device};
      if (endpoint.valid()) {
        const EndpointRecord& record = plan.endpoint_catalog.endpoints()[endpoint.value];
        edge.queue_policy = record.queue_policy;
        edge.queue_depth = record.queue_depth;
        edge.max_borrowed_samples = record.max_borrowed_samples;
      }
      for (const PortRef target : snapshot.targets) {
        edge.target = target;
        const auto selection = state_.import_selections.find(target);
        if (selection != state_.import_selections.end()) edge.selection = selection->second;
        plan.import_edges.push_back(edge);
      }
    }
    for (std::size_t index = 0; index < state_.exports.size(); ++index) {
      const ExportSnapshot& snapshot = state_.graph.exports[index];
      const TopicState& topic = state_.exports[index];
      plan.external_topics.push_back(record_of(snapshot.uri, snapshot.options, snapshot.payload,
                                               TopicDirection::kExport, topic));
      ExternalTopicRecord& record = plan.external_topics.back();
      if (snapshot.sources.size() == 1) record.device = device_of(snapshot.sources.front());
      if (!record.endpoint.valid()) continue;
      for (const PortRef source : snapshot.sources) {
        plan.export_edges.push_back({record.endpoint, topic.name, source});
      }
    }
    std::ranges::sort(plan.export_edges, {}, [](const ExportEdgePlanRecord& edge) {
      return std::tuple(edge.endpoint, edge.source);
    });
    std::ranges::stable_sort(plan.import_edges, {}, [](const ImportEdgePlanRecord& edge) {
      return std::tuple(edge.endpoint, edge.target);
    });
  }

  /// Of a tensor output: its pool's, or where its operator passes device memory through.
  std::optional<DeviceId> device_of(PortRef output) {
    if (!is_tensor(state_.output(output))) return std::nullopt;
    if (const TensorAllocationPlanRecord* pool = state_.pool_of(output)) return pool->device;
    const auto& placements = state_.plan.tensor_output_placements;
    const auto found = std::ranges::lower_bound(placements, output, std::less<>{},
                                                &TensorOutputPlacementRecord::output);
    if (found == placements.end() || found->output != output) return std::nullopt;
    return found->device;
  }

  void compare_with_authority() {
    const auto& authority = state_.options.endpoint_catalog;
    if (!authority) return;
    if (!state_.plan.endpoint_catalog.empty() &&
        authority->deployment_id() != state_.plan.graph_name) {
      state_.error("ENDPOINT_CATALOG_MISMATCH", "graph " + state_.plan.graph_name,
                   "CompileOptions::endpoint_catalog is of deployment \"" +
                       authority->deployment_id() + "\", so no peer would find this graph's topics",
                   "give the catalog of this graph, or none");
    }
    for (const EndpointRecord& here : state_.plan.endpoint_catalog.endpoints()) {
      const std::string where = "endpoint " + here.name;
      const EndpointRecord* const there = authority->find(here.name);
      if (there == nullptr) {
        state_.error("ENDPOINT_NOT_IN_CATALOG", where,
                     "the graph has this endpoint, CompileOptions::endpoint_catalog does not",
                     "save the graph's own catalog for its peers, or correct the endpoint's name");
        continue;
      }
      const EndpointCompatibilityReport report = compare_endpoints(here, *there);
      if (report.compatible()) continue;
      const bool types = std::ranges::any_of(report.differences, [](const auto& difference) {
        return difference.field.starts_with("payload.") || difference.field.starts_with("tensor");
      });
      state_.error(
          types ? "ENDPOINT_TYPE_MISMATCH" : "ENDPOINT_CATALOG_MISMATCH", where,
          "the graph (here) and CompileOptions::endpoint_catalog (there): " + report.to_string(),
          {});
    }
  }

  CompileState& state_;
  ChannelEndpointCatalogBuilder builder_;
  std::vector<std::uint32_t> held_{};  ///< By import.
};

}  // namespace

void freeze_endpoints(CompileState& state) {
  if (state.exports.empty() && state.imports.empty()) return;
  Endpoints(state).freeze();
}

}  // namespace weftline::passes
