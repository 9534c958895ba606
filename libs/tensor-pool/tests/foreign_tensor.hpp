// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "weftline/tensor/dlpack_versioned.hpp"

namespace weftline {

/// A tensor as another library would hand it over. It counts how often its deleter is called, and
/// must outlive that call.
template <class Managed>
struct ForeignTensor {
  explicit ForeignTensor(std::vector<std::int64_t> extents, DLDataType dtype = {kDLUInt, 8, 1},
                         DLDevice device = {kDLCPU, 0})
      : shape(std::move(extents)) {
    managed.dl_tensor.data = bytes.data();
    managed.dl_tensor.device = device;
    managed.dl_tensor.ndim = static_cast<int>(shape.size());
    managed.dl_tensor.dtype = dtype;
    managed.dl_tensor.shape = shape.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      ++static_cast<ForeignTensor*>(self->manager_ctx)->deleted;
    };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {1, 0};
  }
  void set_strides(std::vector<std::int64_t> elements) {
    strides = std::move(elements);
    managed.dl_tensor.strides = strides.data();
  }

  alignas(256) std::array<std::byte, 4096> bytes{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides{};
  Managed managed{};
  int deleted{0};
};

}  // namespace weftline
