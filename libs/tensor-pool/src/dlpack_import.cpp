// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_import.hpp"

#include <string>

#include "dlpack_view.hpp"
#include "owned_backing.hpp"
#include "retirement_queue.hpp"
#include "weftline/tensor/dlpack_export.hpp"
#include "weftline/tensor/dlpack_helpers.hpp"

namespace weftline {
namespace {

/// A tensor without a version is taken for one of ours.
DlpackOrigin origin_of(const DLManagedTensor&) noexcept { return {kDlpackExportVersion, 0}; }
DlpackOrigin origin_of(const DLManagedTensorVersioned& managed) noexcept {
  return {managed.version, managed.flags};
}

/// What is the same for either of DLPack's two.
class ForeignBacking : public OwnedBacking {
 public:
  [[nodiscard]] const DlpackOrigin& origin() const noexcept { return origin_; }

 protected:
  DlpackOrigin origin_{};
};

/// The bytes of a foreign tensor, until its deleter has run.
template <class Managed>
class DlpackBacking final : public ForeignBacking {
 public:
  ~DlpackBacking() override {
    if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  }
  using OwnedBacking::build;
  /// From here on the deleter is ours to run.
  void own(Managed& managed, const TensorLayout& layout) noexcept {
    begin_life(layout);
    if (device() != nullptr) readiness().set_unknown();
    origin_ = origin_of(managed);
    managed_ = &managed;
  }

 private:
  Managed* managed_{nullptr};
};

auto bad_option(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "DLPACK_OPTIONS", "DLPack import: " + what);
}

expected<void, Error> check_options(const DlpackImportOptions& options) {
  if (options.device && (options.worker == nullptr || !options.worker->queue())) {
    return bad_option("memory of " + options.device->id().to_string() +
                      " needs a retirement worker; there is none");
  }
  if (options.max_release_streams > kMaximumReleaseStreams) {
    return bad_option("max_release_streams is " + std::to_string(options.max_release_streams) +
                      "; it must be at most " + std::to_string(kMaximumReleaseStreams));
  }
  return {};
}

template <class Managed>
expected<Tensor, Error> import(Managed* managed, const DlpackImportOptions& options) {
  WEFTLINE_TRY(check_options(options));
  WEFTLINE_ASSIGN(const DlpackView view, read_dlpack(managed->dl_tensor, options.device.get()));
  auto backing = std::make_unique<DlpackBacking<Managed>>();
  WEFTLINE_TRY(backing->build(view.memory_kind, options.device, view.data,
                              options.device ? options.worker->queue() : nullptr,
                              options.device ? options.max_release_streams : 0));
  backing->own(*managed, view.layout);
  return Tensor::adopt(*backing.release());
}

auto null_pointer() {
  return fail(ErrorCode::kInvalidArgument, "DLPACK_NULL",
              "DLPack import: the managed tensor is null");
}

}  // namespace

expected<Tensor, Error> make_tensor_from_dlpack(DLManagedTensor* managed,
                                                const DlpackImportOptions& options) {
  if (managed == nullptr) return null_pointer();
  return import(managed, options);
}

expected<Tensor, Error> make_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed,
                                                          const DlpackImportOptions& options) {
  if (managed == nullptr) return null_pointer();
  if (managed->version.major > DLPACK_MAJOR_VERSION) {
    return fail(ErrorCode::kInvalidArgument, "DLPACK_VERSION",
                "DLPack import: the tensor has version " + std::to_string(managed->version.major) +
                    "." + std::to_string(managed->version.minor) +
                    ", and this library knows 1.x; ask the producer for that");
  }
  const DLTensor& tensor = managed->dl_tensor;
  if (dlpack_version_requires_explicit_strides(managed->version) && tensor.ndim > 0 &&
      tensor.strides == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "DLPACK_FIELD_NULL",
                "DLPack import: strides are null for ndim " + std::to_string(tensor.ndim) +
                    ", which version " + std::to_string(managed->version.major) + "." +
                    std::to_string(managed->version.minor) +
                    " does not allow; ask the producer to set them");
  }
  return import(managed, options);
}

std::optional<DlpackOrigin> dlpack_origin(const Tensor& tensor) noexcept {
  const auto* const foreign = dynamic_cast<const ForeignBacking*>(tensor.backing());
  return foreign != nullptr ? std::optional(foreign->origin()) : std::nullopt;
}

}  // namespace weftline
