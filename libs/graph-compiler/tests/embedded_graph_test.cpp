// SPDX-License-Identifier: Apache-2.0
//
// Random graphs with embedded graphs, written twice: with Graph, and flat, by following the
// exported ports here. Both give the same plan, except for the records of embedded graphs.

#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "random_design.hpp"
#include "test_graph.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

/// The same to the compiler as TestGraph::op().
class Op final : public Operator<> {
 public:
  static constexpr std::string_view kTypeId = "test::Op";
  Op(std::uint32_t input_count, std::uint32_t output_count)
      : inputs(input_count), outputs(output_count) {}
  std::deque<Input<std::uint32_t>> inputs;
  std::deque<Output<std::uint32_t>> outputs;
  void setup(OperatorSpec& spec) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) spec.input(inputs[i], "i" + std::to_string(i));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      spec.output(outputs[i], "o" + std::to_string(i));
    }
  }
  Contract contract() const override {
    return inputs.empty() ? Contract().trigger(OnClock{std::chrono::milliseconds(1)}) : Contract();
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

/// 0 … count-1 in an order of its own.
std::vector<std::uint32_t> any_order(std::size_t count, std::mt19937& random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::shuffle(order, random);
  return order;
}

/// Writes a body with Graph, in a random order of calls.
class Composed final : public Graph {
 public:
  Composed(std::string name, const BodyDesign& design, std::mt19937& random)
      : Graph(std::move(name)), design_(design), random_(random) {}
  std::vector<GraphInput<std::uint32_t>> inputs;
  std::vector<GraphOutput<std::uint32_t>> outputs;
  void write() { compose(); }

 protected:
  void compose() override {
    ops_.resize(design_.operators.size());
    bodies_.resize(design_.bodies.size());
    for (const std::uint32_t i : any_order(ops_.size() + bodies_.size(), random_)) {
      if (i < ops_.size()) {
        add_operator(i);
      } else {
        add_body(static_cast<std::uint32_t>(i - ops_.size()));
      }
    }
    for (const std::uint32_t i : any_order(design_.flows.size(), random_)) add(design_.flows[i]);
    inputs.resize(design_.exported_inputs.size());
    outputs.resize(design_.exported_outputs.size());
    for (const std::uint32_t i : any_order(inputs.size(), random_)) export_in(i);
    for (const std::uint32_t i : any_order(outputs.size(), random_)) export_out(i);
    add_rules();
  }

 private:
  const Input<std::uint32_t>& input(const EndDesign& end) {
    return (*ops_[end.item])->inputs[end.port];
  }
  const Output<std::uint32_t>& output(const EndDesign& end) {
    return (*ops_[end.item])->outputs[end.port];
  }
  const GraphInput<std::uint32_t>& inner_input(const EndDesign& end) {
    return (*bodies_[end.item])->inputs[end.port];
  }
  const GraphOutput<std::uint32_t>& inner_output(const EndDesign& end) {
    return (*bodies_[end.item])->outputs[end.port];
  }

  void add_operator(std::uint32_t i) {
    const OperatorDesign& made = design_.operators[i];
    ops_[i].emplace(op<Op>(made.name, made.inputs, made.outputs));
    auto& handle = *ops_[i];
    if (made.lane) partition(*made.lane).add(handle);
    if (made.input_depth) configure(handle->inputs[0]).queue_depth(*made.input_depth);
    if (made.emits) configure(handle->outputs[0]).max_emits_per_compute(*made.emits);
    if (made.alias) configure(handle->outputs[0]).diagnostic_alias(*made.alias);
  }
  void add_body(std::uint32_t i) {
    const BodyDesign& made = design_.bodies[i];
    bodies_[i].emplace(embed<Composed>(made.name, std::cref(made), std::ref(random_)));
    if (design_.body_lanes[i]) partition(*design_.body_lanes[i]).add(*bodies_[i]);
  }
  void add(const FlowDesign& flow) {
    const auto connect = [&](const auto& source, const auto& target) {
      FlowHandle handle = add_flow(source, target, flow.options);
      if (!flow.topic_name.empty()) handle.topic_name(flow.topic_name);
    };
    if (flow.source.is_operator && flow.target.is_operator) {
      connect(output(flow.source), input(flow.target));
    } else if (flow.source.is_operator) {
      connect(output(flow.source), inner_input(flow.target));
    } else if (flow.target.is_operator) {
      connect(inner_output(flow.source), input(flow.target));
    } else {
      connect(inner_output(flow.source), inner_input(flow.target));
    }
  }
  void export_in(std::uint32_t i) {
    const auto& ends = design_.exported_inputs[i];
    const std::string name = "x" + std::to_string(i);
    const auto first = [&](const auto&... more) {
      return ends[0].is_operator ? export_input(name, input(ends[0]), more...)
                                 : export_input(name, inner_input(ends[0]), more...);
    };
    if (ends.size() == 1) {
      inputs[i] = first();
    } else {
      inputs[i] = ends[1].is_operator ? first(input(ends[1])) : first(inner_input(ends[1]));
    }
  }
  void export_out(std::uint32_t i) {
    const EndDesign& end = design_.exported_outputs[i];
    const std::string name = "y" + std::to_string(i);
    outputs[i] =
        end.is_operator ? export_output(name, output(end)) : export_output(name, inner_output(end));
  }
  void add_rules() {
    for (const auto& [before, after] : design_.order) {
      lifecycle_after(*ops_[after], *ops_[before]);
    }
    for (const auto& [target, stage] : design_.grants) {
      allow_external_restart(*ops_[target], {.from_stage = stage});
    }
    for (const EndDesign& item : design_.region) {
      RegionHandle handle = region("region");
      handle.constrain(RegionConstraint::kLossless).constrain(RegionConstraint::kSinglePartition);
      if (item.is_operator) {
        handle.add(*ops_[item.item]);
      } else {
        handle.add(*bodies_[item.item]);
      }
    }
    if (!design_.topic) return;
    const auto inlet = export_topic<std::uint32_t>(design_.topic_uri).input();
    if (design_.topic->is_operator) {
      add_flow(output(*design_.topic), inlet);
    } else {
      add_flow(inner_output(*design_.topic), inlet);
    }
  }

  const BodyDesign& design_;
  std::mt19937& random_;
  std::vector<std::optional<OperatorHandle<Op>>> ops_{};
  std::vector<std::optional<EmbeddedGraph<Composed>>> bodies_{};
};

/// Writes a body flat.
class Flat {
 public:
  explicit Flat(const BodyDesign& outermost) : graph_("test") {
    graph_.snapshot().clocks.front().name = "clock";
    operators(outermost, "", std::nullopt);
    rest(outermost, "");
  }
  TestGraph& graph() { return graph_; }

 private:
  static std::string port(const char* kind, std::uint32_t number) {
    return kind + std::to_string(number);
  }
  static std::string output(const BodyDesign& body, const std::string& prefix,
                            const EndDesign& end) {
    if (end.is_operator) return prefix + body.operators[end.item].name + "." + port("o", end.port);
    const BodyDesign& inner = body.bodies[end.item];
    return output(inner, prefix + inner.name + "/", inner.exported_outputs[end.port]);
  }
  static void inputs(const BodyDesign& body, const std::string& prefix, const EndDesign& end,
                     std::vector<std::string>& names) {
    if (end.is_operator) {
      names.push_back(prefix + body.operators[end.item].name + "." + port("i", end.port));
      return;
    }
    const BodyDesign& inner = body.bodies[end.item];
    for (const EndDesign& each : inner.exported_inputs[end.port]) {
      inputs(inner, prefix + inner.name + "/", each, names);
    }
  }
  [[nodiscard]] VertexId vertex(const std::string& path) {
    const auto& all = graph_.snapshot().vertices;
    const auto found = std::ranges::find(all, path, &VertexSnapshot::path);
    return VertexId{static_cast<std::uint32_t>(found - all.begin())};
  }

  void operators(const BodyDesign& body, const std::string& prefix,
                 const std::optional<std::string>& whole_lane) {
    for (const OperatorDesign& op : body.operators) {
      std::vector<std::string> in;
      std::vector<std::string> out;
      for (std::uint32_t i = 0; i < op.inputs; ++i) in.push_back(port("i", i));
      for (std::uint32_t i = 0; i < op.outputs; ++i) out.push_back(port("o", i));
      const std::string path = prefix + op.name;
      graph_.op(path, in, out);
      if (op.lane) graph_.place(path, prefix + *op.lane);
      if (whole_lane) graph_.place(path, *whole_lane);
    }
    for (std::size_t i = 0; i < body.bodies.size(); ++i) {
      auto lane = whole_lane;
      if (body.body_lanes[i]) lane = prefix + *body.body_lanes[i];
      operators(body.bodies[i], prefix + body.bodies[i].name + "/", lane);
    }
  }
  void configure(const OperatorDesign& op, const std::string& path) {
    auto& overrides = graph_.snapshot().port_overrides;
    const PortRef first{vertex(path), 0};
    if (op.input_depth) overrides.push_back({.port = first, .queue_depth = op.input_depth});
    if (op.emits || op.alias) {
      overrides.push_back({.port = first,
                           .is_output = true,
                           .max_emits_per_compute = op.emits,
                           .diagnostic_alias = op.alias});
    }
  }
  void members(const BodyDesign& body, const std::string& prefix, std::vector<VertexId>& into) {
    for (const OperatorDesign& op : body.operators) into.push_back(vertex(prefix + op.name));
    for (const BodyDesign& inner : body.bodies) members(inner, prefix + inner.name + "/", into);
  }
  void rest(const BodyDesign& body, const std::string& prefix) {
    for (const OperatorDesign& op : body.operators) configure(op, prefix + op.name);
    for (const FlowDesign& flow : body.flows) {
      std::vector<std::string> targets;
      inputs(body, prefix, flow.target, targets);
      for (const std::string& target : targets) {
        graph_.flow(output(body, prefix, flow.source), target, flow.options);
        if (flow.topic_name.empty()) continue;
        graph_.snapshot().flows.back().topic_name = prefix + flow.topic_name;
      }
    }
    for (const auto& [before, after] : body.order) {
      graph_.snapshot().lifecycle_order.push_back({vertex(prefix + body.operators[before].name),
                                                   vertex(prefix + body.operators[after].name)});
    }
    for (const auto& [target, stage] : body.grants) {
      graph_.snapshot().restart_grants.push_back(
          {.target = vertex(prefix + body.operators[target].name), .from_stage = stage});
    }
    if (!body.region.empty()) {
      RegionSnapshot region{
          .name = prefix + "region",
          .constraints = {RegionConstraint::kSinglePartition, RegionConstraint::kLossless}};
      for (const EndDesign& item : body.region) {
        if (item.is_operator) {
          region.members.push_back(vertex(prefix + body.operators[item.item].name));
        } else {
          const BodyDesign& inner = body.bodies[item.item];
          members(inner, prefix + inner.name + "/", region.members);
        }
      }
      graph_.snapshot().regions.push_back(std::move(region));
    }
    if (body.topic) graph_.topic(body.topic_uri, {output(body, prefix, *body.topic)});
    for (const BodyDesign& inner : body.bodies) rest(inner, prefix + inner.name + "/");
  }

  TestGraph graph_;
};

ExecutionPlan compose(const BodyDesign& design, std::uint32_t order,
                      const CompileOptions& options) {
  std::mt19937 random(order);
  Composed graph("test", design, random);
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  graph.write();
  return compile(graph, options);
}

/// Without what only embedded graphs have.
std::string flat_json(const ExecutionPlan& plan) {
  PlanRecords records = plan.records();
  records.graph_instances.clear();
  for (RegionRecord& region : records.regions) region.graphs.clear();
  return plan_json(records);
}

TEST_CASE("a graph with embedded graphs gives the plan of the same graph written flat") {
  std::size_t instances = 0;
  std::size_t deepest = 0;
  std::size_t accepted = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const BodyDesign design = RandomDesign(seed).body("test", 5, true);
    Flat flat(design);
    if (seed % 2 == 0) flat.graph().options.lifecycle_transactions.emplace();
    const ExecutionPlan expected_plan = flat.graph().compile();
    const ExecutionPlan plan = compose(design, seed, flat.graph().options);
    CHECK(flat_json(plan) == flat_json(expected_plan));
    instances += plan.records().graph_instances.size();
    accepted += plan.ok() ? 1 : 0;
    for (const auto& instance : plan.records().graph_instances) {
      const auto level = static_cast<std::size_t>(std::ranges::count(instance.path, '/')) + 1;
      deepest = std::max(deepest, level);
    }
    CHECK(compose(design, seed + 1, flat.graph().options).json() == plan.json());
  }
  CHECK(instances > 300);
  CHECK(deepest >= 3);
  CHECK(accepted > 30);
}

