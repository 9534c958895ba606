// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/core/error.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/tensor/dlpack_versioned.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// The version of exports that have one: DLPack 1.0, which later 1.x consumers read as well.
inline constexpr DLPackVersion kDlpackExportVersion{1, 0};

/// Hands a tensor to another library, without a copy. The result holds one handle until its deleter
/// runs (any thread; it is the drop of a handle), so a pool's slot stays lent. The bytes are
/// read-only: the versioned form says so in its flags, the other can't, so give it only to a
/// consumer that does not write.
///
/// `consumer` is the stream that will read: its later work is ordered after the producer's writes,
/// and it is registered for release, as in `Tensor::prepare_for_consumer()`. Null blocks until the
/// bytes may be read anywhere, counted as HostWaits::null_consumer_stream. Plain host memory needs
/// none. A tensor on a fused stream gets its fences back.
///
/// Allocates. Refused: what prepare_for_consumer() refuses; strides that are no whole elements,
/// kNotSupported (DLPACK_STRIDES); managed memory of an emulated device, which DLPack has no name
/// for, kNotSupported (DLPACK_DEVICE_UNSUPPORTED).
[[nodiscard]] expected<DLManagedTensor*, Error> export_to_dlpack(const Tensor& tensor,
                                                                 StreamRef consumer);
[[nodiscard]] expected<DLManagedTensorVersioned*, Error> export_to_dlpack_versioned(
    const Tensor& tensor, StreamRef consumer);

}  // namespace weftline
