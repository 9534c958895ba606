// SPDX-License-Identifier: Apache-2.0
#include "alien_device.hpp"
#include "device_conformance.hpp"

namespace weftline::testing {
namespace {

expected<std::shared_ptr<Device>, Error> open_emulated(std::uint32_t ordinal,
                                                       const EmulatedDeviceOptions& emulated) {
  DeviceOptions options{emulated};
  options.emulated.device_count = 2;
  options.emulated.memory_bytes = std::uint64_t{1} << 26;
  return open_device({DeviceKind::kEmulated, ordinal}, options);
}

/// With a stepper of its own for each device.
DeviceUnderTest stepped(std::string name, const StepperOptions& options,
                        std::uint32_t hardware_queues = EmulatedDeviceOptions{}.hardware_queues) {
  const auto open = [=](std::uint32_t ordinal) {
    return open_emulated(ordinal, {.hardware_queues = hardware_queues,
                                   .stepper = std::make_shared<EmulatedStepper>(options),
                                   .stream_queue_capacity = 64});
  };
  return {.name = std::move(name),
          .open = [=] { return open(0); },
          .open_other = [=] { return open(1); },
          .open_alien = [] { return std::make_shared<AlienDevice>(); },
          .queue_capacity = 64,
          .no_queue_capacity_reason = {}};
}

DeviceUnderTest emulated(std::string name, const EmulatedDeviceOptions& options) {
  return {.name = std::move(name),
          .open = [=] { return open_emulated(0, options); },
          .open_other = [=] { return open_emulated(1, options); },
          .open_alien = [] { return std::make_shared<AlienDevice>(); },
          .queue_capacity = options.stream_queue_capacity,
          .no_queue_capacity_reason = {}};
}

}  // namespace

std::vector<DeviceUnderTest> devices_under_test() {
  return {emulated("emulated, worker threads", {}),
          emulated("emulated, short queues", {.stream_queue_capacity = 16}),
          emulated("emulated, no stream memory operations and no green contexts",
                   {.sm_granularity = 0, .stream_memory_operations = false}),
          emulated("emulated, one hardware queue", {.hardware_queues = 1}),
          stepped("emulated, stepper", {.seed = 20261130}),
          stepped("emulated, stepper with rests", {.seed = 7, .longest_rest = 5}),
          stepped("emulated, stepper, one hardware queue", {.seed = 30}, 1)};
}

}  // namespace weftline::testing
