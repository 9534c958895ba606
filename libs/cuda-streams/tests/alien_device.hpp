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
class AlienDevice final : public Device {
 public:
  AlienDevice() : Device({.id = {DeviceKind::kCuda, 0}}) {}

  [[nodiscard]] int launch_checks() const { return launch_checks_; }

 private:
  expected<CUstream_st*, Error> do_create_stream(const StreamOptions&) override {
    return std::bit_cast<CUstream_st*>(kNowhere);
  }
  expected<CUevent_st*, Error> do_create_event(const EventOptions&, bool) override {
    return std::bit_cast<CUevent_st*>(kNowhere);
  }
  expected<std::byte*, Error> do_allocate(MemoryKind, std::uint64_t) override { return refuse(); }
  expected<PointerInfo, Error> do_pointer_info(const void*) const noexcept override {
    return refuse();
  }
  expected<void, Error> do_make_current() noexcept override { return refuse(); }
  expected<void, Error> do_record(CUevent_st*, CUstream_st*) noexcept override { return refuse(); }
  expected<void, Error> do_wait(CUstream_st*, CUevent_st*) noexcept override { return refuse(); }
  expected<bool, Error> do_is_complete(CUevent_st*) noexcept override { return refuse(); }
  expected<std::chrono::nanoseconds, Error> do_elapsed(CUevent_st*, CUevent_st*) noexcept override {
    return refuse();
  }
  expected<void, Error> do_copy(CUstream_st*, void*, const void*, std::uint64_t) noexcept override {
    return refuse();
  }
  expected<void, Error> do_fill(CUstream_st*, void*, std::byte, std::uint64_t) noexcept override {
    return refuse();
  }
  expected<void, Error> do_launch_host(CUstream_st*, const HostTask&) noexcept override {
    return refuse();
  }
  expected<void, Error> do_check_launch() noexcept override {
    ++launch_checks_;
    return refuse();
  }
  expected<void, Error> do_synchronize_event(CUevent_st*) noexcept override { return refuse(); }
  expected<void, Error> do_synchronize_stream(CUstream_st*) noexcept override { return refuse(); }
  void do_destroy_stream(CUstream_st*) noexcept override {}
  void do_destroy_event(CUevent_st*) noexcept override {}
  void do_free(MemoryKind, std::byte*, std::uint64_t) noexcept override {}

  static constexpr std::uintptr_t kNowhere = 0x10;
  static tl::unexpected<Error> refuse() noexcept {
    return make_unexpected(Error{ErrorCode::kNotSupported, "ALIEN_DEVICE", {}, 0});
  }
  int launch_checks_{0};
};

}  // namespace weftline::testing
