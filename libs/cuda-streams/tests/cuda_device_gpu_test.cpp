// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#ifndef WEFTLINE_WITH_CUDA

TEST_CASE("the CUDA backend's own tests") { SKIP("this build has no CUDA backend"); }

#else

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "device_under_test.hpp"
#include "fence_words_under_test.hpp"
#include "test_kernels.hpp"
#include "weftline/cuda/launch.hpp"

namespace weftline::testing {
namespace {

const OpenDevice kOpenFirst = [] { return open_device({DeviceKind::kCuda, 0}); };
const OpenDevice kOpenSecond = [] { return open_device({DeviceKind::kCuda, 1}); };

/// Destroyed after the program's end has begun. Uses its stream there, and ends the process with
/// a status of its own where that is not refused by name.
struct KeptUntilExit {
  KeptUntilExit() = default;
  KeptUntilExit(const KeptUntilExit&) = delete;
  KeptUntilExit& operator=(const KeptUntilExit&) = delete;
  ~KeptUntilExit() {
    const auto refused_by_name = [](const auto& outcome) {
      return !outcome && outcome.error().code == ErrorCode::kClosed &&
             outcome.error().token == "DEVICE_PROCESS_EXITS";
    };
    if (!refused_by_name(device->fill(stream.ref(), memory.data(), std::byte{2}, 64)) ||
        !refused_by_name(device->record(event.ref(), stream.ref())) ||
        !refused_by_name(device->is_complete(event.ref())) ||
        !refused_by_name(device->synchronize(stream.ref())) ||
        !refused_by_name(device->check_launch()) || !refused_by_name(device->create_event()) ||
        !refused_by_name(device->make_current())) {
      _exit(77);
    }
  }

  std::shared_ptr<Device> device{};
  Stream stream{};
  Event event{};
  MemoryBlock memory{};
};
std::optional<KeptUntilExit> kept_until_exit;

/// Runs this program again with one hidden test, since a lost context can't be had back. Returns
/// its exit status, or -1 when it did not end.
int run_in_new_process(const char* test, const char* variable = "WEFTLINE_UNUSED=") {
  std::array<char*, 3> arguments{const_cast<char*>("cuda-streams-gpu-tests"),
                                 const_cast<char*>(test), nullptr};
  std::vector<char*> environment{const_cast<char*>(variable)};
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    environment.push_back(*inherited);
  }
  environment.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(),
                  environment.data()) != 0) {
    return -1;
  }
  int status = 0;
  if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("the catalog describes a CUDA device with what the driver knows of it") {
  const auto device = open_or_skip(kOpenFirst);
  const DeviceDescription& description = device->description();
  CHECK_FALSE(description.name.empty());
  CHECK(description.uuid != DeviceUuid{});
  CHECK(description.sm_count > 0);
  CHECK(description.memory_bytes > 0);
  CHECK(description.hardware_queues >= 1);
  CHECK(description.hardware_queues <= 32);
  if (description.green_contexts.supported()) {
    CHECK(description.green_contexts.quantum_sms() <= description.sm_count);
  }
  const DeviceCatalog catalog = capture_device_catalog();
  REQUIRE(catalog.find(device->id()) != nullptr);
  CHECK(*catalog.find(device->id()) == description);
}

TEST_CASE("a stream's priority is the one that CUDA gave it") {
  const auto device = open_or_skip(kOpenFirst);
  must(device->make_current());
  int least = 0;
  int greatest = 0;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(device->stream_priorities().least == least);
  CHECK(device->stream_priorities().greatest == greatest);
  for (const int asked : {least, greatest, greatest - 1}) {
    const Stream stream = must(device->create_stream({.priority = asked}));
    int given = 1;
    REQUIRE(cudaStreamGetPriority(stream.ref().get(), &given) == cudaSuccess);
    CHECK(stream.priority() == given);
  }
}

