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

/// Outputs push to their edges in this order: where one of them feeds a trigger and a side input of
/// the same operator, the trigger must not be seen first.
void connect_outputs(SessionResources& session) {
  for (const bool side : {true, false}) {
    for (std::size_t edge = 0; edge < session.edges.size(); ++edge) {
      const PayloadEdgePlanRecord& record = session.plan.payload_edges()[edge];
      const OperatorRuntime& target = *session.operators[record.target.vertex.value];
      if (target.input(record.target.port).is_side() != side) continue;
      session.operators[record.source.vertex.value]
          ->output(record.source.port)
          .connect(*session.edges[edge]);
    }
  }
}

/// A lane waits on a clock that somebody drives: each advance wakes it.
void subscribe(Lane& lane, const OperatorRuntime& operation) {
  ClockDriver* const driver = operation.clock_driver();
  if (driver != nullptr) lane.wake_by(*driver);
}

}  // namespace

expected<void, Error> make_clocks(SessionBuild& build) {
  SessionResources& session = build.resources;
  for (const ClockPlanRecord& clock : build.plan().records().clocks) {
    WEFTLINE_TRY(build.at("clock " + clock.name));
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
    session.clocks.push_back(std::move(made));
  }
  return {};
}

expected<void, Error> make_observation(SessionBuild& build) {
  const ObserveOptions& asked = build.resources.options.observe;
  if (!asked.any()) return {};
  WEFTLINE_TRY(build.at("observe"));
  build.resources.observation = std::make_unique<RunObservation>(build.plan().records(), asked);
  if (asked.nvtx && !nvtx::available()) {
    build.resources.control.warn(
        "observe", {ErrorCode::kNotSupported, "RUN_NVTX_UNAVAILABLE",
                    "this build makes no NVTX ranges; build Weftline with the CUDA Toolkit", 0});
  }
  return {};
}

expected<void, Error> make_lanes(SessionBuild& build) {
  SessionResources& session = build.resources;
  for (const auto& partition : build.plan().execution_partitions()) {
    WEFTLINE_TRY(build.at("partition " + partition.name));
    session.lanes.push_back(std::make_unique<Lane>(partition.id, partition.name, session.control));
    session.control.gate().add_lane(session.lanes.back()->parker());
    if (session.observation) {
      session.lanes.back()->use_trace(session.observation->trace_of(partition.id));
    }
  }
  return {};
}

expected<void, Error> make_operators(SessionBuild& build) {
  SessionResources& session = build.resources;
  ClockId default_clock;
  for (const auto& clock : build.plan().records().clocks) {
    if (clock.is_default) default_clock = clock.id;
  }
  session.params = std::make_shared<ParamControl>(build.plan());
  for (const OperatorPlanRecord& record : build.plan().operators()) {
    WEFTLINE_TRY(build.at(record.path));
    const ClockId trigger_clock = record.trigger.clock;
    WEFTLINE_TRY(guarded("OPERATOR_SETUP_THREW", [&]() -> expected<void, Error> {
      session.operators.push_back(std::make_unique<OperatorRuntime>(OperatorRuntime::Options{
          .record = &record,
          .instance = build.plan().operator_factory(record.id)(),
          .device = record.device ? session.devices.at(*record.device) : nullptr,
          .stream =
              record.stream.valid() ? (*session.streams)[record.stream.value].ref() : StreamRef{},
          .clock = ClockRef(*session.clocks[default_clock.value], default_clock),
          .control = &session.control,
          .desk = session.desk.get(),
          .rates = &session.rates,
          .params = session.params->cell(record.id),
          .selections = selections_of(build.plan().records(), record),
          .trigger_clock =
              trigger_clock.valid()
                  ? std::optional(ClockRef(*session.clocks[trigger_clock.value], trigger_clock))
                  : std::nullopt,
          .wake = session.lanes[record.partition.value]->readiness_wake()}));
      return {};
    }));
  }
  if (session.observation) {
    for (const auto& operation : session.operators) {
      operation->use_probe(session.observation->probe(operation->record().id));
    }
  }
  for (const auto& partition : build.plan().execution_partitions()) {
    for (const VertexId member : partition.members) {
      Lane& lane = *session.lanes[partition.id.value];
      OperatorRuntime& operation = *session.operators[member.value];
      WEFTLINE_TRY(build.at(operation.record().path));
      WEFTLINE_TRY(lane.add(operation));
      subscribe(lane, operation);
    }
  }
  for (const auto& record : build.plan().tensor_allocations()) {
    TensorPool& pool = *session.pools[record.id.value];
    pool.set_return_callback({[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); },
                              &session.lane_of(record.output).parker()});
    session.operators[record.output.vertex.value]->use_pool(record.output.port, pool);
  }
  for (std::size_t index = 0; index < session.exports.size(); ++index) {
    const PortRef source = build.plan().records().export_edges[index].source;
    session.operators[source.vertex.value]->output(source.port).connect(*session.exports[index]);
  }
  session.lifecycle = std::make_unique<LifecycleRunner>(
      session.operators, session.control, session.watch, session.options.lifecycle_retries,
      session.observation ? session.observation->trace_of_controller() : nullptr);
  return {};
}

expected<void, Error> make_edges(SessionBuild& build) {
  const auto recipes = build.plan().queue_sizing_recipes();
  SessionResources& session = build.resources;
  for (const auto& record : build.plan().payload_edges()) {
    WEFTLINE_TRY(build.at("queue of " + build.plan().records().input_name(record.target)));
    OperatorRuntime& target = *session.operators[record.target.vertex.value];
    session.edges.push_back(std::make_unique<EdgeQueue>(EdgeQueue::Options{
        .ops = &target.input_ops(record.target.port),
        .policy = record.queue_policy,
        .depth = record.queue_depth,
        .arm = session.arms.arm_of(session.edges.size()),
        .stamped = session.observation && session.observation->stamps_samples(),
        .capacity = record.edge.value < recipes.size() ? recipes[record.edge.value].admitted_depth
                                                       : record.queue_depth,
        .producer = record.crosses_partitions ? &session.lane_of(record.source).parker() : nullptr,
        .consumer =
            record.crosses_partitions ? &session.lane_of(record.target).parker() : nullptr}));
    target.input(record.target.port).connect(*session.edges.back());
  }
  connect_outputs(session);
  return {};
}

void drop_observation(SessionResources& resources) noexcept { resources.observation.reset(); }
void drop_clocks(SessionResources& resources) noexcept { pop_all(resources.clocks); }
void drop_lanes(SessionResources& resources) noexcept {
  resources.control.gate().forget_lanes();
  pop_all(resources.lanes);
}
void drop_operators(SessionResources& resources) noexcept {
  resources.lifecycle.reset();
  pop_all(resources.operators);
}
void drop_edges(SessionResources& resources) noexcept { pop_all(resources.edges); }

}  // namespace weftline::runtime
