// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weftline/cuda/device.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/outcomes.hpp"
#include "weftline/testing/stream_gate.hpp"

namespace weftline::testing {

using OpenDevice = std::function<expected<std::shared_ptr<Device>, Error>()>;

/// One way to run the conformance suite. Each test program says which ones it has.
struct DeviceUnderTest {
  std::string name;
  OpenDevice open;
  OpenDevice open_other;  ///< Another device of the same backend.
  OpenDevice open_alien;  ///< A device of the other backend.
  /// Operations that fill a stream's queue; 0 excludes the tests of a full queue, for this reason:
  std::uint32_t queue_capacity;
  std::string no_queue_capacity_reason;
};

/// Defined by each test program.
std::vector<DeviceUnderTest> devices_under_test();

inline DeviceUnderTest any_device_under_test() {
  return GENERATE(from_range(devices_under_test()));
}

/// Skips the test where the machine lacks the device; any other failure is one.
inline std::shared_ptr<Device> open_or_skip(const OpenDevice& open) {
  auto device = open();
  if (!device && (device.error().code == ErrorCode::kNotSupported ||
                  device.error().code == ErrorCode::kNotFound)) {
    SKIP(device.error().to_string());
  }
  return must(std::move(device));
}

/// Skips the test where the device has no green contexts; any other failure is one.
inline GreenContext green_context_or_skip(Device& device, std::uint32_t sm_count) {
  auto context = device.create_green_context({sm_count});
  if (!context && context.error().code == ErrorCode::kNotSupported) {
    CHECK(context.error().token == "DEVICE_NO_GREEN_CONTEXTS");
    SKIP(context.error().to_string());
  }
  return must(std::move(context));
}

inline bool all_equal(std::span<const std::byte> range, std::byte value) {
  return std::all_of(range.begin(), range.end(), [&](std::byte byte) { return byte == value; });
}

/// A device and what a test makes on it. At the end it lets all streams run dry before the memory
/// goes, also when the test failed; so declare gates after it.
class Workbench {
 public:
  explicit Workbench(const DeviceUnderTest& subject) : Workbench(open_or_skip(subject.open)) {}
  explicit Workbench(std::shared_ptr<Device> device) : device_(std::move(device)) { warm_up(); }
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;
  ~Workbench() {
    for (const Stream& stream : streams_) {
      static_cast<void>(device_->synchronize(stream.ref()));
    }
  }

  [[nodiscard]] Device& device() const { return *device_; }

  StreamRef stream() {
    streams_.push_back(must(device_->create_stream({})));
    return streams_.back().ref();
  }
  EventRef event() {
    events_.push_back(must(device_->create_event()));
    return events_.back().ref();
  }
  std::span<std::byte> memory(MemoryKind kind, std::size_t bytes) {
    blocks_.push_back(kind == MemoryKind::kHost ? must(allocate_host_memory(bytes))
                                                : must(device_->allocate(kind, bytes)));
    return {blocks_.back().data(), bytes};
  }
  /// Host-visible memory that all streams reach, set to `value`.
  std::span<std::byte> pinned(std::size_t bytes, std::byte value = std::byte{0}) {
    const auto range = memory(MemoryKind::kPinnedHost, bytes);
    std::fill(range.begin(), range.end(), value);
    return range;
  }
  /// Waits, with a bound, until all work queued on `stream` is done.
  void finish(StreamRef stream) {
    const EventRef done = event();
    must(device_->record(done, stream));
    INFO("the stream's work did not end");
    REQUIRE(completes(done));
  }

 private:
  /// CUDA loads what it fills and copies with at the first use, and that may wait for all streams:
  /// it must not happen while a gate is closed.
  void warm_up() {
    const auto device_memory = device_->allocate(MemoryKind::kCudaDevice, 64);
    const auto host_memory = device_->allocate(MemoryKind::kPinnedHost, 64);
    const auto warm_stream = device_->create_stream({});
    if (!device_memory || !host_memory || !warm_stream) {
      return;  // not a device that does anything, or the test will find out
    }
    const StreamRef stream = warm_stream->ref();
    static_cast<void>(device_->fill(stream, device_memory->data(), std::byte{1}, 64));
    static_cast<void>(device_->fill(stream, host_memory->data(), std::byte{1}, 64));
    static_cast<void>(device_->copy(stream, host_memory->data(), device_memory->data(), 64));
    static_cast<void>(device_->launch_host(stream, [] {}));
    static_cast<void>(device_->synchronize(stream));
  }

  std::shared_ptr<Device> device_;
  std::vector<MemoryBlock> blocks_;
  std::vector<Event> events_;
  std::vector<Stream> streams_;
};

}  // namespace weftline::testing
