// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "weftline/core/error.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/dlpack_versioned.hpp"
#include "weftline/tensor/memory_buffer.hpp"
#include "weftline/tensor/retirement_worker.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// Where a foreign tensor's bytes are, and who gives them back. Empty for plain host memory.
struct DlpackImportOptions {
  /// The device that the bytes belong to or are pinned for: never guessed.
  std::shared_ptr<Device> device{};
  /// Runs the deleter of a tensor with a device, when the consumers' streams have passed. Read
  /// during the call only.
  const RetirementWorker* worker{nullptr};
  /// Distinct consumer streams of a tensor with a device; at most kMaximumReleaseStreams.
  std::uint32_t max_release_streams{MemoryBuffer::kMaximumFanoutReleaseStreams};
};

/// Wraps a tensor of another library, without a copy and read-only for good. Cold: allocates.
///
/// The deleter belongs to the new tensor and runs once, after the last handle is gone: in that drop
/// for plain host memory, else on the worker's thread. A refusal leaves ownership with the
/// producer: the deleter is not called. A null deleter is fine.
///
/// Plain host memory is ready at once. For any other, nobody here knows when the producer's writes
/// are done: until `Tensor::set_readiness_stream()` says so, all that reads it is refused.
///
/// DLPack's device | memory kind | options.device
/// ---|---|---
/// kDLCPU | kHost | none
/// kDLCUDAHost | kPinnedHost | any
/// kDLCUDA | kCudaDevice | the CUDA device of that number
/// kDLCUDAManaged | kCudaManaged | a CUDA device
/// kDLExtDev | kCudaDevice | the emulated device of that number
///
/// Refused, with both sides' values: a null pointer (DLPACK_NULL), a device that is not the one of
/// the options (DLPACK_DEVICE_MISMATCH) or of no kind above (DLPACK_DEVICE_UNSUPPORTED), no worker
/// for a tensor with a device (DLPACK_OPTIONS), a rank from 0 to kMaximumTensorRank exceeded
/// (DLPACK_RANK), elements that are no whole bytes (DLPACK_DTYPE), missing shape or data
/// (DLPACK_FIELD_NULL), bytes past the end of the address space (DLPACK_RANGE), strides and extents
/// with the codes of TensorLayout.
[[nodiscard]] expected<Tensor, Error> make_tensor_from_dlpack(
    DLManagedTensor* managed, const DlpackImportOptions& options = {});
/// The same for DLPack 1.x; a newer major version is kInvalidArgument (DLPACK_VERSION). From 1.2 on
/// strides may not be missing (DLPACK_FIELD_NULL).
[[nodiscard]] expected<Tensor, Error> make_tensor_from_dlpack_versioned(
    DLManagedTensorVersioned* managed, const DlpackImportOptions& options = {});

/// What the producer of an imported tensor said of it.
struct DlpackOrigin {
  /// A tensor without one counts as of the version that this library exports.
  DLPackVersion version{};
  /// DLPACK_FLAG_BITMASK_…, bits that are not known here included; 0 without a version. They are
  /// for the importer to know: the tensor is read-only whatever they say, and a copy that was the
  /// importer's own alone is shared from here on, so an export does not pass them on.
  std::uint64_t flags{0};
};
/// Nothing for a tensor that is not imported from DLPack, or empty.
[[nodiscard]] std::optional<DlpackOrigin> dlpack_origin(const Tensor& tensor) noexcept;

}  // namespace weftline
