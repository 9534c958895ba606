// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/channel/channel_runtime.hpp"

int main() {
  const auto runtime = weftline::ChannelRuntime::create({.directory = "channels"});
  std::cout << (runtime ? "a channel runtime" : runtime.error().message) << '\n';
  return runtime ? 0 : 1;
}
