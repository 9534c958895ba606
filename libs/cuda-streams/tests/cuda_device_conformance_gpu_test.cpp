// SPDX-License-Identifier: Apache-2.0
#include "device_conformance.hpp"

namespace weftline::testing {

std::vector<DeviceUnderTest> devices_under_test() {
  const OpenDevice open_cuda = [] { return open_device({DeviceKind::kCuda, 0}); };
  const OpenDevice open_emulated = [] { return open_device({DeviceKind::kEmulated, 0}); };
  const OpenDevice open_second_cuda = [] { return open_device({DeviceKind::kCuda, 1}); };
  std::vector<DeviceUnderTest> subjects;
  subjects.push_back({.name = "cuda:0 beside itself, opened again",
                      .open = open_cuda,
                      .open_other = open_cuda,
                      .open_alien = open_emulated,
                      .queue_capacity = 0,
                      .no_queue_capacity_reason =
                          "CUDA does not say how much work a stream queues before it blocks"});
  subjects.push_back(subjects.front());
  subjects.back().name = "cuda:0 beside cuda:1";
  subjects.back().open_other = open_second_cuda;
  return subjects;
}

}  // namespace weftline::testing
