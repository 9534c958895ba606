// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/stream.hpp"

#include <utility>

#include "order_model.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline {

Stream& Stream::operator=(Stream&& other) noexcept {
  Stream taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(handle_, taken.handle_);
  std::swap(priority_, taken.priority_);
  return *this;
}

Stream::~Stream() {
  if (handle_ != nullptr) {
    if (auto* const model = device_->order_model()) {
      model->stream_gone(ref());
    }
    device_->do_destroy_stream(handle_);
  }
}

}  // namespace weftline
