// SPDX-License-Identifier: Apache-2.0
#include "planted_order_bugs.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline {

TEST_CASE("each planted mistake in stream order is reported on CUDA") {
  const auto checker = std::make_shared<StreamOrderChecker>();
  auto device = open_device({DeviceKind::kCuda, 0}, {.order_checker = checker});
  if (!device) SKIP("no CUDA device to test on: " + device.error().to_string());
  must((*device)->make_current());
  OrderBench bench{checker, *device};
  all_planted_order_bugs(bench);
}

}  // namespace weftline
