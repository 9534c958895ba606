// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "device_under_test.hpp"
#include "shared_pages.hpp"
#include "weftline/cuda/fence_words.hpp"
#include "weftline/cuda/shared_memory.hpp"

// The part of the conformance suite about memory that processes share.

namespace weftline::testing {

/// Skips the test where the device has none; any other failure is one.
inline SharedMemory& shared_memory_or_skip(Device& device) {
  auto memory = device.shared_memory();
  if (!memory && memory.error().code == ErrorCode::kNotSupported) {
    SKIP(memory.error().to_string());
  }
  return *must(std::move(memory));
}

/// What `length` bytes at `data` hold, by way of a stream of the bench.
inline std::vector<std::byte> read_back(Workbench& bench, const std::byte* data,
                                        std::size_t length) {
  const auto host = bench.pinned(length);
  const StreamRef stream = bench.stream();
  must(bench.device().copy(stream, host.data(), data, length));
  bench.finish(stream);
  return {host.begin(), host.end()};
}

TEST_CASE("exported memory and its imports are the same bytes, on one device and on two") {
  const auto subject = any_device_under_test();
  const bool second_device = GENERATE(false, true);
  CAPTURE(subject.name, second_device);
  Workbench exporter(subject);
  Workbench importer(open_or_skip(second_device ? subject.open_other : subject.open));
  constexpr std::size_t kBytes = 100'000;
  const MemoryBlock block = must(shared_memory_or_skip(exporter.device()).allocate(kBytes));
  CHECK(block.kind() == MemoryKind::kCudaDevice);
  CHECK(block.byte_size() == kBytes);
  CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % kMemoryBlockAlignment == 0);
  CHECK(must(exporter.device().pointer_info(block.data() + kBytes - 1)).kind ==
        MemoryKind::kCudaDevice);

  FileDescriptor descriptor =
      must(must(exporter.device().shared_memory())->export_descriptor(block));
  SharedMemory& memory = shared_memory_or_skip(importer.device());
  const MemoryBlock writable =
      must(memory.import_descriptor(descriptor.get(), kBytes, MemoryAccessMode::kReadWrite));
  const MemoryBlock read_only =
      must(memory.import_descriptor(descriptor.get(), kBytes, MemoryAccessMode::kReadOnly));
  descriptor = FileDescriptor{};
  CHECK(writable.kind() == MemoryKind::kCudaDevice);
  CHECK(writable.device() == &importer.device());
  CHECK(writable.data() != block.data());

  const StreamRef stream = exporter.stream();
  must(exporter.device().fill(stream, block.data(), std::byte{1}, kBytes));
  exporter.finish(stream);
  CHECK(all_equal(read_back(importer, writable.data(), kBytes), std::byte{1}));
  CHECK(all_equal(read_back(importer, read_only.data(), kBytes), std::byte{1}));
  const StreamRef other = importer.stream();
  must(importer.device().fill(other, writable.data() + kBytes - 1, std::byte{2}, 1));
  importer.finish(other);
  CHECK(read_back(exporter, block.data() + kBytes - 2, 2) ==
        std::vector{std::byte{1}, std::byte{2}});
  CHECK(read_back(importer, read_only.data() + kBytes - 1, 1) == std::vector{std::byte{2}});
}

TEST_CASE("imported memory lives on when its exporter gives it up") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  SharedMemory& memory = shared_memory_or_skip(bench.device());
  MemoryBlock block = must(memory.allocate(64));
  const StreamRef stream = bench.stream();
  must(bench.device().fill(stream, block.data(), std::byte{7}, 64));
  bench.finish(stream);
  const MemoryBlock import = must(memory.import_descriptor(
      must(memory.export_descriptor(block)).get(), 64, MemoryAccessMode::kReadOnly));
  block = MemoryBlock{};
  CHECK(all_equal(read_back(bench, import.data(), 64), std::byte{7}));
}

