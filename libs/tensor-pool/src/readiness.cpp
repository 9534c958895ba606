// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/readiness.hpp"

#include <thread>

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
  passed_ = false;
  set(Kind::kRecorded);
  return {};
}

void Readiness::elide(StreamRef stream) noexcept {
  elided_stream_ = stream;
  set(Kind::kElided);
}

expected<void, Error> Readiness::make_explicit() noexcept {
  for (;;) {
    Kind kind = Kind::kElided;
    if (kind_.compare_exchange_strong(kind, Kind::kBeingRecorded, std::memory_order_acquire)) {
      auto recorded = record(elided_stream_);
      if (!recorded) set(Kind::kElided);
      return recorded;
    }
    if (kind != Kind::kBeingRecorded) return {};
    std::this_thread::yield();
  }
}

expected<void, Error> Readiness::enqueue_wait(StreamRef stream) const noexcept {
  const Kind known = kind();
  if (known == Kind::kUnknown) return unknown();
  if (known == Kind::kHostComplete) return {};
  return stream.device()->wait(stream, event_.ref());
}

expected<void, Error> Readiness::wait_on_host(HostWaitCounters& waits,
                                              HostWait why) const noexcept {
  const Kind known = kind();
  if (known == Kind::kUnknown) return unknown();
  if (known == Kind::kHostComplete) return {};
  Device& device = *event_.ref().device();
  WEFTLINE_ASSIGN(const bool ready, device.is_complete(event_.ref()));
  if (ready) return {};
  waits.count(why);
  return device.synchronize(event_.ref());
}

expected<bool, Error> Readiness::passed() noexcept {
  if (kind() == Kind::kRecorded && !passed_) {
    WEFTLINE_ASSIGN(passed_, event_.ref().device()->is_complete(event_.ref()));
    return passed_;
  }
  return true;
}

void Readiness::synchronize() noexcept {
  if (kind() == Kind::kRecorded) {
    static_cast<void>(event_.ref().device()->synchronize(event_.ref()));
  }
}

}  // namespace weftline
