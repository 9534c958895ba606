// SPDX-License-Identifier: Apache-2.0
#include "emulated_device.hpp"

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "device_under_test.hpp"

namespace weftline::testing {
namespace {

std::shared_ptr<Device> open_emulated(const EmulatedDeviceOptions& options = {}) {
  return must(open_device({DeviceKind::kEmulated, 0}, {options}));
}

std::size_t threads_of_this_process() {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator{}));
}

std::uint64_t address_space_of_this_process() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[maybe_unused]] std::uint64_t default_stack_bytes() {
  pthread_attr_t attributes{};
  std::size_t bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/// Where a child process finds what it imports.
constexpr int kDescriptorOfChild = 100;

/// Lives until the program's end, with work done on it: nothing may go wrong there.
struct KeptUntilExit {
  std::shared_ptr<Device> device;
  Stream stream;
  Event event;
  MemoryBlock memory;
};
std::optional<KeptUntilExit> kept_until_exit;

/// What a task needs to drop the last owner of its own device.
struct LastOwner {
  std::shared_ptr<Device> device;
  std::atomic<bool> dropped{false};
};

}  // namespace

TEST_CASE("an emulated device describes itself by its options and a UUID made from its ordinal") {
  const DeviceDescription description = cuda_streams::describe_emulated_device(
      42, {.sm_count = 3, .hardware_queues = 5, .memory_bytes = 777});
  CHECK(description.id == DeviceId{DeviceKind::kEmulated, 42});
  CHECK(std::string(description.uuid.begin(), description.uuid.end()) == "weftline-emul-42");
  CHECK(description.sm_count == 3);
  CHECK(description.hardware_queues == 5);
  CHECK(description.memory_bytes == 777);
  CHECK(description.stream_memory_operations);
  CHECK(description.green_contexts == GreenContextSupport{2, 2});
  const auto undivided = cuda_streams::describe_emulated_device(0, {.sm_granularity = 0});
  CHECK_FALSE(undivided.green_contexts.supported());
}

TEST_CASE("an emulated device gives its SMs out in whole multiples of its granularity") {
  const auto device = open_emulated({.sm_count = 11, .sm_granularity = 4});
  const GreenContext five = must(device->create_green_context({5}));
  CHECK(five.sm_count() == 8);
  const auto refused = device->create_green_context({1});
  require_refused(refused, ErrorCode::kResourceExhausted, "DEVICE_SMS_EXHAUSTED");
  CHECK(refused.error().message ==
        "emulated:0 cannot set 1 SMs apart: 0 are left for green contexts, which take them in "
        "multiples of 4. Ask for fewer, or drop another green context with its streams.");
}

TEST_CASE("device and managed memory share an emulated device's budget to the byte") {
  const auto device = open_emulated({.memory_bytes = 1000});
  const MemoryBlock first = must(device->allocate(MemoryKind::kCudaDevice, 600));
  const auto refused = device->allocate(MemoryKind::kCudaManaged, 401);
  require_refused(refused, ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED");
  CHECK(refused.error().message.find("401") != std::string::npos);
  CHECK(refused.error().message.find("400 of 1000") != std::string::npos);
  {
    const MemoryBlock rest = must(device->allocate(MemoryKind::kCudaManaged, 400));
    CHECK_FALSE(device->allocate(MemoryKind::kCudaDevice, 1).has_value());
    const MemoryBlock pinned = must(device->allocate(MemoryKind::kPinnedHost, 5000));
  }
  CHECK(must(device->allocate(MemoryKind::kCudaDevice, 400)).byte_size() == 400);
  CHECK_FALSE(
      device->allocate(MemoryKind::kCudaDevice, ~std::uint64_t{0}).has_value());  // no wrap-around
}

TEST_CASE("a budget that host memory can't cover is given back when the host refuses") {
  constexpr std::uint64_t kAll = std::uint64_t{1} << 60;
  const auto device = open_emulated({.memory_bytes = kAll});
  for (int i = 0; i < 2; ++i) {
    require_refused(device->allocate(MemoryKind::kCudaDevice, kAll), ErrorCode::kResourceExhausted,
                    "HOST_MEMORY_EXHAUSTED");
  }
}

TEST_CASE("an emulated device claims its memory to the byte, and only while it is allocated") {
  const auto device = open_emulated();
  const auto other = open_emulated();
  const std::byte* end = nullptr;
  {
    const MemoryBlock block = must(device->allocate(MemoryKind::kCudaManaged, 300));
    end = block.data() + block.byte_size();
    CHECK(must(device->pointer_info(end - 1)).kind == MemoryKind::kCudaManaged);
    CHECK(must(device->pointer_info(end)).kind == MemoryKind::kHost);
    CHECK(must(device->pointer_info(block.data() - 1)).kind == MemoryKind::kHost);
    CHECK(must(other->pointer_info(block.data())).kind == MemoryKind::kHost);
  }
  CHECK(must(device->pointer_info(end - 1)).kind == MemoryKind::kHost);
}

TEST_CASE("shared memory counts in an emulated device's budget, and an import of it does not") {
  const auto device = open_emulated({.memory_bytes = 1000});
  SharedMemory& memory = *must(device->shared_memory());
  {
    const MemoryBlock block = must(memory.allocate(900));
    CHECK(std::none_of(block.data(), block.data() + 900,
                       [](std::byte byte) { return byte == std::byte{0}; }));
    const MemoryBlock import = must(memory.import_descriptor(
        must(memory.export_descriptor(block)).get(), 900, MemoryAccessMode::kReadOnly));
    require_refused(memory.allocate(101), ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED");
    CHECK(must(device->allocate(MemoryKind::kCudaDevice, 100)).byte_size() == 100);
  }
  CHECK(must(memory.allocate(1000)).byte_size() == 1000);
}

TEST_CASE("a write to a read-only import ends the process that writes, and nothing else") {
  const auto device = open_emulated();
  SharedMemory& memory = *must(device->shared_memory());
  const MemoryBlock block = must(memory.allocate(64));
  const MemoryBlock import = must(memory.import_descriptor(
      must(memory.export_descriptor(block)).get(), 64, MemoryAccessMode::kReadOnly));
  block.data()[0] = std::byte{5};
  CHECK(import.data()[0] == std::byte{5});
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGSEGV, [](int) { _exit(42); });
    *const_cast<volatile std::byte*>(import.data()) = std::byte{6};
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(block.data()[0] == std::byte{5});
}

TEST_CASE("another process imports what it was sent, and finds the bytes there") {
  const auto device = open_emulated();
  SharedMemory& memory = *must(device->shared_memory());
  const MemoryBlock block = must(memory.allocate(4096));
  block.data()[4095] = std::byte{1};
  const FileDescriptor descriptor = must(memory.export_descriptor(block));
  std::array<char*, 3> arguments{const_cast<char*>("cuda-streams-tests"),
                                 const_cast<char*>("[import-child]"), nullptr};
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, descriptor.get(), kDescriptorOfChild);
  pid_t child = 0;
  const int spawned =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(spawned == 0);
  int status = 0;
  CHECK(eventually([&] { return waitpid(child, &status, WNOHANG) == child; }));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(block.data()[0] == std::byte{2});
}

