// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct CUstream_st;  // what cudaStream_t points to

namespace weftline {

class Device;

/// A borrowed stream: two words, copied freely, owning nothing. A null one (default) means "no
/// stream": the host. From `ctx.cuda_stream()` it is valid only inside `compute()`.
class StreamRef {
 public:
  constexpr StreamRef() noexcept = default;
  constexpr StreamRef(Device& device, CUstream_st* handle) noexcept
      : device_(&device), handle_(handle) {}
  StreamRef(int) = delete;
  StreamRef(decltype(nullptr)) = delete;

  [[nodiscard]] constexpr explicit operator bool() const noexcept { return device_ != nullptr; }
  [[nodiscard]] constexpr Device* device() const noexcept { return device_; }
  /// The cudaStream_t for `kernel<<<…, stream.get()>>>` and CUDA calls. On an emulated device it
  /// is an opaque handle that CUDA must not see: write portable work with `launch()`.
  [[nodiscard]] constexpr CUstream_st* get() const noexcept { return handle_; }

  friend constexpr bool operator==(StreamRef, StreamRef) noexcept = default;

 private:
  Device* device_{nullptr};
  CUstream_st* handle_{nullptr};
};

}  // namespace weftline
