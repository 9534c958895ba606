// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#ifndef WEFTLINE_WITH_CUDA

TEST_CASE("conversion to and from cuda::stream_ref") { SKIP("this build has no CUDA backend"); }

#else

#include "alien_device.hpp"
#include "device_under_test.hpp"
#include "weftline/cuda/interop.hpp"

namespace weftline::testing {
namespace {

std::shared_ptr<Device> open_cuda(std::uint32_t ordinal) {
  return open_or_skip([ordinal] { return open_device({DeviceKind::kCuda, ordinal}); });
}

}  // namespace

TEST_CASE("what is no stream of CUDA's becomes no cuda::stream_ref") {
  Workbench bench(must(open_device({DeviceKind::kEmulated, 0})));
  require_refused(to_cuda(bench.stream()), ErrorCode::kNotSupported, "DEVICE_NOT_CUDA");
  require_refused(to_cuda(StreamRef{}), ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");
  require_refused(to_cuda(StreamRef(bench.device(), nullptr)), ErrorCode::kInvalidArgument,
                  "DEVICE_NULL_OBJECT");
  // A handle that nobody may look into: the device is not CUDA, so nobody does.
  const ::cuda::stream_ref unseen(bench.stream().get());
  require_refused(from_cuda(bench.device(), unseen), ErrorCode::kNotSupported, "DEVICE_NOT_CUDA");
}

TEST_CASE("a default stream of CUDA is no stream of a device") {
  const auto device = std::make_shared<AlienDevice>();  // a cuda:0 that every machine has
  for (const cudaStream_t handle : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    require_refused(from_cuda(*device, ::cuda::stream_ref(handle)), ErrorCode::kInvalidArgument,
                    "DEVICE_DEFAULT_STREAM");
  }
  require_refused(from_cuda(*device, ::cuda::stream_ref{}), ErrorCode::kInvalidArgument,
                  "DEVICE_DEFAULT_STREAM");
}

TEST_CASE("a stream of a CUDA device goes to cuda::stream_ref and comes back the same") {
  Workbench bench(open_cuda(0));
  const StreamRef stream = bench.stream();
  const ::cuda::stream_ref there = must(to_cuda(stream));
  CHECK(there.get() == stream.get());
  there.wait();
  CHECK(there.ready());
  CHECK(must(from_cuda(bench.device(), there)) == stream);
}

TEST_CASE("a stream that other code made works as a stream of its device") {
  Workbench bench(open_cuda(0));
  Device& device = bench.device();
  must(device.make_current());
  cudaStream_t made = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) == cudaSuccess);
  const StreamRef stream = must(from_cuda(device, ::cuda::stream_ref(made)));
  const auto memory = bench.pinned(64);
  must(device.fill(stream, memory.data(), std::byte{9}, 64));
  bench.finish(stream);
  CHECK(all_equal(memory, std::byte{9}));
  CHECK(cudaStreamDestroy(made) == cudaSuccess);
}

TEST_CASE("a stream of one CUDA device is refused as one of another") {
  Workbench first(open_cuda(0));
  Workbench second(open_cuda(1));
  const auto refused = from_cuda(second.device(), must(to_cuda(first.stream())));
  require_refused(refused, ErrorCode::kInvalidArgument, "DEVICE_FOREIGN_OBJECT");
  CHECK(refused.error().message.find("one of cuda:0, not of cuda:1") != std::string::npos);
}

}  // namespace weftline::testing

#endif