TEST_CASE("what was not exported is not imported, and what can't be is not exported") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Workbench another(open_or_skip(subject.open_other));
  SharedMemory& memory = shared_memory_or_skip(bench.device());
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  constexpr auto kRead = MemoryAccessMode::kReadOnly;

  const MemoryBlock empty = must(memory.allocate(0));
  CHECK(empty.data() == nullptr);
  const MemoryBlock ordinary = must(bench.device().allocate(MemoryKind::kCudaDevice, 64));
  const MemoryBlock foreign = must(must(another.device().shared_memory())->allocate(64));
  const MemoryBlock shared = must(memory.allocate(64));
  const FileDescriptor descriptor = must(memory.export_descriptor(shared));
  const MemoryBlock import = must(memory.import_descriptor(descriptor.get(), 64, kRead));
  for (const MemoryBlock* const block : {&empty, &ordinary, &foreign, &import}) {
    require_refused(memory.export_descriptor(*block), kCode, "DEVICE_BLOCK_NOT_SHARED");
  }

  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  const FileDescriptor read_end(pipe_ends[0]);
  const FileDescriptor write_end(pipe_ends[1]);
  const FileDescriptor plain_memory(memfd_create("not-a-device", MFD_CLOEXEC));
  REQUIRE(ftruncate(plain_memory.get(), 4096) == 0);
  for (const int wrong : {-1, read_end.get(), plain_memory.get()}) {
    const auto refused = memory.import_descriptor(wrong, 64, kRead);
    require_refused(refused, kCode, "DEVICE_SHARED_DESCRIPTOR");
    CHECK(refused.error().message.find("descriptor " + std::to_string(wrong)) != std::string::npos);
  }
  require_refused(memory.import_descriptor(descriptor.get(), 64 << 20, kRead),
                  ErrorCode::kIncompatible, "DEVICE_SHARED_SIZE");
  require_refused(memory.import_descriptor(descriptor.get(), 0, kRead), ErrorCode::kIncompatible,
                  "DEVICE_SHARED_SIZE");
  require_refused(memory.allocate(bench.device().description().memory_bytes + (1 << 20)),
                  ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED");
  must(bench.device().check_launch());
}

TEST_CASE("registered host memory is pinned memory, until its registration ends") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  SharedMemory& memory = shared_memory_or_skip(bench.device());
  Device& device = bench.device();
  const SharedPages pages;
  CHECK(must(device.pointer_info(pages.data())).kind == MemoryKind::kHost);
  {
    HostRegistration registration = must(memory.register_host_memory(
        pages.data(), SharedPages::kBytes, MemoryAccessMode::kReadWrite));
    CHECK(must(device.pointer_info(pages.data() + SharedPages::kBytes - 1)).kind ==
          MemoryKind::kPinnedHost);
    require_refused(
        memory.register_host_memory(pages.data() + 4096, 4096, MemoryAccessMode::kReadWrite),
        ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE");
    const StreamRef stream = bench.stream();
    must(device.fill(stream, pages.data(), std::byte{3}, SharedPages::kBytes));
    bench.finish(stream);  // a word is looked at while it changes, other bytes are not
    if (device.description().stream_memory_operations) {
      FenceWords& words = *must(device.fence_words());
      const FenceWord word = must(words.word(reinterpret_cast<std::uint64_t*>(pages.data())));
      must(words.write(stream, word, 77));
      REQUIRE(eventually([&] { return word.load() == 77; }));
    }
    CHECK(pages.data()[SharedPages::kBytes - 1] == std::byte{3});
    const HostRegistration moved = std::move(registration);
    CHECK_FALSE(registration);  // NOLINT(bugprone-use-after-move): that is what is tested
    CHECK(moved);
  }
  CHECK(must(device.pointer_info(pages.data())).kind == MemoryKind::kHost);
  static_cast<void>(must(memory.register_host_memory(pages.data(), SharedPages::kBytes,
                                                     MemoryAccessMode::kReadWrite)));
}

TEST_CASE("ranges that can't be registered are refused by name") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  SharedMemory& memory = shared_memory_or_skip(bench.device());
  std::byte* gone = nullptr;
  {
    const SharedPages pages;
    gone = pages.data();
    require_refused(memory.register_host_memory(gone, 0, MemoryAccessMode::kReadWrite),
                    ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE");
  }
  require_refused(memory.register_host_memory(nullptr, 1, MemoryAccessMode::kReadWrite),
                  ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE");
  require_refused(
      memory.register_host_memory(gone, SharedPages::kBytes, MemoryAccessMode::kReadWrite),
      ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE");
  const SharedPages pages;
  require_refused(memory.register_host_memory(pages.data(), ~std::uint64_t{0} - 4096,
                                              MemoryAccessMode::kReadWrite),
                  ErrorCode::kInvalidArgument, "DEVICE_HOST_RANGE");
  must(bench.device().check_launch());
}

}  // namespace weftline::testing