TEST_CASE("in a process of its own, memory is imported", "[.][import-child]") {
  const auto device = open_emulated();
  const MemoryBlock import =
      must(must(device->shared_memory())
               ->import_descriptor(kDescriptorOfChild, 4096, MemoryAccessMode::kReadWrite));
  REQUIRE(import.data()[4095] == std::byte{1});
  const Stream stream = must(device->create_stream({}));
  must(device->fill(stream.ref(), import.data(), std::byte{2}, 1));
  must(device->synchronize(stream.ref()));
}

TEST_CASE("closing an emulated device waits for the work of streams that are gone already") {
  bool ran = false;  // plain: closing is what makes it visible
  auto device = open_emulated();
  {
    const Stream stream = must(device->create_stream({}));
    for (int i = 0; i < 100; ++i) {
      must(device->launch_host(stream.ref(), [] { std::this_thread::yield(); }));
    }
    must(device->launch_host(stream.ref(), [to = &ran] { *to = true; }));
  }
  device.reset();
  CHECK(ran);
}

TEST_CASE("the last owner of an emulated device may be dropped by a task of its own stream") {
  std::atomic<bool> both_streams_done{false};
  LastOwner last;
  last.device = open_emulated();
  Stream stream = must(last.device->create_stream({}));
  // It waits for the first one: to join it from there would never end.
  Stream follower = must(last.device->create_stream({}));
  Event dropped = must(last.device->create_event());
  std::optional<StreamGate> gate(stream.ref());
  must(last.device->launch_host(stream.ref(), [to = &last] {
    to->device.reset();
    to->dropped = true;
  }));
  must(last.device->record(dropped.ref(), stream.ref()));
  must(last.device->wait(follower.ref(), dropped.ref()));
  must(last.device->launch_host(follower.ref(), [to = &both_streams_done] { *to = true; }));
  stream = Stream{};
  follower = Stream{};
  dropped = Event{};
  const std::weak_ptr<Device> watch = last.device;

  gate.reset();
  REQUIRE(eventually([&] { return last.dropped.load(); }));
  CHECK(watch.expired());
  REQUIRE(eventually([&] { return both_streams_done.load(); }));
}

TEST_CASE("the worker of a destroyed stream ends, and a device that makes streams for ever works") {
  const auto device = open_emulated();
  const std::size_t threads_before = threads_of_this_process();
  const std::uint64_t address_space_before = address_space_of_this_process();
  int runs = 0;
  for (int i = 0; i < 200; ++i) {
    {
      const Stream stream = must(device->create_stream({}));
      must(device->launch_host(stream.ref(), [count = &runs] { ++*count; }));
      must(device->synchronize(stream.ref()));
    }
    REQUIRE(eventually([&] { return threads_of_this_process() <= threads_before; }));
  }
  CHECK(runs == 200);
#if !defined(__SANITIZE_THREAD__)  // it maps shadow memory as it goes
  // A thread that is never joined keeps its stack. Stacks of earlier tests may go meanwhile.
  CHECK(address_space_of_this_process() < address_space_before + 100 * default_stack_bytes());
#else
  static_cast<void>(address_space_before);
#endif
}

TEST_CASE("owners that live until the program ends do no harm") {
  kept_until_exit.emplace();
  kept_until_exit->device = open_emulated();
  Device& device = *kept_until_exit->device;
  kept_until_exit->stream = must(device.create_stream({}));
  kept_until_exit->event = must(device.create_event());
  kept_until_exit->memory = must(device.allocate(MemoryKind::kCudaDevice, 64));
  const StreamRef stream = kept_until_exit->stream.ref();
  must(device.fill(stream, kept_until_exit->memory.data(), std::byte{1}, 64));
  must(device.record(kept_until_exit->event.ref(), stream));
  CHECK(completes(kept_until_exit->event.ref()));
}

}  // namespace weftline::testing
