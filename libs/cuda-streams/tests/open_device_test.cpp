// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/open_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "device_under_test.hpp"

namespace weftline::testing {
namespace {

/// Everything that the process writes to stderr during its life, C libraries included.
class CapturedStderr {
 public:
  CapturedStderr() {
    std::fflush(stderr);
    dup2(file_, STDERR_FILENO);
  }
  ~CapturedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(file_);
  }
  [[nodiscard]] long bytes() const {
    std::fflush(stderr);
    return lseek(file_, 0, SEEK_END);
  }

 private:
  int file_{memfd_create("stderr", 0)};
  int saved_{dup(STDERR_FILENO)};
};

}  // namespace

TEST_CASE("the catalog lists the emulated devices that were asked for, sorted, and is repeatable") {
  DeviceOptions options;
  options.emulated.device_count = 3;
  const DeviceCatalog catalog = capture_device_catalog(options);
  CHECK(catalog.host_cpu_count >= 1);
  REQUIRE(catalog.devices.size() >= 3);
  for (std::uint32_t ordinal = 0; ordinal < 3; ++ordinal) {
    CHECK(catalog.devices[ordinal].id == DeviceId{DeviceKind::kEmulated, ordinal});
  }
  CHECK(std::is_sorted(catalog.devices.begin(), catalog.devices.end(),
                       [](const auto& a, const auto& b) { return a.id < b.id; }));
  CHECK(catalog == capture_device_catalog(options));
  for (const DeviceDescription& a : catalog.devices) {
    CHECK(std::count_if(catalog.devices.begin(), catalog.devices.end(),
                        [&](const auto& b) { return b.uuid == a.uuid; }) == 1);
  }
}

TEST_CASE("capturing the catalog prints nothing, driver or not") {
  const CapturedStderr captured;
  static_cast<void>(capture_device_catalog());
  CHECK(captured.bytes() == 0);
}

TEST_CASE("without emulated devices and without a driver the catalog is empty and still valid") {
  DeviceOptions options;
  options.emulated.device_count = 0;
  for (const DeviceDescription& device : capture_device_catalog(options).devices) {
    CHECK(device.id.kind == DeviceKind::kCuda);
  }
}

TEST_CASE("a device that was opened says the same of itself as the catalog") {
  const DeviceCatalog catalog = capture_device_catalog();
  const auto device = must(open_device({DeviceKind::kEmulated, 0}));
  REQUIRE(catalog.find(device->id()) != nullptr);
  CHECK(device->description() == *catalog.find(device->id()));
}

TEST_CASE("an emulated device that does not exist is refused with the list of those that do") {
  DeviceOptions options;
  options.emulated.device_count = 2;
  const auto refused = open_device({DeviceKind::kEmulated, 2}, options);
  require_refused(refused, ErrorCode::kNotFound, "DEVICE_UNKNOWN");
  CHECK(refused.error().message.find("emulated:2;") != std::string::npos);
  CHECK(refused.error().message.find("emulated:0, emulated:1") != std::string::npos);
  CHECK(refused.error().message.find("device_count") != std::string::npos);
}

TEST_CASE("a CUDA device that can't be had is refused with the reason") {
  const auto refused = open_device({DeviceKind::kCuda, 999});
  REQUIRE_FALSE(refused.has_value());
  CAPTURE(refused.error().to_string());
  CHECK(refused.error().message.find("cuda:999") != std::string::npos);
  if (refused.error().code == ErrorCode::kNotFound) {
    CHECK(refused.error().token == "DEVICE_UNKNOWN");
    CHECK(refused.error().message.find("emulated:0") != std::string::npos);
    CHECK(refused.error().message.find("device_count") == std::string::npos);
  } else {
    CHECK(refused.error().code == ErrorCode::kNotSupported);
    const bool names_what_is_missing = refused.error().token == "DEVICE_CUDA_NOT_BUILT" ||
                                       refused.error().token == "DEVICE_CUDA_NO_DRIVER";
    CHECK(names_what_is_missing);
  }
}

TEST_CASE("options that no device can have are refused by name") {
  for (const std::uint32_t capacity : {0U, kMaxStreamQueueCapacity + 1}) {
    DeviceOptions options;
    options.emulated.stream_queue_capacity = capacity;
    const auto refused = open_device({DeviceKind::kEmulated, 0}, options);
    require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID");
    CHECK(refused.error().message.find("stream_queue_capacity is " + std::to_string(capacity)) !=
          std::string::npos);
  }

  DeviceOptions no_queues;
  no_queues.emulated.hardware_queues = 0;
  const auto without = open_device({DeviceKind::kEmulated, 0}, no_queues);
  require_refused(without, ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID");
  CHECK(without.error().message.find("hardware_queues is 0") != std::string::npos);

  DeviceOptions too_many;
  too_many.emulated.device_count = kMaxEmulatedDevices + 1;
  const auto refused = open_device({DeviceKind::kEmulated, 0}, too_many);
  require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_OPTIONS_INVALID");
  CHECK(refused.error().message.find("101") != std::string::npos);
  CHECK(capture_device_catalog(too_many).devices.size() >= kMaxEmulatedDevices);
}

}  // namespace weftline::testing
