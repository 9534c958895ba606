// SPDX-License-Identifier: Apache-2.0
#include "pixel_steps.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cuda/atomic>

#include "pixel_math.hpp"

namespace motion_watch {
namespace {

constexpr unsigned kTileWidth = 32;
constexpr unsigned kTileHeight = 8;
constexpr unsigned kRowThreads = 256;
constexpr unsigned kLabelThreads = 512;
constexpr std::uint32_t kNoLabel = 0xffffffffu;

unsigned blocks_for(std::size_t items, unsigned per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

// FrameGeometry's members are host functions, so kernels take the half size as a value of its own.
struct Picture {
  std::uint32_t width;
  std::uint32_t height;
};

Picture half_of(FrameGeometry frame) { return {frame.half().width, frame.half().height}; }

struct Pixel {
  std::uint32_t x;
  std::uint32_t y;
};

__device__ Pixel this_pixel() {
  return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y};
}

__device__ bool inside(Pixel pixel, Picture picture) {
  return pixel.x < picture.width && pixel.y < picture.height;
}

__device__ std::size_t index_in(Picture picture, Pixel pixel) {
  return std::size_t{pixel.y} * picture.width + pixel.x;
}

__device__ std::uint8_t gray_at(const std::uint8_t* rgb) { return gray_of(rgb[0], rgb[1], rgb[2]); }

__global__ void gray_half_kernel(const std::uint8_t* rgb, std::uint32_t frame_width, Picture half,
                                 std::uint8_t* gray) {
  const Pixel pixel = this_pixel();
  if (!inside(pixel, half)) return;
  const std::size_t stride = std::size_t{frame_width} * 3;
  const std::uint8_t* upper = rgb + 2 * pixel.y * stride + 6 * std::size_t{pixel.x};
  const std::uint8_t* lower = upper + stride;
  gray[index_in(half, pixel)] =
      mean_of_four(gray_at(upper), gray_at(upper + 3), gray_at(lower), gray_at(lower + 3));
}

__global__ void motion_update_kernel(const std::uint8_t* gray, std::size_t pixels, bool first,
                                     std::uint16_t* background, std::uint8_t* mask) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  if (first) {
    mask[i] = 0;
    background[i] = initial_background(gray[i]);
  } else {
    mask[i] = motion_of(gray[i], background[i]);
    background[i] = next_background(gray[i], background[i]);
  }
}

__global__ void clean_mask_kernel(const std::uint8_t* mask, Picture half, std::uint8_t* cleaned) {
  const Pixel pixel = this_pixel();
  if (!inside(pixel, half)) return;
  unsigned set = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      // A coordinate left of or above the picture wraps round and is outside as well.
      const Pixel neighbour{pixel.x + static_cast<std::uint32_t>(dx),
                            pixel.y + static_cast<std::uint32_t>(dy)};
      if (inside(neighbour, half)) set += mask[index_in(half, neighbour)] & 1u;
    }
  }
  cleaned[index_in(half, pixel)] = majority_of(set);
}

// One block per cell, one thread per pixel.
__global__ void cell_counts_kernel(const std::uint8_t* mask, Picture half, std::uint8_t* counts) {
  const Pixel pixel = this_pixel();
  const int set = __syncthreads_count(inside(pixel, half) && mask[index_in(half, pixel)] != 0);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    counts[std::size_t{blockIdx.y} * gridDim.x + blockIdx.x] = static_cast<std::uint8_t>(set);
  }
}

using SharedCell = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_block>;

__device__ std::uint32_t load(std::uint32_t& value) {
  return SharedCell{value}.load(cuda::memory_order_relaxed);
}

// The lowest label among a moving cell and its neighbours, or of a cell that this label names.
__device__ std::uint32_t lowest_label_near(CellRegion* work, Picture grid, Pixel cell) {
  std::uint32_t lowest = load(work[index_in(grid, cell)].label);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const Pixel neighbour{cell.x + static_cast<std::uint32_t>(dx),
                            cell.y + static_cast<std::uint32_t>(dy)};
      if (inside(neighbour, grid)) {
        lowest = min(lowest, load(work[index_in(grid, neighbour)].label));
      }
    }
  }
  return min(lowest, load(work[lowest].label));
}

