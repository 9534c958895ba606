// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/launch.hpp"

#include <thread>

#include "alien_device.hpp"
#include "device_under_test.hpp"

namespace weftline::testing {
namespace {

constexpr auto kHostOnly = [](CUstream_st*) -> expected<void, Error> {
  return fail(ErrorCode::kFailure, "RAN_CUDA_FUNCTION");
};

}  // namespace

TEST_CASE("launch without a stream runs the host function at once, on this thread") {
  std::thread::id ran_on{};
  must(launch(
      StreamRef{}, {}, {}, [to = &ran_on] { *to = std::this_thread::get_id(); }, kHostOnly));
  CHECK(ran_on == std::this_thread::get_id());
}

TEST_CASE("launch on an emulated device runs the host function on the stream's own thread") {
  Workbench bench(must(open_device({DeviceKind::kEmulated, 0})));
  const StreamRef stream = bench.stream();
  std::thread::id ran_on{};
  must(launch(
      stream, {}, {}, [to = &ran_on] { *to = std::this_thread::get_id(); }, kHostOnly));
  bench.finish(stream);
  CHECK(ran_on != std::thread::id{});
  CHECK(ran_on != std::this_thread::get_id());
}

TEST_CASE("launch on CUDA passes the stream on, and the refusal of either step back") {
  const auto device = std::make_shared<AlienDevice>();
  const Stream stream = must(device->create_stream({}));
  bool ran_on_host = false;
  CUstream_st* seen = nullptr;
  const auto launch_with = [&](expected<void, Error> outcome) {
    return launch(
        stream.ref(), {}, {}, [to = &ran_on_host] { *to = true; },
        [&](CUstream_st* handle) {
          seen = handle;
          return outcome;
        });
  };
  require_refused(launch_with(fail(ErrorCode::kInvalidArgument, "BAD_GRID")),
                  ErrorCode::kInvalidArgument, "BAD_GRID");
  CHECK(seen == stream.ref().get());
  // What the refused step left behind in CUDA's last error is not the next launch's.
  CHECK(device->launch_checks() == 1);
  // The launch itself went well: it is the device's check_launch() that refuses here.
  require_refused(launch_with({}), ErrorCode::kNotSupported, "ALIEN_DEVICE");
  CHECK_FALSE(ran_on_host);
}

TEST_CASE("launch on a stream without a handle is refused: CUDA would run it on the default one") {
  const auto device = std::make_shared<AlienDevice>();
  bool ran = false;
  const auto refused = launch(
      StreamRef(*device, nullptr), {}, {}, [to = &ran] { *to = true; },
      [&](CUstream_st*) -> expected<void, Error> {
        ran = true;
        return {};
      });
  require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");
  CHECK_FALSE(ran);
}

}  // namespace weftline::testing