TEST_CASE("launch gives the same bytes on CUDA, on an emulated device and on the host") {
  Workbench cuda(open_or_skip(kOpenFirst));
  Workbench emulated(must(open_device({DeviceKind::kEmulated, 0})));
  must(cuda.device().make_current());
  static constexpr std::uint32_t kCount = 1000;
  const auto run = [&](Workbench* bench) {
    const StreamRef stream = bench != nullptr ? bench->stream() : StreamRef{};
    const auto bytes = (bench != nullptr ? *bench : emulated)
                           .pinned(kCount * sizeof(std::uint32_t), std::byte{0x7F});
    auto* const values = reinterpret_cast<std::uint32_t*>(bytes.data());
    const MemoryAccess access{bytes.data(), bytes.size()};
    must(launch(
        stream, {&access, 1}, {&access, 1},
        [values] { std::for_each_n(values, kCount, [](std::uint32_t& value) { ++value; }); },
        [&](CUstream_st* handle) -> expected<void, Error> {
          launch_add_one(handle, values, kCount);
          return {};
        }));
    if (bench != nullptr) {
      bench->finish(stream);
    }
    return std::vector<std::uint32_t>(values, values + kCount);
  };
  const auto on_host = run(nullptr);
  CHECK(on_host.front() == 0x7F7F7F80);
  CHECK(run(&emulated) == on_host);
  CHECK(run(&cuda) == on_host);
}

TEST_CASE("a kernel runs on the stream of a green context") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  must(device.make_current());
  GreenContext context = green_context_or_skip(device, 1);
  const Stream stream = must(context.create_stream({}));
  constexpr std::uint32_t kCount = 100000;
  auto* const values =
      reinterpret_cast<std::uint32_t*>(bench.pinned(kCount * sizeof(std::uint32_t)).data());
  launch_add_one(stream.ref().get(), values, kCount);
  must(device.check_launch());
  must(device.synchronize(stream.ref()));
  CHECK(std::all_of(values, values + kCount, [](std::uint32_t value) { return value == 1; }));
}

TEST_CASE("a kernel launch that CUDA refuses is reported once, in words, and spoils nothing") {
  Workbench bench(open_or_skip(kOpenFirst));
  must(bench.device().make_current());
  const StreamRef stream = bench.stream();
  const auto refused = launch(
      stream, {}, {}, [] {},
      [](CUstream_st* handle) -> expected<void, Error> {
        launch_too_wide(handle);
        return {};
      });
  require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_CALL_FAILED");
  CAPTURE(refused.error().message);
  CHECK(refused.error().message.find("cuda:0: a kernel launch") != std::string::npos);
  // Which of the two "invalid" errors comes depends on the driver: 580 says InvalidValue.
  CHECK(refused.error().message.find("cudaErrorInvalid") != std::string::npos);
  must(bench.device().check_launch());
  bench.finish(stream);
}

TEST_CASE("what is no kernel is not preloaded, in words, and spoils nothing") {
  Workbench bench(open_or_skip(kOpenFirst));
  const int no_kernel = 0;
  const std::array<const void*, 2> kernels{set_one_kernel(), &no_kernel};
  const auto refused = bench.device().preload(kernels);
  require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_CALL_FAILED");
  CAPTURE(refused.error().message);
  CHECK(refused.error().message.find("cudaFuncGetAttributes") != std::string::npos);
  must(bench.device().check_launch());
}

TEST_CASE("the first launch of a preloaded kernel does not wait for a stream that waits") {
  const Workbench bench(open_or_skip(kOpenFirst));
  need_hardware_queues(bench.device(), 2);
  CHECK(run_in_new_process("[preload-child]", "CUDA_MODULE_LOADING=LAZY") == 0);
}

