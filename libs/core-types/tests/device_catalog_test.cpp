// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/device_catalog.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace weftline {
namespace {

TEST_CASE("device names parse to what prints them") {
  for (const std::string name : {"emulated:0", "emulated:7", "cuda:0", "cuda:4294967295"}) {
    const auto id = DeviceId::parse(name);
    REQUIRE(id);
    CHECK(id->to_string() == name);
  }
  CHECK(DeviceId::parse("cuda:3") == DeviceId{DeviceKind::kCuda, 3});
  CHECK(DeviceId::parse("emulated:3") == DeviceId{DeviceKind::kEmulated, 3});
}

TEST_CASE("anything else is refused and the message lists the forms") {
  for (const std::string name :
       {"", "cuda", "cuda:", "cuda:-1", "cuda:+1", "cuda: 1", "cuda:1 ", "cuda:01", "cuda:0x1",
        "CUDA:0", "gpu:0", "host", "emulated:4294967296", "emulated:1.0", ":0"}) {
    const auto id = DeviceId::parse(name);
    REQUIRE_FALSE(id);
    CHECK(id.error().code == ErrorCode::kInvalidArgument);
    CHECK(id.error().message.starts_with("'" + name + "' names no device"));
    CHECK(id.error().message.find("emulated:N or cuda:N") != std::string::npos);
  }
}

TEST_CASE("a device is found by its id and an absent one is not guessed") {
  DeviceCatalog catalog;
  catalog.devices.push_back({.id = {DeviceKind::kEmulated, 0}, .name = "first"});
  catalog.devices.push_back({.id = {DeviceKind::kCuda, 1}, .name = "second"});
  REQUIRE(catalog.find({DeviceKind::kCuda, 1}) != nullptr);
  CHECK(catalog.find({DeviceKind::kCuda, 1})->name == "second");
  CHECK(catalog.find({DeviceKind::kCuda, 0}) == nullptr);
  CHECK(DeviceCatalog{}.find({}) == nullptr);
}

TEST_CASE("SMs are set apart in multiples of both of a device's portions") {
  const auto quantum = [](std::uint32_t minimum, std::uint32_t alignment) {
    return GreenContextSupport{minimum, alignment}.quantum_sms();
  };
  CHECK(quantum(8, 8) == 8);
  CHECK(quantum(4, 6) == 12);
  CHECK(quantum(1, 2) == 2);
  CHECK(quantum(0, 8) == 0);
  CHECK(quantum(8, 0) == 0);
  CHECK(quantum(0xffff'ffff, 1) == 0xffff'ffff);
  CHECK(quantum(0xffff'ffff, 0xffff'fffe) == 0);
  CHECK_FALSE(GreenContextSupport{}.supported());
  CHECK(GreenContextSupport{2, 3}.supported());
}

}  // namespace
}  // namespace weftline
