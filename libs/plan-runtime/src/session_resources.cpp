// SPDX-License-Identifier: Apache-2.0
#include "session_resources.hpp"

#include <algorithm>
#include <set>

#include "authoring_admission.hpp"
#include "contract_support.hpp"
#include "fusion_proof.hpp"
#include "guarded.hpp"

namespace weftline::runtime {

expected<void, Error> SessionResources::build(const RunOptions& options, std::string& place) {
  const PlanRecords& records = plan.records();
  WEFTLINE_TRY(check_contracts_supported(records, place));
  place = "plan";
  WEFTLINE_TRY(check_authoring_records(records));
  for (const ClockPlanRecord& clock : records.clocks) {
    place = "clock " + clock.name;
    clocks.push_back(plan.clock_factory(clock.id)());
  }
  WEFTLINE_TRY(build_devices(options, place));
  WEFTLINE_TRY(build_streams(place));
  WEFTLINE_TRY(build_pools(place));
  build_lanes();
  WEFTLINE_TRY(build_exports(options, place));
  WEFTLINE_TRY(build_operators(place));
  build_edges();
  return {};
}

expected<void, Error> SessionResources::build_devices(const RunOptions& options,
                                                      std::string& place) {
  std::set<DeviceId> wanted;
  for (const auto& operation : plan.operators()) {
    if (operation.device) wanted.insert(*operation.device);
  }
  for (const auto& pool : plan.tensor_allocations()) {
    if (pool.device) wanted.insert(*pool.device);
  }
  for (const DeviceId id : wanted) {
    place = id.to_string();
    WEFTLINE_ASSIGN(std::shared_ptr<Device> device, open_device(id, options.devices));
    // The ordinal is only a name on this machine: the plan was made for the device with this UUID.
    const DeviceDescription* planned = plan.records().device_catalog.find(id);
    if (planned != nullptr && planned->uuid != device->description().uuid) {
      return fail(
          ErrorCode::kIncompatible, "RUN_DEVICE_REPLACED",
          "the plan was compiled for " + planned->name + " with UUID " + to_hex(planned->uuid) +
              "; " + id.to_string() + " is now " + device->description().name + " with UUID " +
              to_hex(device->description().uuid) + "; compile again with this machine's catalog");
    }
    devices.emplace(id, std::move(device));
  }
  return {};
}

expected<std::vector<GreenContext>, Error> SessionResources::build_green_contexts(
    std::string& place) {
  std::vector<GreenContext> contexts;
  for (const GreenContextResourcePlanRecord& record : plan.green_context_resources()) {
    contexts.emplace_back();
    // A device that no operator is on is not open, and its SMs are nobody's.
    const auto device = devices.find(record.device);
    if (record.role == GreenContextRole::kReservedResidual || device == devices.end()) continue;
    place = "SMs of " + record.device.to_string();
    WEFTLINE_ASSIGN(contexts.back(),
                    device->second->create_green_context({.sm_count = record.sm_count}));
    if (contexts.back().sm_count() == record.sm_count) continue;
    return fail(ErrorCode::kIncompatible, "RUN_GREEN_CONTEXT_SIZE",
                "the plan sets " + std::to_string(record.sm_count) +
                    " SMs apart, the device gave " + std::to_string(contexts.back().sm_count()) +
                    "; compile again with this machine's catalog");
  }
  return contexts;
}

expected<void, Error> SessionResources::build_streams(std::string& place) {
  // Streams keep their SMs.
  WEFTLINE_ASSIGN(std::vector<GreenContext> contexts, build_green_contexts(place));
  for (const auto& record : plan.cuda_compute_streams()) {
    place = record.partition.valid()
                ? "stream of partition " + plan.execution_partitions()[record.partition.value].name
                : "stream of " + record.device.to_string();
    WEFTLINE_ASSIGN(Stream stream, record.green_context.valid()
                                       ? contexts[record.green_context.value].create_stream({})
                                       : devices.at(record.device)->create_stream({}));
    streams->push_back(std::move(stream));
  }
  return {};
}

expected<void, Error> SessionResources::build_pools(std::string& place) {
  for (const auto& record : plan.tensor_allocations()) {
    TensorPoolOptions pool;
    pool.name = plan.records().output_name(record.output);
    place = "pool of " + pool.name;
    pool.memory_kind = record.memory_kind;
    if (record.device) pool.device = devices.at(*record.device);
    pool.slot_bytes = record.slot_bytes;
    pool.slot_count = record.slot_count;
    pool.max_rank = record.max_rank;
    pool.max_release_streams = record.max_release_streams;
    if (record.fused_stream.valid()) {
      WEFTLINE_TRY(check_fusion_proof(plan.records(), record));
      pool.fused_stream = (*streams)[record.fused_stream.value].ref();
    }
    pool.keep_alive = streams;
    WEFTLINE_ASSIGN(TensorPool built, TensorPool::build(pool));
    pools.push_back(std::make_unique<TensorPool>(std::move(built)));
  }
  return {};
}

void SessionResources::build_lanes() {
  for (const auto& partition : plan.execution_partitions()) {
    lanes.push_back(std::make_unique<Lane>(partition.id, partition.name, control));
    control.add_lane(lanes.back()->parker());
  }
}

expected<void, Error> SessionResources::build_exports(const RunOptions& options,
                                                      std::string& place) {
  if (plan.records().export_edges.empty()) return {};
  place = "channels";
  WEFTLINE_ASSIGN(ChannelRuntime runtime, ChannelRuntime::create(options.channels));
  channels.emplace(std::move(runtime));
  for (const auto& edge : plan.records().export_edges) {
    place = "endpoint " + edge.endpoint_name;
    const EndpointRecord& endpoint = *plan.endpoint_catalog().find(edge.endpoint_name);
    WEFTLINE_ASSIGN(InlinePublisher publisher,
                    channels->create_inline_publisher(plan.endpoint_catalog(), edge.endpoint_name,
                                                      EndpointSide::kGraph, endpoint.payload));
    exports.push_back(std::make_unique<ExportArm>(edge.endpoint, std::move(publisher),
                                                  endpoint.peer == PeerRequirement::kRequired,
                                                  lane_of(edge.source).parker()));
  }
  return {};
}

expected<void, Error> SessionResources::build_operators(std::string& place) {
  ClockId default_clock;
  for (const auto& clock : plan.records().clocks) {
    if (clock.is_default) default_clock = clock.id;
  }
  for (const OperatorPlanRecord& record : plan.operators()) {
    place = record.path;
    const auto rates =
        std::ranges::equal_range(plan.port_rates(), record.id, {},
                                 [](const PortRatePlanRecord& rate) { return rate.port.vertex; });
    WEFTLINE_TRY(guarded("OPERATOR_SETUP_THREW", [&]() -> expected<void, Error> {
      operators.push_back(std::make_unique<OperatorRuntime>(OperatorRuntime::Options{
          .record = &record,
          .instance = plan.operator_factory(record.id)(),
          .device = record.device ? devices.at(*record.device) : nullptr,
          .stream = record.stream.valid() ? (*streams)[record.stream.value].ref() : StreamRef{},
          .clock = ClockRef(*clocks[default_clock.value], default_clock),
          .control = &control,
          .rates = {rates.begin(), rates.end()}}));
      return {};
    }));
  }
  for (const auto& partition : plan.execution_partitions()) {
    for (const VertexId member : partition.members) {
      lanes[partition.id.value]->add(*operators[member.value]);
    }
  }
  for (const auto& record : plan.tensor_allocations()) {
    TensorPool& pool = *pools[record.id.value];
    pool.set_return_callback({[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); },
                              &lane_of(record.output).parker()});
    operators[record.output.vertex.value]->output(record.output.port).use_pool(pool);
  }
  for (std::size_t index = 0; index < exports.size(); ++index) {
    const PortRef source = plan.records().export_edges[index].source;
    operators[source.vertex.value]->output(source.port).connect(*exports[index]);
  }
  return {};
}

