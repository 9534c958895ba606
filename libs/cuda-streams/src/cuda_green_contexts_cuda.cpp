// SPDX-License-Identifier: Apache-2.0
#include "cuda_green_contexts.hpp"

#include <utility>

#include "cuda_device.hpp"

namespace weftline::cuda_streams {
namespace {

class CudaSmPartition final : public SmPartition {
 public:
  CudaSmPartition(std::shared_ptr<Device> owner, CudaDevice& device, SmUnits::Taken units,
                  CUgreenCtx context) noexcept
      : SmPartition(std::move(owner), units.sm_count()),
        device_(device),
        units_(std::move(units)),
        context_(context) {}
  CudaSmPartition(const CudaSmPartition&) = delete;
  CudaSmPartition& operator=(const CudaSmPartition&) = delete;
  /// After the last stream: CUDA asks for that order.
  ~CudaSmPartition() override {
    device_.release([this] {
      return static_cast<cudaError_t>(device_.driver().green_context_destroy(context_));
    });
  }

  expected<CUstream_st*, Error> create_stream(const StreamOptions& options) override {
    const CurrentContext current = device_.enter();
    CUstream stream = nullptr;
    WEFTLINE_TRY(device_.check_new_stream(
        static_cast<cudaError_t>(device_.driver().green_context_stream_create(
            &stream, context_, CU_STREAM_NON_BLOCKING, options.priority)),
        "cuGreenCtxStreamCreate"));
    return stream;
  }

 private:
  CudaDevice& device_;
  const SmUnits::Taken units_;
  const CUgreenCtx context_;
};

}  // namespace

expected<CudaGreenContexts::Split*, Error> CudaGreenContexts::split() {
  MutexLock lock(mutex_);
  if (split_) {
    return &*split_;
  }
  const CudaDriver& driver = device_.driver();
  if (!driver.has_green_contexts()) {
    return nullptr;
  }
  CUdevice device = 0;
  CUdevResource all{};
  WEFTLINE_TRY(device_.check(driver.device_get(&device, static_cast<int>(device_.id().ordinal)),
                             "cuDeviceGet"));
  const CUresult status = driver.device_get_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM);
  if (status == CUDA_ERROR_NOT_SUPPORTED) {
    return nullptr;
  }
  WEFTLINE_TRY(device_.check(status, "cuDeviceGetDevResource"));
  unsigned int count = 0;
  const auto divide = [&](CUdevResource* groups) {
    return device_.check(driver.sm_resource_split_by_count(groups, &count, &all, nullptr, 0, 1),
                         "cuDevSmResourceSplitByCount");
  };
  WEFTLINE_TRY(divide(nullptr));  // how many there would be
  if (count == 0) {
    return nullptr;
  }
  std::vector<CUdevResource> groups(count);
  WEFTLINE_TRY(divide(groups.data()));
  groups.resize(count);
  split_.emplace(device, std::move(groups));
  return &*split_;
}

expected<std::shared_ptr<SmPartition>, Error> CudaGreenContexts::create(std::uint32_t sm_count) {
  const CurrentContext current = device_.enter();
  WEFTLINE_ASSIGN(Split* const split, this->split());
  if (split == nullptr) {
    return std::shared_ptr<SmPartition>{};
  }
  WEFTLINE_ASSIGN(SmUnits::Taken units, split->units.take(device_.id(), sm_count));
  std::vector<CUdevResource> groups;
  for (const std::uint32_t unit : units.numbers()) {
    groups.push_back(split->groups[unit]);
  }
  const CudaDriver& driver = device_.driver();
  CUdevResourceDesc description = nullptr;
  WEFTLINE_TRY(
      device_.check(driver.resource_generate_description(&description, groups.data(),
                                                         static_cast<unsigned int>(groups.size())),
                    "cuDevResourceGenerateDesc"));
  CUgreenCtx context = nullptr;
  WEFTLINE_TRY(device_.check(driver.green_context_create(&context, description, split->device,
                                                         CU_GREEN_CTX_DEFAULT_STREAM),
                             "cuGreenCtxCreate"));
  return std::make_shared<CudaSmPartition>(device_.shared_from_this(), device_, std::move(units),
                                           context);
}

}  // namespace weftline::cuda_streams