// One block for the whole grid. Labels only ever fall, and every value is a cell of the same
// region, so the order in which threads meet does not matter: a pass that changes nothing has
// found the lowest cell of each region.
__global__ void label_boxes_kernel(const std::uint8_t* counts, FrameGeometry frame, Picture grid,
                                   CellRegion* work, MotionBoxes* boxes) {
  const std::uint32_t cells = grid.width * grid.height;
  const auto position = [&](std::uint32_t cell) {
    return Pixel{cell % grid.width, cell / grid.width};
  };

  for (std::uint32_t cell = threadIdx.x; cell < cells; cell += blockDim.x) {
    const Pixel at = position(cell);
    work[cell] = {counts[cell] >= kCellMinimum ? cell : kNoLabel, 0, at.x, at.y, at.x, at.y};
  }
  __syncthreads();

  bool changed = true;
  while (__syncthreads_or(changed)) {
    changed = false;
    for (std::uint32_t cell = threadIdx.x; cell < cells; cell += blockDim.x) {
      const std::uint32_t label = load(work[cell].label);
      if (label == kNoLabel) continue;
      const std::uint32_t lowest = lowest_label_near(work, grid, position(cell));
      if (lowest >= label) continue;
      SharedCell{work[cell].label}.fetch_min(lowest, cuda::memory_order_relaxed);
      changed = true;
    }
  }

  __shared__ std::uint32_t total;
  __shared__ unsigned long long best;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();

  for (std::uint32_t cell = threadIdx.x; cell < cells; cell += blockDim.x) {
    const std::uint32_t label = work[cell].label;
    if (label == kNoLabel) continue;
    const Pixel at = position(cell);
    CellRegion& region = work[label];
    atomicAdd(&region.area, 1u);
    atomicMin(&region.min_x, at.x);
    atomicMax(&region.max_x, at.x);
    atomicMax(&region.max_y, at.y);
    if (label == cell) atomicAdd(&total, 1u);
  }
  __syncthreads();

  // Each round takes the highest rank below the last one taken.
  std::uint32_t count = 0;
  unsigned long long last = ~0ull;
  for (; count < kMaxBoxes; ++count) {
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (std::uint32_t cell = threadIdx.x; cell < cells; cell += blockDim.x) {
      if (work[cell].area == 0) continue;
      const unsigned long long rank = rank_of(work[cell]);
      if (rank < last) atomicMax(&best, rank);
    }
    __syncthreads();
    last = best;
    __syncthreads();
    if (last == 0) break;
    if (threadIdx.x == 0) {
      boxes->boxes[count] = box_of(work[0xffffffffu - static_cast<std::uint32_t>(last)], frame);
    }
  }
  for (std::uint32_t i = count + threadIdx.x; i < kMaxBoxes; i += blockDim.x) boxes->boxes[i] = {};
  if (threadIdx.x == 0) {
    boxes->count = count;
    boxes->total = total;
  }
}

// Whether the preview pixel (x, y) lies on the outline of `box`.
__device__ bool on_outline(std::uint32_t x, std::uint32_t y, const Box& box) {
  const std::uint32_t left = box.x / 2u;
  const std::uint32_t top = box.y / 2u;
  const std::uint32_t right = left + box.w / 2u;
  const std::uint32_t bottom = top + box.h / 2u;
  if (x < left || x >= right || y < top || y >= bottom) return false;
  return x - left < kOutlineWidth || right - x <= kOutlineWidth || y - top < kOutlineWidth ||
         bottom - y <= kOutlineWidth;
}

__global__ void overlay_kernel(const std::uint8_t* rgb, std::uint32_t frame_width, Picture half,
                               const std::uint8_t* mask, const MotionBoxes* boxes,
                               std::uint8_t* preview) {
  // One copy per block: the boxes may lie in host memory, far away.
  constexpr unsigned kWords = sizeof(MotionBoxes) / sizeof(std::uint32_t);
  __shared__ std::uint32_t words[kWords];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread < kWords) words[thread] = reinterpret_cast<const std::uint32_t*>(boxes)[thread];
  __syncthreads();
  const MotionBoxes& found = *reinterpret_cast<const MotionBoxes*>(words);

  const Pixel pixel = this_pixel();
  if (!inside(pixel, half)) return;
  const std::size_t stride = std::size_t{frame_width} * 3;
  const std::uint8_t* upper = rgb + 2 * pixel.y * stride + 6 * std::size_t{pixel.x};
  const std::uint8_t* lower = upper + stride;
  const std::size_t index = index_in(half, pixel);

  bool outlined = false;
  for (std::uint32_t i = 0; i < found.count; ++i) {
    outlined = outlined || on_outline(pixel.x, pixel.y, found.boxes[i]);
  }
  const std::uint8_t outline[3] = {kOutlineColour.r, kOutlineColour.g, kOutlineColour.b};
  const std::uint8_t tint[3] = {kTintColour.r, kTintColour.g, kTintColour.b};
  for (int c = 0; c < 3; ++c) {
    const std::uint8_t mean = mean_of_four(upper[c], upper[c + 3], lower[c], lower[c + 3]);
    preview[3 * index + c] = outlined           ? outline[c]
                             : mask[index] != 0 ? tinted(mean, tint[c])
                                                : mean;
  }
}