TEST_CASE("in a process of its own, a preloaded kernel is launched beside a waiting stream",
          "[.][preload-child]") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  must(device.make_current());
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  REQUIRE(cudaGetDriverEntryPointByVersion("cuModuleGetLoadingMode", &address, 12000,
                                           cudaEnableDefault, &found) == cudaSuccess);
  CUmoduleLoadingMode mode{};
  REQUIRE(reinterpret_cast<decltype(&cuModuleGetLoadingMode)>(address)(&mode) == CUDA_SUCCESS);
  REQUIRE(mode == CU_MODULE_LAZY_LOADING);
  const std::array<const void*, 1> kernels{set_one_kernel()};
  must(device.preload(kernels));

  FenceWords& words = *must(device.fence_words());
  const FenceWord word = must(words.word(reinterpret_cast<std::uint64_t*>(bench.pinned(8).data())));
  auto* const value = reinterpret_cast<std::uint32_t*>(bench.pinned(4).data());
  const StreamRef waiting = bench.stream();
  const StreamRef running = bench.stream();
  const EventRef done = bench.event();
  must(words.wait(waiting, word, 1));
  std::atomic<bool> launched{false};
  std::jthread launcher([&] {
    static_cast<void>(device.make_current());
    launch_set_one(running.get(), value);
    launched = static_cast<bool>(device.check_launch());
  });
  const bool returned = eventually([&] { return launched.load(); });
  const bool ran = returned && device.record(done, running) && completes(done);
  word.store(1);  // the watchdog: what waits, goes on now
  launcher.join();
  CHECK(returned);
  CHECK(ran);
  CHECK(*value == 1);
}

TEST_CASE("an incomplete event is not mistaken for a failed launch") {
  Workbench bench(open_or_skip(kOpenFirst));
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  StreamGate gate(stream);
  must(bench.device().record(event, stream));
  CHECK_FALSE(bench.device().is_complete(event).value());
  must(bench.device().check_launch());
}

TEST_CASE("what other threads do on a device leaves a stream capture whole") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  must(device.make_current());
  const StreamRef captured = bench.stream();
  const StreamRef other = bench.stream();
  const EventRef event = bench.event();
  const auto target = bench.pinned(64);
  const auto memory = bench.memory(MemoryKind::kCudaDevice, 64);
  const TimedEvent timed = must(device.create_timed_event());
  std::atomic<int> rounds{0};
  std::atomic<int> failures{0};
  const auto round = [&] {
    bool good = device.record(event, other) && device.record(timed.ref(), other) &&
                device.fill(other, memory.data(), std::byte{1}, 64) && device.wait(other, event) &&
                device.is_complete(event) && device.pointer_info(memory.data()) &&
                device.synchronize(event) && device.synchronize(other) &&
                device.elapsed(timed, timed) && device.create_stream({}) && device.create_event() &&
                device.check_launch();
    for (const MemoryKind kind :
         {MemoryKind::kCudaDevice, MemoryKind::kPinnedHost, MemoryKind::kCudaManaged}) {
      good = good && device.allocate(kind, 4096);  // and free it
    }
    failures += good ? 0 : 1;
    ++rounds;
  };
  const auto rounds_pass = [&] {
    return eventually([&, past = rounds.load() + 2] { return rounds >= past; });
  };

  REQUIRE(cudaStreamBeginCapture(captured.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  cudaGraph_t graph = nullptr;
  {
    const std::jthread another([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        round();
      }
    });
    CHECK(rounds_pass());
    CHECK(device.fill(captured, target.data(), std::byte{7}, 64));
    CHECK(rounds_pass());
    CHECK(cudaStreamEndCapture(captured.get(), &graph) == cudaSuccess);
  }
  CHECK(failures == 0);
  REQUIRE(graph != nullptr);
  cudaGraphExec_t runnable = nullptr;
  REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(runnable, captured.get()) == cudaSuccess);
  bench.finish(captured);
  CHECK(all_equal(target, std::byte{7}));
  CHECK(cudaGraphExecDestroy(runnable) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a host task, and a copy that is one, are refused while their stream is captured") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  must(device.make_current());
  const StreamRef stream = bench.stream();
  const auto pinned = bench.pinned(128);
  const auto plain = bench.memory(MemoryKind::kHost, 64);
  int runs = 0;
  const HostTask task([to = &runs] { ++*to; });
  constexpr auto kCode = ErrorCode::kNotSupported;
  constexpr auto kToken = "DEVICE_STREAM_CAPTURED";

  REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  for (int i = 0; i < 2000; ++i) {  // more than there are slots: a refused task takes none
    const auto refused = device.launch_host(stream, task);
    if (refused || refused.error().token != kToken) {
      FAIL("captured");
    }
  }
  require_refused(device.launch_host(stream, task), kCode, kToken);
  require_refused(device.copy(stream, pinned.data(), pinned.data() + 64, 64), kCode, kToken);
  require_refused(device.copy(stream, pinned.data(), plain.data(), 64), kCode, kToken);
  CHECK(device.fill(stream, pinned.data(), std::byte{1}, 64));
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 1);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);

  must(device.launch_host(stream, task));
  bench.finish(stream);
  CHECK(runs == 1);
}

