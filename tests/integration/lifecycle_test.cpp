// SPDX-License-Identifier: Apache-2.0
//
// Operators start by the plan's order and stop the other way, embedded ones too.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "test_operators.hpp"

using namespace test;
using weftline::RunTermination;

namespace {

/// Writes down when it starts and stops; closes at its first tick.
class Logged final : public Operator<> {
 public:
  Logged(std::string name, std::vector<std::string>* log) : name_(std::move(name)), log_(log) {}
  Output<std::uint32_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return out.close(); }
  void start(weftline::LifecycleContext&) override { log_->push_back("+" + name_); }
  void stop(weftline::LifecycleContext&) override { log_->push_back("-" + name_); }

 private:
  std::string name_;
  std::vector<std::string>* log_;
};

class Part final : public weftline::Graph {
 public:
  Part(std::string name, std::vector<std::string>* log) : Graph(std::move(name)), log_(log) {}
  std::optional<weftline::OperatorHandle<Logged>> driver;

 protected:
  void compose() override { driver.emplace(op<Logged>("driver", "part/driver", log_)); }

 private:
  std::vector<std::string>* log_;
};

}  // namespace

TEST_CASE("operators start by the authored order, and stop in its reverse") {
  std::vector<std::string> log;
  weftline::Graph graph{"lifecycle"};
  use_realtime_clock(graph);
  const auto a = graph.op<Logged>("a", "a", &log);
  const auto b = graph.op<Logged>("b", "b", &log);
  graph.op<Logged>("c", "c", &log);
  const auto part = graph.embed<Part>("part", &log);
  graph.lifecycle_after(a, b);
  graph.lifecycle_after(b, *part->driver);
  const auto plan = weftline::compile(graph);
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(log == std::vector<std::string>{"+c", "+part/driver", "+b", "+a", "-a", "-b",
                                        "-part/driver", "-c"});
}

TEST_CASE("a plan whose output keeps history is refused before anything starts") {
  std::vector<std::string> log;
  weftline::Graph graph{"history"};
  use_realtime_clock(graph);
  const auto a = graph.op<Logged>("a", "a", &log);
  graph.add_flow(a->out, graph.export_topic<std::uint32_t>("weftline://history").input());
  graph.configure(a->out).late_joiner_history_depth(4);
  const auto plan = weftline::compile(graph);
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].error.token == "RUN_HISTORY_UNSUPPORTED");
  CHECK(log.empty());
}

TEST_CASE("an embedded graph runs like the operators that it stands for") {
  class Adds final : public Operator<> {
   public:
    Input<std::uint32_t> in;
    Output<std::uint32_t> out;
    void setup(OperatorSpec& spec) override {
      spec.input(in, "in");
      spec.output(out, "out");
    }
    expected<void, Error> compute(ExecutionContext&) override {
      WEFTLINE_ASSIGN(const auto sample, in.receive());
      return out.emit(sample.data + 1);
    }
  };
  class Two final : public weftline::Graph {
   public:
    using Graph::Graph;
    weftline::GraphInput<std::uint32_t> in;
    weftline::GraphOutput<std::uint32_t> out;

   protected:
    void compose() override {
      const auto first = op<Adds>("first");
      const auto second = op<Adds>("second");
      add_flow(first->out, second->in);
      in = export_input("in", first->in);
      out = export_output("out", second->out);
    }
  };
  class Once final : public Operator<> {
   public:
    Output<std::uint32_t> out;
    void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
    Contract contract() const override {
      return Contract().trigger(OnClock{std::chrono::microseconds(1)});
    }
    expected<void, Error> compute(ExecutionContext&) override {
      WEFTLINE_TRY(out.emit(40));
      return out.close();
    }
  };
  class Keeps final : public Operator<> {
   public:
    explicit Keeps(std::atomic<std::uint32_t>* last) : last_(last) {}
    Input<std::uint32_t> in;
    void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
    expected<void, Error> compute(ExecutionContext&) override {
      WEFTLINE_ASSIGN(const auto sample, in.receive());
      last_->store(sample.data);
      return {};
    }

   private:
    std::atomic<std::uint32_t>* last_;
  };
  std::atomic<std::uint32_t> last{0};
  weftline::Graph graph{"embedded"};
  use_realtime_clock(graph);
  const auto source = graph.op<Once>("source");
  const auto sink = graph.op<Keeps>("sink", &last);
  const auto two = graph.embed<Two>("two");
  graph.add_flow(source->out, two->in);
  graph.add_flow(two->out, sink->in);
  const auto session = weftline::run_async(weftline::compile(graph));
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(last.load() == 42);
}
