// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "weftline/graph/param_schema.hpp"

/// A struct with every kind of field.
namespace app {

enum class Storage : std::uint8_t { kHost, kPinned };
enum class Side : int { kLeft = -1, kRight = 1 };

struct Sensor {
  float gain{0.5F};
  std::string secret{"hunter2"};
};
WEFTLINE_PARAM_SCHEMA(Sensor, weftline::param_schema("com.example.Sensor", 3),
                      weftline::field<&Sensor::gain>("gain").range(0, 1),
                      weftline::field<&Sensor::secret>("secret").length(0, 16).sensitive());

inline bool is_even(const std::uint16_t& value) noexcept { return value % 2 == 0; }

struct All {
  bool flag{true};
  std::int8_t small{-3};
  std::uint16_t even{4};
  std::int64_t big{0};
  std::uint64_t huge{0};
  double ratio{0.25};
  std::chrono::nanoseconds age{std::chrono::milliseconds(2)};
  Storage storage{Storage::kHost};
  Side side{Side::kLeft};
  std::string name{"cam"};
  std::array<std::uint32_t, 2> size{640, 480};
  std::vector<std::int32_t> shape{1, 2};
  std::vector<bool> bits{};
  Sensor left{};
  Sensor right{.gain = 0.75F};
  int not_a_parameter{7};
};
WEFTLINE_PARAM_SCHEMA(
    All, weftline::param_schema("com.example.All", 1), weftline::field<&All::flag>("flag"),
    weftline::field<&All::small>("small").range(-10, 10).unit("dB").runtime_mutable(),
    weftline::field<&All::even>("even").validator(&is_even, "be even"),
    weftline::field<&All::big>("big"), weftline::field<&All::huge>("huge"),
    weftline::field<&All::ratio>("ratio").range(0.1, 0.9),
    weftline::field<&All::age>("age")
        .range(std::chrono::milliseconds(1), std::chrono::milliseconds(10))
        .lifecycle_mutable(weftline::LifecycleStage::kArm),
    weftline::field<&All::storage>("storage")
        .enum_values({weftline::param_enum_value("host", Storage::kHost),
                      weftline::param_enum_value("pinned", Storage::kPinned)})
        .recompile_required(),
    weftline::field<&All::side>("side").enum_values({
        weftline::param_enum_value("left", Side::kLeft),
        weftline::param_enum_value("right", Side::kRight),
    }),
    weftline::field<&All::name>("name").allowed_values({"cam", "mic"}),
    weftline::field<&All::size>("size").range(1, 4'096),
    weftline::field<&All::shape>("shape").length(1, 3).range(0, 100),
    weftline::field<&All::bits>("bits"), weftline::field<&All::left>("left"),
    weftline::field<&All::right>("right"));

struct Nothing {};
WEFTLINE_PARAM_SCHEMA(Nothing, weftline::param_schema("com.example.Nothing", 1));

struct Camera {
  std::string path{};
  std::uint32_t fps{30};
};
WEFTLINE_PARAM_SCHEMA(Camera, weftline::param_schema("com.example.Camera", 1),
                      weftline::field<&Camera::path>("path").required().length(1, 64),
                      weftline::field<&Camera::fps>("fps").range(1, 120));

}  // namespace app
