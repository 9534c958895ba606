// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "pool_fixture.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/stream_order_checker.hpp"
#include "weftline/tensor/tensor_backing.hpp"
#include "weftline/testing/bounded_wait.hpp"

// Mistakes in the order of device work, made on purpose on any device: each has to be reported by
// the stream-order checker, whatever the schedule, and the same program without it must not be.

namespace weftline {

/// A device that a checker of the test's own watches, and a producer's and a consumer's stream.
struct OrderBench {
  std::shared_ptr<StreamOrderChecker> checker;
  std::shared_ptr<Device> device;
  Stream producer = must(device->create_stream({}));
  Stream consumer = must(device->create_stream({}));

  ~OrderBench() {
    must(device->synchronize(producer.ref()));
    must(device->synchronize(consumer.ref()));
  }

  [[nodiscard]] TensorPool pool(MemoryKind kind = MemoryKind::kCudaDevice, bool fused = false) {
    TensorPoolOptions options = device_options(device, 1, kind);
    if (fused) options.fused_stream = producer.ref();
    return must_build(options);
  }
  /// A step of work that touches the tensor's bytes, as far as the checker is told.
  static void step(StreamRef stream, MemoryUse use, const void* data, std::uint64_t bytes) {
    const MemoryAccess all{data, bytes};
    const std::span<const MemoryAccess> none{};
    const std::span<const MemoryAccess> some(&all, 1);
    const bool reads = use == MemoryUse::kRead;
    must(launch(
        stream, reads ? some : none, reads ? none : some, [] {},
        [](CUstream_st*) -> expected<void, Error> { return {}; }));
  }
  static void read(const Tensor& tensor, StreamRef stream) {
    step(stream, MemoryUse::kRead, tensor.data(), tensor.byte_size());
  }
  static Tensor write(TensorPool& pool, StreamRef stream) {
    if (!testing::eventually([&] { return pool.has_free_slot(); })) FAIL("no slot came back");
    TensorOutputLoan loan = must(pool.allocate(kSmall, stream));
    TensorWriteGuard guard = must(loan.write(stream));
    step(stream, MemoryUse::kWrite, guard.data(), guard.byte_size());
    must(std::move(guard).commit());
    return must(publish(std::move(loan)));
  }

  void require_clean() const {
    for (const StreamOrderReport& report : checker->take_reports()) FAIL(report.to_string());
  }
  /// One report, or the first of several that one mistake leads to.
  void require_report(std::string_view later, std::string_view earlier,
                      std::string_view memory = "slot 0 of tensor pool 'camera.frame'") const {
    const auto reports = checker->take_reports();
    if (reports.empty()) FAIL("the mistake went unnoticed");
    INFO(reports[0].to_string());
    CHECK(reports[0].later.operation == later);
    CHECK(reports[0].earlier.operation == earlier);
    CHECK(reports[0].memory == memory);
  }
};

/// A one-slot pool that can be told to forget its duties.
class CarelessSlot final : public TensorBacking {
 public:
  enum class Duty : std::uint8_t { kNone, kRelease, kFenceBeforeHostPhase };

  CarelessSlot(OrderBench& bench, Duty forgotten)
      : forgotten_(forgotten),
        memory_(must(bench.device->allocate(MemoryKind::kPinnedHost, kBytes))) {
    set_memory(MemoryKind::kPinnedHost, bench.device.get(), memory_.data(), waits_);
    must(readiness().build(bench.device));
    must(releases().build(bench.device, 4));
    bench.checker->name_memory(memory_.data(), kBytes, "the careless slot");
  }

  /// With the fence left out when `fused`.
  [[nodiscard]] Tensor write(StreamRef stream, bool fused = false) {
    begin_life(must(contiguous_layout(kSixteen, kByte)));
    declare_use(stream, MemoryUse::kWrite, stream ? "write phase" : "host write phase");
    if (stream) OrderBench::step(stream, MemoryUse::kWrite, data(), kBytes);
    declare_end();
    if (fused) {
      readiness().elide(stream);
    } else if (stream) {
      must(readiness().record(stream));
    }
    return Tensor::adopt(*this);
  }
  /// What comes before the slot is used again.
  void recycle() {
    if (forgotten_ != Duty::kRelease) {
      REQUIRE(testing::eventually([&] { return must(releases().poll()); }));
    }
  }
  void fence(StreamRef fused) {
    if (forgotten_ == Duty::kFenceBeforeHostPhase) return;
    must(readiness().record(fused));
    REQUIRE(testing::eventually([&] { return must(readiness().passed()); }));
  }

 private:
  static constexpr std::uint64_t kBytes = 16;
  void last_reference_dropped() noexcept override {
    declare_end();
    static_cast<void>(releases().record());
  }

