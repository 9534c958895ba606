// SPDX-License-Identifier: Apache-2.0
#include "cuda_backend.hpp"

namespace weftline::cuda_streams {

std::vector<DeviceDescription> describe_cuda_devices() { return {}; }

expected<std::shared_ptr<Device>, Error> open_cuda_device(DeviceId id) {
  return fail(ErrorCode::kNotSupported, "DEVICE_CUDA_NOT_BUILT",
              id.to_string() +
                  " is not available: this build of Weftline has no CUDA backend. Choose an "
                  "emulated device, or install the CUDA Toolkit and build with WEFTLINE_CUDA=ON.");
}

}  // namespace weftline::cuda_streams
