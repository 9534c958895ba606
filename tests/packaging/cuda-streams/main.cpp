// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/cuda/open_device.hpp"

int main() {
  const auto device = weftline::open_device({weftline::DeviceKind::kEmulated, 0});
  std::cout << (device ? "opened emulated:0" : device.error().message) << '\n';
  return device ? 0 : 1;
}
