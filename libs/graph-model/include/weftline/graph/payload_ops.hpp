// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "weftline/core/payload.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// How a queue handles values of one payload type without knowing it. None of the functions throws
/// or allocates.
struct PayloadOps {
  std::size_t size{0};
  std::size_t alignment{1};
  bool is_tensor{false};
  /// Copies for one more recipient: bytes of a scalar or POD, one more handle of a tensor.
  void (*copy_construct)(void* destination, const void* source) noexcept {nullptr};
  void (*move_construct)(void* destination, void* source) noexcept {nullptr};
  void (*move_assign)(void* destination, void* source) noexcept {nullptr};
  void (*destroy)(void* value) noexcept {nullptr};
};

template <PublishedPayload T>
[[nodiscard]] const PayloadOps& payload_ops() noexcept {
  static_assert(std::is_nothrow_copy_constructible_v<T> && std::is_nothrow_move_constructible_v<T>);
  static constexpr PayloadOps kOps{
      sizeof(T),
      alignof(T),
      std::is_same_v<T, Tensor>,
      [](void* to, const void* from) noexcept { ::new (to) T(*static_cast<const T*>(from)); },
      [](void* to, void* from) noexcept { ::new (to) T(std::move(*static_cast<T*>(from))); },
      [](void* to, void* from) noexcept {
        *static_cast<T*>(to) = std::move(*static_cast<T*>(from));
      },
      [](void* value) noexcept { static_cast<T*>(value)->~T(); },
  };
  return kOps;
}

}  // namespace weftline
