// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_export.hpp"

#include <array>
#include <memory>
#include <string>

#include "dlpack_view.hpp"

namespace weftline {
namespace {

/// One export: a handle, and the arrays that DLPack points to. `Managed` is either of its two.
template <class Managed>
struct Export {
  Tensor tensor{};
  std::array<std::int64_t, kMaximumTensorRank> shape{};
  std::array<std::int64_t, kMaximumTensorRank> strides{};
  Managed managed{};
};

expected<void, Error> fill_strides(const TensorLayout& layout, std::int64_t* strides) {
  const auto element = static_cast<std::int64_t>(dtype_bytes(layout.dtype));
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    const std::int64_t bytes = layout.strides_bytes[axis];
    if (bytes % element != 0) {
      return fail(ErrorCode::kNotSupported, "DLPACK_STRIDES",
                  "DLPack export: stride " + std::to_string(bytes) + " of axis " +
                      std::to_string(axis) + " is no multiple of the " + std::to_string(element) +
                      " bytes of " + dtype_name(layout.dtype) + "; copy the tensor");
    }
    strides[axis] = bytes / element;
  }
  return {};
}

template <class Managed>
expected<std::unique_ptr<Export<Managed>>, Error> make_export(const Tensor& tensor,
                                                              StreamRef consumer) {
  if (!tensor) return fail(ErrorCode::kInvalidArgument, "TENSOR_EMPTY");
  const TensorLayout& layout = tensor.layout();
  auto made = std::make_unique<Export<Managed>>();
  WEFTLINE_ASSIGN(const DLDevice device,
                  dlpack_device(tensor.memory_kind(),
                                tensor.device() != nullptr ? tensor.device()->id() : DeviceId{}));
  WEFTLINE_TRY(fill_strides(layout, made->strides.data()));
  WEFTLINE_TRY(tensor.prepare_for_export(consumer));
  made->tensor = tensor;
  made->shape = layout.extents;
  made->managed.dl_tensor = {.data = const_cast<void*>(tensor.data()),
                             .device = device,
                             .ndim = static_cast<int>(layout.rank),
                             .dtype = layout.dtype,
                             .shape = made->shape.data(),
                             .strides = made->strides.data(),
                             .byte_offset = 0};
  made->managed.manager_ctx = made.get();
  made->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  return made;
}

}  // namespace

expected<DLManagedTensor*, Error> export_to_dlpack(const Tensor& tensor, StreamRef consumer) {
  WEFTLINE_ASSIGN(auto made, make_export<DLManagedTensor>(tensor, consumer));
  return &made.release()->managed;
}

expected<DLManagedTensorVersioned*, Error> export_to_dlpack_versioned(const Tensor& tensor,
                                                                      StreamRef consumer) {
  WEFTLINE_ASSIGN(auto made, make_export<DLManagedTensorVersioned>(tensor, consumer));
  made->managed.version = kDlpackExportVersion;
  made->managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  return &made.release()->managed;
}

}  // namespace weftline
