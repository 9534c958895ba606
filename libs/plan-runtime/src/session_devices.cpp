// SPDX-License-Identifier: Apache-2.0
#include "session_devices.hpp"

#include <set>

namespace weftline::runtime {
namespace {

/// By id; empty ones for SMs that are nobody's.
expected<std::vector<GreenContext>, Error> make_green_contexts(SessionBuild& build) {
  SessionResources& session = build.resources;
  std::vector<GreenContext> contexts;
  for (const GreenContextResourcePlanRecord& record : build.plan().green_context_resources()) {
    contexts.emplace_back();
    // A device that no operator is on is not open, and its SMs are nobody's.
    const auto device = session.devices.find(record.device);
    if (record.role == GreenContextRole::kReservedResidual || device == session.devices.end())
      continue;
    WEFTLINE_TRY(build.at("SMs of " + record.device.to_string()));
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

}  // namespace

expected<void, Error> make_devices(SessionBuild& build) {
  SessionResources& session = build.resources;
  std::set<DeviceId> wanted;
  for (const auto& operation : build.plan().operators()) {
    if (operation.device) wanted.insert(*operation.device);
  }
  for (const auto& pool : build.plan().tensor_allocations()) {
    if (pool.device) wanted.insert(*pool.device);
  }
  for (const DeviceId id : wanted) {
    WEFTLINE_TRY(build.at(id.to_string()));
    WEFTLINE_ASSIGN(std::shared_ptr<Device> device, open_device(id, session.options.devices));
    // The ordinal is only a name on this machine: the plan was made for the device with this UUID.
    const DeviceDescription* planned = build.plan().records().device_catalog.find(id);
    if (planned != nullptr && planned->uuid != device->description().uuid) {
      return fail(
          ErrorCode::kIncompatible, "RUN_DEVICE_REPLACED",
          "the plan was compiled for " + planned->name + " with UUID " + to_hex(planned->uuid) +
              "; " + id.to_string() + " is now " + device->description().name + " with UUID " +
              to_hex(device->description().uuid) + "; compile again with this machine's catalog");
    }
    session.devices.emplace(id, std::move(device));
  }
  return {};
}

expected<void, Error> make_streams(SessionBuild& build) {
  SessionResources& session = build.resources;
  // Streams keep their SMs.
  WEFTLINE_ASSIGN(std::vector<GreenContext> contexts, make_green_contexts(build));
  for (const auto& record : build.plan().cuda_compute_streams()) {
    WEFTLINE_TRY(build.at(record.partition.valid()
                              ? "stream of partition " +
                                    build.plan().execution_partitions()[record.partition.value].name
                              : "stream of " + record.device.to_string()));
    WEFTLINE_ASSIGN(Stream stream, record.green_context.valid()
                                       ? contexts[record.green_context.value].create_stream({})
                                       : session.devices.at(record.device)->create_stream({}));
    session.streams->push_back(std::move(stream));
  }
  return {};
}

void drop_devices(SessionResources& resources) noexcept { resources.devices.clear(); }

// A handle that a user keeps beyond the run keeps the streams that it may have to wait for.
void drop_streams(SessionResources& resources) noexcept { resources.streams.reset(); }

}  // namespace weftline::runtime