  const Duty forgotten_;
  HostWaitCounters waits_{};
  const MemoryBlock memory_;
};

inline void no_bug_no_report(OrderBench& bench) {
  for (const bool fused : {false, true}) {
    TensorPool pool = bench.pool(MemoryKind::kCudaDevice, fused);
    const StreamRef reader = fused ? bench.producer.ref() : bench.consumer.ref();
    for (int frame = 0; frame < 20; ++frame) {
      const Tensor tensor = OrderBench::write(pool, bench.producer.ref());
      must(tensor.prepare_for_consumer(reader));
      OrderBench::read(tensor, reader);
    }
  }
  for (int frame = 0; frame < 5; ++frame) {
    CarelessSlot slot(bench, CarelessSlot::Duty::kNone);
    {
      const Tensor tensor = slot.write(bench.producer.ref());
      must(tensor.prepare_for_consumer(bench.consumer.ref()));
    }
    slot.recycle();
    { const Tensor tensor = slot.write(bench.producer.ref(), true); }
    slot.fence(bench.producer.ref());
    { const Tensor tensor = slot.write({}); }
  }
  bench.require_clean();
}

inline void missing_wait(OrderBench& bench) {
  TensorPool pool = bench.pool();
  const Tensor tensor = OrderBench::write(pool, bench.producer.ref());
  must(tensor.set_deallocation_stream(bench.consumer.ref()));  // retirement only: it orders no read
  OrderBench::read(tensor, bench.consumer.ref());
  bench.require_report("launch", "write phase");
}

inline void missing_release(OrderBench& bench) {
  TensorPool pool = bench.pool();
  {
    const Tensor tensor = OrderBench::write(pool, bench.producer.ref());
    must(tensor.enqueue_ready_wait(bench.consumer.ref()));  // readiness only: it retires nothing
    OrderBench::read(tensor, bench.consumer.ref());
  }
  { const Tensor next = OrderBench::write(pool, bench.producer.ref()); }
  bench.require_report("write phase", "launch");
}

inline void early_reuse(OrderBench& bench) {
  CarelessSlot slot(bench, CarelessSlot::Duty::kRelease);
  {
    const Tensor tensor = slot.write(bench.producer.ref());
    must(tensor.prepare_for_consumer(bench.consumer.ref()));
    OrderBench::read(tensor, bench.consumer.ref());
  }
  slot.recycle();
  { const Tensor next = slot.write(bench.producer.ref()); }
  bench.require_report("write phase", "received tensor", "the careless slot");
}

inline void wrong_stream(OrderBench& bench) {
  TensorPool pool = bench.pool();
  TensorOutputLoan loan = must(pool.allocate(kSmall, bench.producer.ref()));
  TensorWriteGuard guard = must(loan.write(bench.producer.ref()));
  OrderBench::step(bench.consumer.ref(), MemoryUse::kWrite, guard.data(), guard.byte_size());
  bench.require_report("launch", "write phase");
  must(std::move(guard).commit());
}

inline void release_before_last_use(OrderBench& bench) {
  TensorPool pool = bench.pool();
  const void* data = nullptr;
  {
    const Tensor tensor = OrderBench::write(pool, bench.producer.ref());
    must(tensor.prepare_for_consumer(bench.consumer.ref()));
    data = tensor.data();
  }
  OrderBench::step(bench.consumer.ref(), MemoryUse::kRead, data, 16);
  { const Tensor next = OrderBench::write(pool, bench.producer.ref()); }
  bench.require_report("write phase", "launch");
}

inline void elision_where_not_proven(OrderBench& bench) {
  TensorPool pool = bench.pool(MemoryKind::kCudaDevice, true);
  const Tensor tensor = OrderBench::write(pool, bench.producer.ref());
  must(tensor.prepare_for_consumer(bench.producer.ref()));  // as the proof says
  OrderBench::read(tensor, bench.consumer.ref());           // as it does not
  bench.require_report("launch", "write phase");
}

inline void host_write_phase_without_fence(OrderBench& bench) {
  CarelessSlot slot(bench, CarelessSlot::Duty::kFenceBeforeHostPhase);
  { const Tensor tensor = slot.write(bench.producer.ref(), true); }
  slot.fence(bench.producer.ref());
  { const Tensor next = slot.write({}); }
  bench.require_report("host write phase", "write phase", "the careless slot");
}

inline void all_planted_order_bugs(OrderBench& bench) {
  SECTION("none") { no_bug_no_report(bench); }
  SECTION("a missing wait") { missing_wait(bench); }
  SECTION("a missing release stream") { missing_release(bench); }
  SECTION("early reuse") { early_reuse(bench); }
  SECTION("the wrong stream") { wrong_stream(bench); }
  SECTION("a release before the last use") { release_before_last_use(bench); }
  SECTION("elision where it is not proven") { elision_where_not_proven(bench); }
  SECTION("a host write phase into a slot whose release was elided") {
    host_write_phase_without_fence(bench);
  }
}

}  // namespace weftline
