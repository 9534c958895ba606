// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/event.hpp"

#include <utility>

#include "order_model.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline {

Event& Event::operator=(Event&& other) noexcept {
  Event taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(handle_, taken.handle_);
  return *this;
}

Event::~Event() {
  if (handle_ != nullptr) {
    if (auto* const model = device_->order_model()) {
      model->event_gone(ref());
    }
    device_->do_destroy_event(handle_);
  }
}

}  // namespace weftline