// Unlike <<<...>>> with cudaGetLastError, this reports the launch's own error and clears none of
// the caller's.
template <typename... Parameters, typename... Arguments>
int launch(CUstream_st* stream, dim3 blocks, dim3 threads, void (*kernel)(Parameters...),
           Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename... Parameters, typename... Arguments>
int launch_per_pixel(CUstream_st* stream, Picture picture, void (*kernel)(Parameters...),
                     Arguments... arguments) {
  if (picture.width == 0 || picture.height == 0) return cudaSuccess;
  const dim3 threads{kTileWidth, kTileHeight};
  const dim3 blocks{blocks_for(picture.width, kTileWidth), blocks_for(picture.height, kTileHeight)};
  return launch(stream, blocks, threads, kernel, arguments...);
}

}  // namespace

int gray_half_cuda(CUstream_st* stream, const std::uint8_t* rgb, FrameGeometry frame,
                   std::uint8_t* gray) {
  const Picture half = half_of(frame);
  return launch_per_pixel(stream, half, gray_half_kernel, rgb, frame.width, half, gray);
}

int motion_update_cuda(CUstream_st* stream, const std::uint8_t* gray, FrameGeometry frame,
                       bool first, std::uint16_t* background, std::uint8_t* mask) {
  const std::size_t pixels = frame.half().pixels();
  if (pixels == 0) return cudaSuccess;
  return launch(stream, blocks_for(pixels, kRowThreads), kRowThreads, motion_update_kernel, gray,
                pixels, first, background, mask);
}

int clean_mask_cuda(CUstream_st* stream, const std::uint8_t* mask, FrameGeometry frame,
                    std::uint8_t* cleaned) {
  const Picture half = half_of(frame);
  return launch_per_pixel(stream, half, clean_mask_kernel, mask, half, cleaned);
}

int cell_counts_cuda(CUstream_st* stream, const std::uint8_t* mask, FrameGeometry frame,
                     std::uint8_t* counts) {
  const FrameGeometry grid = cell_grid(frame);
  if (grid.pixels() == 0) return cudaSuccess;
  return launch(stream, dim3{grid.width, grid.height}, dim3{kCellSide, kCellSide},
                cell_counts_kernel, mask, half_of(frame), counts);
}

int label_boxes_cuda(CUstream_st* stream, const std::uint8_t* counts, FrameGeometry frame,
                     CellRegion* work, MotionBoxes* boxes) {
  const FrameGeometry grid = cell_grid(frame);
  return launch(stream, 1, kLabelThreads, label_boxes_kernel, counts, frame,
                Picture{grid.width, grid.height}, work, boxes);
}

int overlay_cuda(CUstream_st* stream, const std::uint8_t* rgb, FrameGeometry frame,
                 const std::uint8_t* mask, const MotionBoxes* boxes, std::uint8_t* preview) {
  const Picture half = half_of(frame);
  return launch_per_pixel(stream, half, overlay_kernel, rgb, frame.width, half, mask, boxes,
                          preview);
}

std::span<const void* const> pixel_kernels() {
  static const std::array kernels{
      reinterpret_cast<const void*>(gray_half_kernel),
      reinterpret_cast<const void*>(motion_update_kernel),
      reinterpret_cast<const void*>(clean_mask_kernel),
      reinterpret_cast<const void*>(cell_counts_kernel),
      reinterpret_cast<const void*>(label_boxes_kernel),
      reinterpret_cast<const void*>(overlay_kernel),
  };
  return kernels;
}

const char* pixel_error_name(int error) {
  return cudaGetErrorName(static_cast<cudaError_t>(error));
}

}  // namespace motion_watch
