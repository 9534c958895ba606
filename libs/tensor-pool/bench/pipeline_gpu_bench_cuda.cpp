// SPDX-License-Identifier: Apache-2.0
// A pipeline of two kernels per frame on a GPU, through a tensor pool, against the same pipeline
// written by hand with raw CUDA calls: slots, readiness, release and retirement included. Takes
// `--weftline-json FILE [--quick]`; see ci/bench. Without a CUDA device it has no rows.
#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline_kernels.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"
#include "weftline/testing/bench_main.hpp"

namespace weftline::bench {
namespace {

using testing::BenchRow;
using testing::median;

constexpr std::uint32_t kSlots = 64;
constexpr std::array<std::int64_t, 1> kShape{256};
constexpr TensorLoanRequest kRequest{.shape = kShape, .dtype = {kDLUInt, 8, 1}};

template <class T>
T must(expected<T, Error> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct Streams {
  std::shared_ptr<Device> device;
  Stream first;
  Stream second;
};

/// By hand: an event that says that a slot is written, one that says that it is read.
class RawPipeline {
 public:
  explicit RawPipeline(const Streams& on)
      : on_(on), memory_(must(on.device->allocate(MemoryKind::kCudaDevice, kSlots * 256))) {
    for (std::uint32_t index = 0; index < kSlots; ++index) {
      slots_[index].data = memory_.data() + index * 256;
      must(cudaEventCreateWithFlags(&slots_[index].ready, cudaEventDisableTiming));
      must(cudaEventCreateWithFlags(&slots_[index].released, cudaEventDisableTiming));
      free_.push_back(&slots_[index]);
    }
  }
  ~RawPipeline() {
    for (const Slot& slot : slots_) {
      cudaEventDestroy(slot.ready);
      cudaEventDestroy(slot.released);
    }
  }
  void frame(std::uint32_t kernel_ns) {
    Slot& slot = take();
    launch_step(on_.first.ref().get(), slot.data, kernel_ns);
    must(cudaEventRecord(slot.ready, on_.first.ref().get()));
    must(cudaStreamWaitEvent(on_.second.ref().get(), slot.ready));
    launch_step(on_.second.ref().get(), slot.data, kernel_ns);
    must(cudaEventRecord(slot.released, on_.second.ref().get()));
    retiring_.push_back(&slot);
  }

 private:
  struct Slot {
    void* data{nullptr};
    cudaEvent_t ready{};
    cudaEvent_t released{};
  };
  Slot& take() {
    while (free_.empty()) {
      while (!retiring_.empty() && cudaEventQuery(retiring_.front()->released) == cudaSuccess) {
        free_.push_back(retiring_.front());
        retiring_.pop_front();
      }
    }
    Slot& slot = *free_.back();
    free_.pop_back();
    return slot;
  }
  const Streams& on_;
  const MemoryBlock memory_;
  std::array<Slot, kSlots> slots_{};
  std::vector<Slot*> free_{};
  std::deque<Slot*> retiring_{};
};

/// The same, but the reader's stream counts its frames in one word of host memory, which retires
/// all slots up to that frame.
class RawWordPipeline {
 public:
  explicit RawWordPipeline(const Streams& on)
      : on_(on),
        words_(*must(on.device->fence_words())),
        memory_(must(on.device->allocate(MemoryKind::kCudaDevice, kSlots * 256))),
        page_(must(on.device->allocate(MemoryKind::kPinnedHost, 64))) {
    auto* const place = reinterpret_cast<std::uint64_t*>(page_.data());
    *place = 0;
    passed_ = must(words_.word(place));
    for (std::uint32_t index = 0; index < kSlots; ++index) {
      slots_[index].data = memory_.data() + index * 256;
      must(cudaEventCreateWithFlags(&slots_[index].ready, cudaEventDisableTiming));
      free_.push_back(&slots_[index]);
    }
  }
  ~RawWordPipeline() {
    for (const Slot& slot : slots_) cudaEventDestroy(slot.ready);
  }
  void frame(std::uint32_t kernel_ns) {
    Slot& slot = take();
    launch_step(on_.first.ref().get(), slot.data, kernel_ns);
    must(cudaEventRecord(slot.ready, on_.first.ref().get()));
    must(cudaStreamWaitEvent(on_.second.ref().get(), slot.ready));
    launch_step(on_.second.ref().get(), slot.data, kernel_ns);
    slot.due = ++frames_;
    must(words_.write(on_.second.ref(), passed_, slot.due));
    retiring_.push_back(&slot);
  }

 private:
  struct Slot {
    void* data{nullptr};
    cudaEvent_t ready{};
    std::uint64_t due{0};
  };
  Slot& take() {
    while (free_.empty()) {
      const std::uint64_t passed = passed_.load();
      while (!retiring_.empty() && retiring_.front()->due <= passed) {
        free_.push_back(retiring_.front());
        retiring_.pop_front();
      }
    }
    Slot& slot = *free_.back();
    free_.pop_back();
    return slot;
  }
  const Streams& on_;
  FenceWords& words_;
  const MemoryBlock memory_;
  const MemoryBlock page_;
  FenceWord passed_{};
  std::uint64_t frames_{0};
  std::array<Slot, kSlots> slots_{};
  std::vector<Slot*> free_{};
  std::deque<Slot*> retiring_{};
};

/// Through a pool. Fused: the reader is proven to be on the writer's stream.
class PoolPipeline {
 public:
  PoolPipeline(const Streams& on, bool fused)
      : on_(on), reader_(fused ? on.first.ref() : on.second.ref()), pool_(build(on, fused)) {}
  void frame(std::uint32_t kernel_ns) {
    while (!pool_.has_free_slot()) {
    }
    TensorOutputLoan loan = must(pool_.allocate(kRequest, on_.first.ref()));
    {
      TensorWriteGuard guard = must(loan.write(on_.first.ref()));
      launch_step(on_.first.ref().get(), guard.data(), kernel_ns);
      must(std::move(guard).commit());
    }
    const Tensor tensor = must(publish(std::move(loan)));
    must(tensor.prepare_for_consumer(reader_));
    launch_step(reader_.get(), const_cast<void*>(tensor.data()), kernel_ns);
  }

 private:
  static TensorPool build(const Streams& on, bool fused) {
    TensorPoolOptions options{.name = "bench",
                              .memory_kind = MemoryKind::kCudaDevice,
                              .device = on.device,
                              .slot_bytes = 256,
                              .slot_count = kSlots};
    if (fused) options.fused_stream = on.first.ref();
    return must(TensorPool::build(options));
  }
  const Streams& on_;
  const StreamRef reader_;
  TensorPool pool_;
};

/// By hand: two kernels on one stream need nothing else.
class RawChain {
 public:
  explicit RawChain(const Streams& on)
      : on_(on), memory_(must(on.device->allocate(MemoryKind::kCudaDevice, kSlots * 256))) {}
  void frame(std::uint32_t kernel_ns) {
    void* const data = memory_.data() + next_++ % kSlots * 256;
    launch_step(on_.first.ref().get(), data, kernel_ns);
    launch_step(on_.first.ref().get(), data, kernel_ns);
  }

 private:
  const Streams& on_;
  const MemoryBlock memory_;
  std::uint64_t next_{0};
};

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void drain(const Streams& on) {
  must(on.device->synchronize(on.first.ref()));
  must(on.device->synchronize(on.second.ref()));
}

/// From the first launch to the end of the last kernel, per frame.
template <class Pipeline>
double frame_time(const Streams& on, Pipeline& pipeline, int frames) {
  const auto start = Clock::now();
  for (int frame = 0; frame < frames; ++frame) pipeline.frame(50'000);
  drain(on);
  return microseconds(Clock::now() - start) / frames;
}

/// What the host thread spends per frame of empty kernels. In batches that no pool has to wait in:
/// what was retired is collected in the next batch.
template <class Pipeline>
double host_time(const Streams& on, Pipeline& pipeline, int batches) {
  Clock::duration spent{};
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = Clock::now();
    for (std::uint32_t frame = 0; frame < kSlots; ++frame) pipeline.frame(0);
    spent += Clock::now() - start;
    drain(on);
  }
  return microseconds(spent) / batches / kSlots;
}

struct Series {
  std::vector<double> host{};
  std::vector<double> frame{};
};

std::vector<BenchRow> measure(bool quick) {
  auto opened = open_device({DeviceKind::kCuda, 0});
  if (!opened) {
    std::fprintf(stderr, "no rows: %s\n", opened.error().to_string().c_str());
    return {};
  }
  Streams on{*opened, must((*opened)->create_stream({})), must((*opened)->create_stream({}))};
  must(on.device->make_current());
  const void* const kernel = step_kernel();
  must(on.device->preload({&kernel, 1}));

  RawPipeline raw(on);
  RawWordPipeline words(on);
  PoolPipeline pool(on, false);
  RawChain raw_chain(on);
  PoolPipeline chain(on, true);
  const int repetitions = quick ? 5 : 15;
  const int batches = quick ? 50 : 200;
  const int frames = quick ? 500 : 2000;
  std::array<Series, 5> all;
  // In turn, so that a drift of the machine's speed meets all.
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    const auto run = [&](Series& series, auto& pipeline) {
      const double host = host_time(on, pipeline, batches);
      const double frame = frame_time(on, pipeline, frames);
      if (repetition == 0) return;  // to warm up
      series.host.push_back(host);
      series.frame.push_back(frame);
    };
    run(all[0], raw);
    run(all[1], pool);
    run(all[2], words);
    run(all[3], raw_chain);
    run(all[4], chain);
  }
  const std::string by = on.device->description().name + "; medians of " +
                         std::to_string(repetitions) + " in turn; floor: ";
  const auto row = [&](std::string name, const std::vector<double>& values,
                       const std::vector<double>& floors, std::optional<std::string> target,
                       const std::string& floor) {
    return BenchRow{.name = "tensor-pool " + std::move(name),
                    .unit = "us",
                    .value = median(values),
                    .floor = median(floors),
                    .target = std::move(target),
                    .note = by + floor};
  };
  const std::string by_hand = "the same by hand, with raw CUDA calls";
  const std::string events = "by hand with an event per slot";
  return {
      row("fenced pipeline, 50 us kernels, frame time", all[1].frame, all[0].frame, "ratio <= 1.10",
          by_hand),
      row("fenced pipeline, empty kernels, host time", all[1].host, all[0].host,
          "value - floor <= 1", by_hand),
      row("proven chain, 50 us kernels, frame time", all[4].frame, all[3].frame, "ratio <= 1.10",
          by_hand),
      row("proven chain, empty kernels, host time", all[4].host, all[3].host, std::nullopt,
          by_hand),
      row("release by one word per stream, 50 us kernels, frame time", all[2].frame, all[0].frame,
          std::nullopt, events),
      row("release by one word per stream, empty kernels, host time", all[2].host, all[0].host,
          std::nullopt, events),
  };
}

}  // namespace
}  // namespace weftline::bench

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, weftline::bench::measure);
}