void SessionResources::build_edges() {
  for (const auto& record : plan.payload_edges()) {
    OperatorRuntime& target = *operators[record.target.vertex.value];
    edges.push_back(std::make_unique<EdgeQueue>(EdgeQueue::Options{
        .ops = &target.input_ops(record.target.port),
        .policy = record.queue_policy,
        .depth = record.queue_depth,
        .producer = record.crosses_partitions ? &lane_of(record.source).parker() : nullptr,
        .consumer = record.crosses_partitions ? &lane_of(record.target).parker() : nullptr}));
    operators[record.source.vertex.value]->output(record.source.port).connect(*edges.back());
    target.input(record.target.port).connect(*edges.back());
  }
}

void SessionResources::release_samples() noexcept {
  // A handle that a user keeps beyond the run must not wake a lane that is gone.
  for (const auto& pool : pools) pool->set_return_callback({});
  for (const auto& operation : operators) operation->destroy_instance();
  for (const auto& edge : edges) edge->clear();
}

void SessionResources::synchronize_streams() noexcept {
  for (const Stream& stream : *streams) {
    auto done = stream.ref().device()->synchronize(stream.ref());
    if (!done) control.fail(stream.ref().device()->id().to_string(), std::move(done).error());
  }
}

}  // namespace weftline::runtime
