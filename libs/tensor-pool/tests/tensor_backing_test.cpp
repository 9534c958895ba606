// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_backing.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

/// Sixteen bytes that belong to no pool.
class OwnBytes final : public TensorBacking {
 public:
  explicit OwnBytes(const std::shared_ptr<Device>& device = {}) {
    const MemoryKind kind = device ? MemoryKind::kPinnedHost : MemoryKind::kHost;
    set_memory(kind, device.get(), bytes_.data(), waits_);
    must(readiness().build(device));
    must(releases().build(device, 1));
  }
  Tensor live() {
    begin_life(must(contiguous_layout(kSixteen, kByte)));
    return Tensor::adopt(*this);
  }
  using TensorBacking::readiness;
  int lives_over{0};

 private:
  void last_reference_dropped() noexcept override {
    ++lives_over;
    static_cast<void>(releases().record());
  }
  std::array<std::byte, 16> bytes_{};
  HostWaitCounters waits_{};
};

TEST_CASE("a tensor of another library's bytes ends its life once, at the last handle") {
  OwnBytes bytes;
  for (int life = 0; life < 2; ++life) {
    Tensor tensor = bytes.live();
    Tensor copied = tensor;
    CHECK(tensor.data() == bytes.data());
    CHECK(tensor.memory_kind() == MemoryKind::kHost);
    CHECK(refusal(tensor.mutable_data()).code == ErrorCode::kPermissionDenied);
    tensor = {};
    CHECK(bytes.lives_over == life);
    copied = {};
    CHECK(bytes.lives_over == life + 1);
  }
}

TEST_CASE("a tensor of another library's bytes is ordered and released like one of a pool") {
  const auto device = ScriptedDevice::make();
  const Stream writer = must(device->create_stream({}));
  const Stream reader = must(device->create_stream({}));
  OwnBytes bytes(device);
  for (int life = 0; life < 2; ++life) {
    Tensor tensor = bytes.live();
    must(bytes.readiness().record(writer.ref()));
    static_cast<void>(device->take_calls());
    must(tensor.prepare_for_consumer(reader.ref()));
    CHECK(device->count(Op::kWait, reader.ref()) == 1);
    CHECK(refusal(tensor.set_deallocation_stream(writer.ref())).token ==
          "TENSOR_RELEASE_STREAMS_EXHAUSTED");
    tensor = {};
    CHECK(device->count(Op::kRecord, reader.ref()) == 1);
  }
}

TEST_CASE("a tensor without a readiness contract is refused for all that reads it") {
  const auto device = ScriptedDevice::make();
  const Stream reader = must(device->create_stream({}));
  OwnBytes bytes(device);
  const Tensor tensor = bytes.live();
  bytes.readiness().set_unknown();
  std::array<std::byte, 16> copy{};
  const Refusal unknown{ErrorCode::kNotSupported, "TENSOR_READINESS_UNKNOWN"};
  CHECK(refusal(tensor.enqueue_ready_wait(reader.ref())) == unknown);
  CHECK(refusal(tensor.prepare_for_consumer(reader.ref())) == unknown);
  CHECK(refusal(tensor.prepare_for_consumer({})) == unknown);
  CHECK(refusal(tensor.synchronize_for_host()) == unknown);
  CHECK(refusal(tensor.copy_to_host(copy.data(), 16, reader.ref())) == unknown);
  CHECK(refusal(tensor.copy_to_host(copy.data(), 16, {})) == unknown);
  CHECK(refusal(tensor.copy_to_host_async(copy.data(), 16, reader.ref())) == unknown);
  CHECK(device->take_calls().empty());
}

}  // namespace
}  // namespace weftline
