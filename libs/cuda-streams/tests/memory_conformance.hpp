// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>

#include "device_under_test.hpp"
#include "weftline/testing/allocation_count.hpp"
#include "weftline/testing/counted_new.hpp"

// The part of the conformance suite about memory, and about what hot calls may cost.

namespace weftline::testing {

inline constexpr std::array kAllKinds{MemoryKind::kHost, MemoryKind::kPinnedHost,
                                      MemoryKind::kCudaDevice, MemoryKind::kCudaManaged};

TEST_CASE("memory of each kind is aligned and says what it is") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  for (const MemoryKind kind :
       {MemoryKind::kPinnedHost, MemoryKind::kCudaDevice, MemoryKind::kCudaManaged}) {
    CAPTURE(memory_kind_name(kind));
    for (const std::uint64_t bytes : {1U, 255U, 4097U, 1U << 20}) {
      const MemoryBlock block = must(bench.device().allocate(kind, bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % kMemoryBlockAlignment == 0);
      CHECK(block.byte_size() == bytes);
      CHECK(block.kind() == kind);
      CHECK(block.device() == &bench.device());
    }
    const MemoryBlock empty = must(bench.device().allocate(kind, 0));
    CHECK(empty.data() == nullptr);
    CHECK(empty.byte_size() == 0);
  }
}

TEST_CASE("a device says what each byte of its memory belongs to, and of no other") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  const Device& device = bench.device();
  constexpr std::size_t kBytes = 5000;
  for (const MemoryKind kind : kAllKinds) {
    CAPTURE(memory_kind_name(kind));
    for (int block = 0; block < 3; ++block) {
      const auto memory = bench.memory(kind, kBytes);
      for (const std::size_t offset : {std::size_t{0}, kBytes / 2, kBytes - 1}) {
        const PointerInfo info = must(device.pointer_info(memory.data() + offset));
        CHECK(info.kind == kind);
        CHECK(info.device ==
              (is_device_resident(kind) ? std::optional(device.id()) : std::nullopt));
      }
    }
  }
  const int local = 0;
  CHECK(must(device.pointer_info(&local)) == PointerInfo{MemoryKind::kHost, std::nullopt});
  require_refused(device.pointer_info(nullptr), ErrorCode::kInvalidArgument, "DEVICE_NULL_POINTER");
}

TEST_CASE("a stream copies to and from memory of another device of its backend") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench here(subject);
  Workbench there(open_or_skip(subject.open_other));
  const StreamRef stream = here.stream();
  constexpr std::size_t kBytes = 70'001;
  std::mt19937 random(20261130);
  const auto pattern = here.pinned(kBytes);
  const auto result = here.pinned(kBytes);
  for (const MemoryKind from : {MemoryKind::kCudaDevice, MemoryKind::kCudaManaged}) {
    for (const MemoryKind to : {MemoryKind::kCudaDevice, MemoryKind::kCudaManaged}) {
      CAPTURE(memory_kind_name(from), memory_kind_name(to));
      std::generate(pattern.begin(), pattern.end(),
                    [&] { return static_cast<std::byte>(random()); });
      const auto near = here.memory(from, kBytes);
      const auto far = there.memory(to, kBytes);
      must(here.device().copy(stream, near.data(), pattern.data(), kBytes));
      must(here.device().copy(stream, far.data(), near.data(), kBytes));
      must(here.device().fill(stream, near.data(), std::byte{0}, kBytes));
      must(here.device().copy(stream, near.data(), far.data(), kBytes));
      must(here.device().copy(stream, result.data(), near.data(), kBytes));
      here.finish(stream);
      CHECK(std::equal(result.begin(), result.end(), pattern.begin()));
    }
  }
}

TEST_CASE("copies between any two kinds of memory keep every byte") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  constexpr std::size_t kBytes = (1 << 18) + 3;
  constexpr std::size_t kSourceOffset = 1;
  constexpr std::size_t kDestinationOffset = 5;
  std::mt19937 random(20261129);
  const auto pattern = bench.pinned(kBytes);
  const auto result = bench.pinned(kBytes);

  for (const MemoryKind from : kAllKinds) {
    for (const MemoryKind to : kAllKinds) {
      CAPTURE(memory_kind_name(from), memory_kind_name(to));
      std::generate(pattern.begin(), pattern.end(),
                    [&] { return static_cast<std::byte>(random()); });
      std::fill(result.begin(), result.end(), std::byte{0});
      std::byte* const source = bench.memory(from, kBytes + kSourceOffset).data() + kSourceOffset;
      std::byte* const destination =
          bench.memory(to, kBytes + kDestinationOffset).data() + kDestinationOffset;
      must(device.copy(stream, source, pattern.data(), kBytes));
      // CUDA reads a plain host source during the call: see Device::copy.
      if (from == MemoryKind::kHost) bench.finish(stream);
      must(device.copy(stream, destination, source, kBytes));
      must(device.copy(stream, result.data(), destination, kBytes));
      bench.finish(stream);
      CHECK(std::equal(result.begin(), result.end(), pattern.begin()));
    }
  }
}

