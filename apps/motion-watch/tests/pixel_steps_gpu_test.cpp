// SPDX-License-Identifier: Apache-2.0
#include "pixel_steps.hpp"

#include <catch2/catch_test_macros.hpp>

#if !defined(WEFTLINE_WITH_CUDA)

TEST_CASE("every CUDA step equals its host form bit by bit") { SKIP("this build has no CUDA"); }

#else

#include <cuda_runtime.h>

#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "host_steps.hpp"
#include "random_scene.hpp"

namespace motion_watch {
namespace {

struct FreeDevice {
  void operator()(void* p) const { cudaFree(p); }
};
struct DestroyStream {
  void operator()(CUstream_st* s) const { cudaStreamDestroy(s); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

void require_ok(int error) {
  INFO(pixel_error_name(error));
  REQUIRE(error == 0);
}

// Device memory with a guard behind it, so that a write past the end is seen.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    void* p = nullptr;
    require_ok(cudaMalloc(&p, bytes() + kGuard));
    memory_.reset(p);
    require_ok(cudaMemset(p, kGuardValue, bytes() + kGuard));
  }

  T* data() const { return static_cast<T*>(memory_.get()); }

  void fill_from(const T* host, cudaStream_t stream) {
    require_ok(cudaMemcpyAsync(data(), host, bytes(), cudaMemcpyHostToDevice, stream));
  }

  std::vector<T> to_host() const {
    std::vector<T> host(size_);
    require_ok(cudaMemcpy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

  bool guard_is_intact() const {
    std::vector<unsigned char> guard(kGuard);
    const auto* end = static_cast<const unsigned char*>(memory_.get()) + bytes();
    require_ok(cudaMemcpy(guard.data(), end, kGuard, cudaMemcpyDeviceToHost));
    for (const unsigned char value : guard) {
      if (value != kGuardValue) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr int kGuardValue = 0xa5;

  std::size_t bytes() const { return size_ * sizeof(T); }

  std::size_t size_;
  std::unique_ptr<void, FreeDevice> memory_;
};

// The CUDA form of every step, queued on one stream.
struct CudaSteps {
  explicit CudaSteps(FrameGeometry geometry)
      : frame(geometry),
        rgb(frame.rgb_bytes()),
        gray(frame.half().pixels()),
        raw_mask(frame.half().pixels()),
        mask(frame.half().pixels()),
        preview(frame.half().rgb_bytes()),
        background(frame.half().pixels()),
        counts(cell_grid(frame).pixels()),
        work(cell_grid(frame).pixels()),
        boxes(1) {
    cudaStream_t created = nullptr;
    require_ok(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
    stream.reset(created);
    // The arrays were filled on the default stream, which this one does not wait for.
    require_ok(cudaDeviceSynchronize());
  }

  void run(const std::uint8_t* picture) {
    cudaStream_t s = stream.get();
    rgb.fill_from(picture, s);
    require_ok(gray_half_cuda(s, rgb.data(), frame, gray.data()));
    require_ok(
        motion_update_cuda(s, gray.data(), frame, first, background.data(), raw_mask.data()));
    first = false;
    require_ok(clean_mask_cuda(s, raw_mask.data(), frame, mask.data()));
    require_ok(cell_counts_cuda(s, mask.data(), frame, counts.data()));
    require_ok(label_boxes_cuda(s, counts.data(), frame, work.data(), boxes.data()));
    require_ok(overlay_cuda(s, rgb.data(), frame, mask.data(), boxes.data(), preview.data()));
    require_ok(cudaStreamSynchronize(s));
  }

  FrameGeometry frame;
  bool first = true;
  Stream stream;
  DeviceArray<std::uint8_t> rgb, gray, raw_mask, mask, preview;
  DeviceArray<std::uint16_t> background;
  DeviceArray<std::uint8_t> counts;
  DeviceArray<CellRegion> work;
  DeviceArray<MotionBoxes> boxes;
};

void skip_without_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) SKIP("no CUDA device: " << cudaGetErrorName(error));
  if (devices == 0) SKIP("no CUDA device");
}

}  // namespace

TEST_CASE("every CUDA step equals its host form bit by bit") {
  skip_without_device();
  for (const FrameGeometry size : awkward_sizes()) {
    CAPTURE(size.width, size.height);
    RandomScene scene(size, size.width * 1000 + size.height);
    HostSteps host(size);
    CudaSteps device(size);
    for (int frame = 0; frame < 6; ++frame) {
      CAPTURE(frame);
      const std::uint8_t* rgb = scene.next().data();
      host.run(rgb);
      device.run(rgb);
      CHECK(host.gray == device.gray.to_host());
      CHECK(host.background == device.background.to_host());
      CHECK(host.raw_mask == device.raw_mask.to_host());
      CHECK(host.mask == device.mask.to_host());
      CHECK(host.counts == device.counts.to_host());
      CHECK(host.boxes == device.boxes.to_host()[0]);
      CHECK(host.preview == device.preview.to_host());
    }
    CHECK(device.gray.guard_is_intact());
    CHECK(device.raw_mask.guard_is_intact());
    CHECK(device.mask.guard_is_intact());
    CHECK(device.preview.guard_is_intact());
    CHECK(device.background.guard_is_intact());
    CHECK(device.counts.guard_is_intact());
    CHECK(device.work.guard_is_intact());
    CHECK(device.boxes.guard_is_intact());
  }
}

TEST_CASE("regions of a large random grid are the same on CUDA, run after run") {
  skip_without_device();
  const FrameGeometry size{3840, 2160};
  const std::size_t cells = cell_grid(size).pixels();
  std::mt19937 random(3);
  std::vector<std::uint8_t> counts(cells);
  std::vector<CellRegion> work(cells);
  DeviceArray<std::uint8_t> device_counts(cells);
  DeviceArray<CellRegion> device_work(cells);
  DeviceArray<MotionBoxes> device_boxes(1);
  // From islands to one region with long winding arms: about 41 % is where regions join up.
  for (const unsigned percent : {5u, 20u, 35u, 41u, 45u, 60u, 95u}) {
    CAPTURE(percent);
    for (std::uint8_t& count : counts) count = random() % 100 < percent ? 64 : 0;
    MotionBoxes boxes;
    label_boxes_host(counts.data(), size, work.data(), &boxes);
    device_counts.fill_from(counts.data(), nullptr);
    for (int run = 0; run < 3; ++run) {
      require_ok(label_boxes_cuda(nullptr, device_counts.data(), size, device_work.data(),
                                  device_boxes.data()));
      require_ok(cudaDeviceSynchronize());
      CHECK(boxes == device_boxes.to_host()[0]);
    }
  }
}

TEST_CASE("a CUDA step that can't be launched returns an error with a name") {
  skip_without_device();
  // A grid is at most 65535 blocks high; this picture would need more.
  const FrameGeometry too_high{2, 2 * 8 * 65536};
  const int error = clean_mask_cuda(nullptr, nullptr, too_high, nullptr);
  CHECK(error != 0);
  CHECK(std::string_view(pixel_error_name(error)).starts_with("cudaError"));
}

}  // namespace motion_watch

#endif
