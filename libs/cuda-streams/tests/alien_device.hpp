// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/cuda/device.hpp"

namespace weftline::testing {

/// Calls itself cuda:0 and hands out handles that point to nothing real: whatever uses one, instead
/// of refusing it, crashes. For tests of refusals only.
class AlienDevice final : public Device, public std::enable_shared_from_this<AlienDevice> {
 public:
  AlienDevice() { description_.id = {DeviceKind::kCuda, 0}; }

  [[nodiscard]] int launch_checks() const { return launch_checks_; }

  [[nodiscard]] const DeviceDescription& description() const noexcept override {
    return description_;
  }
  expected<Stream, Error> create_stream(const StreamOptions&) override {
    return Stream(shared_from_this(), std::bit_cast<CUstream_st*>(kNowhere));
  }
  expected<Event, Error> create_event() override {
    return Event(shared_from_this(), std::bit_cast<CUevent_st*>(kNowhere));
  }
  expected<MemoryBlock, Error> allocate(MemoryKind, std::uint64_t) override { return refuse(); }
  expected<void, Error> make_current() noexcept override { return refuse(); }
  expected<void, Error> record(EventRef, StreamRef) noexcept override { return refuse(); }
  expected<void, Error> wait(StreamRef, EventRef) noexcept override { return refuse(); }
  expected<bool, Error> is_complete(EventRef) noexcept override { return refuse(); }
  expected<void, Error> copy(StreamRef, void*, const void*, std::uint64_t) noexcept override {
    return refuse();
  }
  expected<void, Error> fill(StreamRef, void*, std::byte, std::uint64_t) noexcept override {
    return refuse();
  }
  expected<void, Error> launch_host(StreamRef, const HostTask&) noexcept override {
    return refuse();
  }
  expected<void, Error> check_launch() noexcept override {
    ++launch_checks_;
    return refuse();
  }
  expected<void, Error> synchronize(EventRef) noexcept override { return refuse(); }
  expected<void, Error> synchronize(StreamRef) noexcept override { return refuse(); }
  void destroy_stream(CUstream_st*) noexcept override {}
  void destroy_event(CUevent_st*) noexcept override {}
  void free(MemoryKind, std::byte*, std::uint64_t) noexcept override {}

 private:
  static constexpr std::uintptr_t kNowhere = 0x10;
  static tl::unexpected<Error> refuse() noexcept {
    return make_unexpected(Error{ErrorCode::kNotSupported, "ALIEN_DEVICE", {}, 0});
  }
  DeviceDescription description_{};
  int launch_checks_{0};
};

}  // namespace weftline::testing