// kHost is left out: CUDA does not fill memory that the device can't reach (see Device::fill).
TEST_CASE("a fill sets its range in each kind of device-reachable memory and nothing beside it") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  constexpr std::size_t kBytes = 10007;
  const auto result = bench.pinned(kBytes);
  for (const MemoryKind kind :
       {MemoryKind::kPinnedHost, MemoryKind::kCudaDevice, MemoryKind::kCudaManaged}) {
    CAPTURE(memory_kind_name(kind));
    const auto memory = bench.memory(kind, kBytes);
    must(device.fill(stream, memory.data(), std::byte{0x11}, kBytes));
    must(device.fill(stream, memory.data() + 7, std::byte{0xFE}, kBytes - 20));
    must(device.copy(stream, result.data(), memory.data(), kBytes));
    bench.finish(stream);
    CHECK(all_equal(result.first(7), std::byte{0x11}));
    CHECK(all_equal(result.subspan(7, kBytes - 20), std::byte{0xFE}));
    CHECK(all_equal(result.last(13), std::byte{0x11}));
  }
}

// Device memory only: to ask CUDA for more managed memory than there is can hang a real device.
TEST_CASE(
    "memory that the device does not have is refused with both numbers, and nothing is lost") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const std::uint64_t too_much = device.description().memory_bytes + (1 << 20);
  const auto refused = device.allocate(MemoryKind::kCudaDevice, too_much);
  require_refused(refused, ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED");
  const std::string& message = refused.error().message;
  CAPTURE(message);
  CHECK(message.find(device.id().to_string()) != std::string::npos);
  CHECK(message.find(std::to_string(too_much)) != std::string::npos);
  CHECK(message.find("bytes are free") + message.find("bytes of the device are free") !=
        2 * std::string::npos);
  must(device.check_launch());  // the refusal is not mistaken for a failed launch
  CHECK(must(device.allocate(MemoryKind::kCudaDevice, 1 << 20)).data() != nullptr);
}

TEST_CASE("queuing, polling and waiting allocate nothing") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const StreamRef other = bench.stream();
  const EventRef event = bench.event();
  const auto source = bench.memory(MemoryKind::kCudaDevice, 4096);
  const auto destination = bench.memory(MemoryKind::kPinnedHost, 4096);
  int runs = 0;

  const std::uint64_t before = allocations_of_this_thread();
  const std::uint64_t all_before = allocations_of_all_threads();
  bool all_ok = true;
  for (int i = 0; i < 200; ++i) {
    all_ok &= device.fill(stream, source.data(), std::byte{1}, source.size()).has_value();
    all_ok &= device.record(event, stream).has_value();
    all_ok &= device.wait(other, event).has_value();
    all_ok &= device.copy(other, destination.data(), source.data(), source.size()).has_value();
    all_ok &= device.launch_host(other, [count = &runs] { ++*count; }).has_value();
    all_ok &= device.record(event, other).has_value();
    all_ok &= device.wait(stream, event).has_value();
    all_ok &= device.is_complete(event).has_value();
    all_ok &= device.synchronize(event).has_value();
    all_ok &= device.record(EventRef{}, stream).has_value() == false;
  }
  const std::uint64_t after = allocations_of_this_thread();
  const std::uint64_t all_after = allocations_of_all_threads();
  CHECK(all_ok);
  CHECK(runs == 200);
  CHECK(after - before == 0);
  if (device.id().kind == DeviceKind::kEmulated) {  // what a driver's own threads do is its affair
    CHECK(all_after - all_before == 0);
  }
}

TEST_CASE("copies that block their caller are counted, and no others") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  const auto on_device = bench.memory(MemoryKind::kCudaDevice, 64);
  const auto pinned = bench.pinned(64);
  const auto plain = bench.memory(MemoryKind::kHost, 64);
  CHECK(device.blocking_copies() == 0);

  must(device.copy(stream, on_device.data(), plain.data(), 64));
  must(device.copy(stream, pinned.data(), on_device.data(), 64));
  must(device.copy(stream, plain.data(), pinned.data(), 64));
  must(device.copy(stream, pinned.data(), plain.data(), 64));
  CHECK(device.blocking_copies() == 0);

  must(device.copy(stream, plain.data(), on_device.data(), 64));
  must(device.copy(stream, plain.data(), on_device.data(), 0));
  CHECK(device.blocking_copies() == (device.id().kind == DeviceKind::kCuda ? 1 : 0));
  bench.finish(stream);
}

}  // namespace weftline::testing
