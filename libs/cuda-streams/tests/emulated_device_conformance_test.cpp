// SPDX-License-Identifier: Apache-2.0
#include "alien_device.hpp"
#include "device_conformance.hpp"

namespace weftline::testing {
namespace {

expected<std::shared_ptr<Device>, Error> open_emulated(std::uint32_t ordinal,
                                                       std::uint32_t queue_capacity) {
  DeviceOptions options;
  options.emulated.device_count = 2;
  options.emulated.memory_bytes = std::uint64_t{1} << 26;
  options.emulated.stream_queue_capacity = queue_capacity;
  return open_device({DeviceKind::kEmulated, ordinal}, options);
}

DeviceUnderTest emulated(std::string name, std::uint32_t queue_capacity) {
  return {.name = std::move(name),
          .open = [=] { return open_emulated(0, queue_capacity); },
          .open_other = [=] { return open_emulated(1, queue_capacity); },
          .open_alien = [] { return std::make_shared<AlienDevice>(); },
          .queue_capacity = queue_capacity,
          .no_queue_capacity_reason = {}};
}

}  // namespace

std::vector<DeviceUnderTest> devices_under_test() {
  return {emulated("emulated, worker threads", 1024), emulated("emulated, short queues", 16)};
}

}  // namespace weftline::testing
