// SPDX-License-Identifier: Apache-2.0
// Two operators, composed, compiled and run.
#include <chrono>
#include <cstdint>
#include <iostream>

#include "weftline/weftline.hpp"

namespace {

class Counter : public weftline::Operator<> {
 public:
  weftline::Output<std::int32_t> number;

  void setup(weftline::OperatorSpec& spec) override { spec.output(number, "number"); }
  weftline::Contract contract() const override {
    return weftline::Contract().trigger(weftline::OnClock{std::chrono::milliseconds(1)});
  }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    if (next_ == 5) return number.close();
    return number.emit(next_++);
  }

 private:
  std::int32_t next_{0};
};

class Printer : public weftline::Operator<> {
 public:
  weftline::Input<std::int32_t> number;

  void setup(weftline::OperatorSpec& spec) override { spec.input(number, "number"); }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, number.receive());
    std::cout << sample.data << '\n';
    return {};
  }
};

}  // namespace

int main() {
  weftline::Graph graph("count");
  const auto counter = graph.op<Counter>("counter");
  const auto printer = graph.op<Printer>("printer");
  graph.add_flow(counter->number, printer->number);
  graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>("monotonic"));

  const auto plan = weftline::compile(graph);
  plan.require_no_errors();
  const auto session = weftline::run_async(plan);
  session.wait();
  return session.termination() == weftline::RunTermination::kCompleted ? 0 : 1;
}
