// SPDX-License-Identifier: Apache-2.0
#include "planted_order_bugs.hpp"

#include "weftline/cuda/open_device.hpp"

namespace weftline {
namespace {

OrderBench bench_on(const std::shared_ptr<EmulatedStepper>& stepper) {
  const auto checker = std::make_shared<StreamOrderChecker>();
  DeviceOptions options{.order_checker = checker};
  options.emulated.stepper = stepper;
  return {checker, must(open_device({DeviceKind::kEmulated, 0}, options))};
}

}  // namespace

TEST_CASE(
    "each planted mistake in stream order is reported, on streams with threads of their own") {
  OrderBench bench = bench_on(nullptr);
  all_planted_order_bugs(bench);
}

TEST_CASE("each planted mistake in stream order is reported, on streams that a stepper advances") {
  OrderBench bench =
      bench_on(std::make_shared<EmulatedStepper>(StepperOptions{.seed = 7, .longest_rest = 3}));
  all_planted_order_bugs(bench);
}

}  // namespace weftline
