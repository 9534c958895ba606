// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "weftline/cuda/stream_ref.hpp"

namespace weftline {

struct StreamOptions {
  /// As in CUDA: lower is more urgent; clamped to the device's range. An emulated device keeps it
  /// and pays no heed to it.
  int priority{0};
};

/// The priorities that the streams of a device may have.
struct StreamPriorities {
  int least{0};
  int greatest{0};  ///< Numerically the lowest.
};

/// Owns one non-blocking stream and keeps its device open. Move-only; empty after a move.
/// Destruction waits for nothing: work already queued still runs, and what it uses must live until
/// then. (Where it drops the last owner of an emulated device: see `open_device()`.)
class Stream {
 public:
  Stream() noexcept = default;
  Stream(Stream&& other) noexcept
      : device_(std::move(other.device_)),
        handle_(std::exchange(other.handle_, nullptr)),
        priority_(other.priority_) {}
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  [[nodiscard]] StreamRef ref() const noexcept {
    return handle_ ? StreamRef(*device_, handle_) : StreamRef{};
  }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Within the device's range.
  [[nodiscard]] int priority() const noexcept { return priority_; }

 private:
  friend class Device;
  friend class GreenContext;
  Stream(std::shared_ptr<Device> device, CUstream_st* handle, int priority) noexcept
      : device_(std::move(device)), handle_(handle), priority_(priority) {}

  std::shared_ptr<Device> device_{};
  CUstream_st* handle_{nullptr};
  int priority_{0};
};

}  // namespace weftline