TEST_CASE("records of embedded graphs hold each operator in its own graph, once") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    const ExecutionPlan plan = compose(RandomDesign(seed).body("test", 5, true), seed, {});
    const auto& instances = plan.records().graph_instances;
    std::set<VertexId> placed;
    for (std::size_t i = 0; i < instances.size(); ++i) {
      const GraphInstancePlanRecord& instance = instances[i];
      CHECK(instance.id.value == i);
      if (i > 0) CHECK(instances[i - 1].path < instance.path);
      const std::size_t slash = instance.path.rfind('/');
      CHECK(instance.parent.valid() == (slash != std::string::npos));
      if (instance.parent.valid()) {
        CHECK(instances[instance.parent.value].path == instance.path.substr(0, slash));
      }
      for (const VertexId member : instance.members) {
        CHECK(placed.insert(member).second);
        const std::string& path = plan.operators()[member.value].path;
        CHECK(path.substr(0, path.rfind('/')) == instance.path);
      }
      for (const auto& input : instance.inputs) CHECK_FALSE(input.ports.empty());
      for (const auto& output : instance.outputs) CHECK(output.ports.size() == 1);
    }
    for (const auto& op : plan.operators()) {
      CHECK(placed.contains(op.id) == (op.path.find('/') != std::string::npos));
    }
  }
}

}  // namespace
}  // namespace weftline
