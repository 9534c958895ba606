// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/readiness.hpp"

namespace weftline {
namespace {

auto unknown() { return fail(ErrorCode::kNotSupported, "TENSOR_READINESS_UNKNOWN"); }

}  // namespace

expected<void, Error> Readiness::build(const std::shared_ptr<Device>& device) {
  if (!device) return {};
  WEFTLINE_ASSIGN(event_, device->create_event());
  return {};
}

expected<void, Error> Readiness::record(StreamRef stream) noexcept {
  WEFTLINE_TRY(stream.device()->record(event_.ref(), stream));
  kind_ = Kind::kRecorded;
  passed_ = false;
  return {};
}

expected<void, Error> Readiness::enqueue_wait(StreamRef stream) const noexcept {
  switch (kind_) {
    case Kind::kHostComplete:
      return {};
    case Kind::kRecorded:
      return stream.device()->wait(stream, event_.ref());
    case Kind::kUnknown:
      break;
  }
  return unknown();
}

expected<void, Error> Readiness::wait_on_host(HostWaitCounters& waits,
                                              HostWait why) const noexcept {
  if (kind_ == Kind::kUnknown) return unknown();
  if (kind_ == Kind::kHostComplete) return {};
  Device& device = *event_.ref().device();
  WEFTLINE_ASSIGN(const bool ready, device.is_complete(event_.ref()));
  if (ready) return {};
  waits.count(why);
  return device.synchronize(event_.ref());
}

expected<bool, Error> Readiness::passed() noexcept {
  if (kind_ == Kind::kRecorded && !passed_) {
    WEFTLINE_ASSIGN(passed_, event_.ref().device()->is_complete(event_.ref()));
    return passed_;
  }
  return true;
}

void Readiness::synchronize() noexcept {
  if (kind_ == Kind::kRecorded) {
    static_cast<void>(event_.ref().device()->synchronize(event_.ref()));
  }
}

}  // namespace weftline