TEST_CASE("calls on one device leave the thread's current device alone") {
  Workbench first(open_or_skip(kOpenFirst));
  Workbench second(open_or_skip(kOpenSecond));
  must(second.device().make_current());
  const StreamRef stream = first.stream();
  const EventRef event = first.event();
  const auto memory = first.memory(MemoryKind::kCudaDevice, 64);
  must(first.device().fill(stream, memory.data(), std::byte{1}, 64));
  must(first.device().record(event, stream));
  REQUIRE(completes(event));
  int current = -1;
  REQUIRE(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 1);
}

TEST_CASE("one host task more than CUDA's limit is refused by code, and room comes back") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  const StreamRef stream = bench.stream();
  int runs = 0;
  {
    StreamGate gate(stream);
    for (int i = 1; i < 1024; ++i) {
      must(device.launch_host(stream, [count = &runs] { ++*count; }));
    }
    const auto refused = device.launch_host(stream, [count = &runs] { ++*count; });
    require_refused(refused, ErrorCode::kResourceExhausted, "DEVICE_HOST_TASKS_EXHAUSTED");
    CHECK(refused.error().message.empty());
  }
  bench.finish(stream);
  CHECK(runs == 1023);
  REQUIRE(eventually([&] { return device.launch_host(stream, [] {}).has_value(); }));
}

TEST_CASE("what lives until the program ends does not call CUDA then, and says so") {
  static_cast<void>(open_or_skip(kOpenFirst));
  CHECK(run_in_new_process("[exit-child]") == 0);
}

TEST_CASE("in a process of its own, a device is used while the process exits", "[.][exit-child]") {
  auto device = open_or_skip(kOpenFirst);
  kept_until_exit.emplace();
  kept_until_exit->device = device;
  kept_until_exit->stream = must(device->create_stream({}));
  kept_until_exit->event = must(device->create_event());
  kept_until_exit->memory = must(device->allocate(MemoryKind::kCudaDevice, 64));
  const StreamRef stream = kept_until_exit->stream.ref();
  must(device->fill(stream, kept_until_exit->memory.data(), std::byte{1}, 64));
  must(device->record(kept_until_exit->event.ref(), stream));
  CHECK(completes(kept_until_exit->event.ref()));
}

TEST_CASE("a kernel fault loses the device: words once, then the code alone") {
  static_cast<void>(open_or_skip(kOpenFirst));
  CHECK(run_in_new_process("[device-lost-child]") == 0);
}

TEST_CASE("in a process of its own, a kernel fault loses the device", "[.][device-lost-child]") {
  Workbench bench(open_or_skip(kOpenFirst));
  Device& device = bench.device();
  must(device.make_current());
  const StreamRef stream = bench.stream();
  const EventRef event = bench.event();
  const auto memory = bench.pinned(16);
  launch_fault(stream.get());
  const auto first = device.synchronize(stream);
  require_refused(first, ErrorCode::kFailure, "DEVICE_LOST");
  CAPTURE(first.error().message);
  CHECK(first.error().message.find("cuda:0") != std::string::npos);
  CHECK(first.error().message.find("cudaStreamSynchronize") != std::string::npos);
  CHECK(first.error().message.find("cudaErrorIllegalAddress") != std::string::npos);

  const auto later = device.fill(stream, memory.data(), std::byte{1}, 16);
  require_refused(later, ErrorCode::kFailure, "DEVICE_LOST");
  CHECK(later.error().message.empty());
  require_refused(device.record(event, stream), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(device.is_complete(event), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(device.check_launch(), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(device.create_stream({}), ErrorCode::kFailure, "DEVICE_LOST");
  require_refused(device.allocate(MemoryKind::kCudaDevice, 16), ErrorCode::kFailure, "DEVICE_LOST");
}

}  // namespace weftline::testing

#endif
