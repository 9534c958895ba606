// SPDX-License-Identifier: Apache-2.0
#include "session_operators.hpp"

#include <algorithm>

#include "guarded.hpp"
#include "nvtx_ranges.hpp"

namespace weftline::runtime {

namespace {

/// What the plan says of each of an operator's inputs, by port.
std::vector<EdgeSelectionRecord> selections_of(const PlanRecords& plan,
                                               const OperatorPlanRecord& op) {
  std::vector<EdgeSelectionRecord> selections(op.inputs.size());
  for (const EdgeSelectionRecord& selection : plan.edge_selections) {
    const PortRef target = plan.payload_edges[selection.edge.value].target;
    if (target.vertex == op.id) selections[target.port] = selection;
  }
  for (const ImportEdgePlanRecord& edge : plan.import_edges) {
    if (edge.target.vertex == op.id) selections[edge.target.port] = edge.selection;
  }
  return selections;
}

/// A lane waits on a clock that somebody drives: each advance wakes it.
void subscribe(Lane& lane, const OperatorRuntime& operation) {
  ClockDriver* const driver = operation.clock_driver();
  if (driver != nullptr) lane.wake_by(*driver);
}

}  // namespace

expected<void, Error> make_clocks(SessionBuild& build) {
  for (const ClockPlanRecord& clock : build.plan().records().clocks) {
    build.place = "clock " + clock.name;
    std::unique_ptr<Clock> made = build.plan().clock_factory(clock.id)();
    const bool as_planned = made != nullptr &&
                            made->independent_progress() == clock.independent_progress &&
                            (made->driver() != nullptr) == clock.external_driver_admitted;
    if (!as_planned) {
      return fail(ErrorCode::kNotSupported, "RUNTIME_CLOCK_BINDING_UNAVAILABLE",
                  made == nullptr ? "the clock's factory made none"
                                  : "the clock that was made goes on in another way than the plan "
                                    "says: its independent_progress() or driver() has changed");
    }
    build.resources.clocks.push_back(std::move(made));
  }
  return {};
}

expected<void, Error> make_observation(SessionBuild& build) {
  const ObserveOptions& asked = build.options.observe;
  if (!asked.any()) return {};
  build.resources.observation = std::make_unique<RunObservation>(build.plan().records(), asked);
  if (asked.nvtx && !nvtx::available()) {
    build.warnings.push_back(
        {"observe",
         {ErrorCode::kNotSupported, "RUN_NVTX_UNAVAILABLE",
          "this build makes no NVTX ranges; build Weftline with the CUDA Toolkit", 0}});
  }
  return {};
}

expected<void, Error> make_lanes(SessionBuild& build) {
  for (const auto& partition : build.plan().execution_partitions()) {
    build.resources.lanes.push_back(
        std::make_unique<Lane>(partition.id, partition.name, build.resources.control));
    build.resources.control.gate().add_lane(build.resources.lanes.back()->parker());
    if (build.resources.observation) {
      build.resources.lanes.back()->use_trace(build.resources.observation->trace_of(partition.id));
    }
  }
  return {};
}

expected<void, Error> make_operators(SessionBuild& build) {
  ClockId default_clock;
  for (const auto& clock : build.plan().records().clocks) {
    if (clock.is_default) default_clock = clock.id;
  }
  for (const OperatorPlanRecord& record : build.plan().operators()) {
    build.place = record.path;
    const ClockId trigger_clock = record.trigger.clock;
    const auto rates =
        std::ranges::equal_range(build.plan().port_rates(), record.id, {},
                                 [](const PortRatePlanRecord& rate) { return rate.port.vertex; });
    WEFTLINE_TRY(guarded("OPERATOR_SETUP_THREW", [&]() -> expected<void, Error> {
      build.resources.operators.push_back(
          std::make_unique<OperatorRuntime>(OperatorRuntime::Options{
              .record = &record,
              .instance = build.plan().operator_factory(record.id)(),
              .device = record.device ? build.resources.devices.at(*record.device) : nullptr,
              .stream = record.stream.valid()
                            ? (*build.resources.streams)[record.stream.value].ref()
                            : StreamRef{},
              .clock = ClockRef(*build.resources.clocks[default_clock.value], default_clock),
              .control = &build.resources.control,
              .rates = {rates.begin(), rates.end()},
              .selections = selections_of(build.plan().records(), record),
              .trigger_clock =
                  trigger_clock.valid()
                      ? std::optional(
                            ClockRef(*build.resources.clocks[trigger_clock.value], trigger_clock))
                      : std::nullopt,
              .wake = build.resources.lanes[record.partition.value]->readiness_wake()}));
      return {};
    }));
  }
  if (build.resources.observation) {
    for (const auto& operation : build.resources.operators) {
      operation->use_probe(build.resources.observation->probe(operation->record().id));
    }
  }
  for (const auto& partition : build.plan().execution_partitions()) {
    for (const VertexId member : partition.members) {
      Lane& lane = *build.resources.lanes[partition.id.value];
      OperatorRuntime& operation = *build.resources.operators[member.value];
      build.place = operation.record().path;
      WEFTLINE_TRY(lane.add(operation));
      subscribe(lane, operation);
    }
  }
  for (const auto& record : build.plan().tensor_allocations()) {
    TensorPool& pool = *build.resources.pools[record.id.value];
    pool.set_return_callback({[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); },
                              &build.resources.lane_of(record.output).parker()});
    build.resources.operators[record.output.vertex.value]->use_pool(record.output.port, pool);
  }
  for (std::size_t index = 0; index < build.resources.exports.size(); ++index) {
    const PortRef source = build.plan().records().export_edges[index].source;
    build.resources.operators[source.vertex.value]
        ->output(source.port)
        .connect(*build.resources.exports[index]);
  }
  return {};
}

expected<void, Error> make_edges(SessionBuild& build) {
  for (const auto& record : build.plan().payload_edges()) {
    OperatorRuntime& target = *build.resources.operators[record.target.vertex.value];
    build.resources.edges.push_back(std::make_unique<EdgeQueue>(EdgeQueue::Options{
        .ops = &target.input_ops(record.target.port),
        .policy = record.queue_policy,
        .depth = record.queue_depth,
        .arm = build.resources.arms.arm_of(build.resources.edges.size()),
        .stamped = build.resources.observation && build.resources.observation->stamps_samples(),
        .producer =
            record.crosses_partitions ? &build.resources.lane_of(record.source).parker() : nullptr,
        .consumer = record.crosses_partitions ? &build.resources.lane_of(record.target).parker()
                                              : nullptr}));
    build.resources.operators[record.source.vertex.value]
        ->output(record.source.port)
        .connect(*build.resources.edges.back());
    target.input(record.target.port).connect(*build.resources.edges.back());
  }
  return {};
}

}  // namespace weftline::runtime
