// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz_target.hpp"
#include "weftline/graph/param_json.hpp"
#include "weftline/graph/param_set.hpp"

namespace fuzzed {

enum class Side : int { kLeft = -1, kRight = 1 };

struct Sensor {
  float gain{0.5F};
  std::string name{"front"};
};
WEFTLINE_PARAM_SCHEMA(Sensor, weftline::param_schema("fuzz.Sensor", 1),
                      weftline::field<&Sensor::gain>("gain").range(0, 1),
                      weftline::field<&Sensor::name>("name").length(0, 16));

struct Params {
  bool flag{true};
  std::int8_t small{-3};
  std::uint64_t huge{0};
  double ratio{0.25};
  double free_number{0};
  std::chrono::nanoseconds age{std::chrono::milliseconds(2)};
  Side side{Side::kLeft};
  std::string name{"cam"};
  std::array<std::uint32_t, 2> size{640, 480};
  std::vector<std::int32_t> shape{1, 2};
  std::vector<bool> bits{};
  Sensor left{};
  Sensor right{};
};
WEFTLINE_PARAM_SCHEMA(Params, weftline::param_schema("fuzz.Params", 1),
                      weftline::field<&Params::flag>("flag"),
                      weftline::field<&Params::small>("small").range(-10, 10),
                      weftline::field<&Params::huge>("huge"),
                      weftline::field<&Params::ratio>("ratio").range(0.1, 0.9),
                      weftline::field<&Params::free_number>("free_number"),
                      weftline::field<&Params::age>("age").range(std::chrono::milliseconds(1),
                                                                 std::chrono::milliseconds(10)),
                      weftline::field<&Params::side>("side").enum_values({
                          weftline::param_enum_value("left", Side::kLeft),
                          weftline::param_enum_value("right", Side::kRight),
                      }),
                      weftline::field<&Params::name>("name").allowed_values({"cam", "mic"}),
                      weftline::field<&Params::size>("size").range(1, 4'096),
                      weftline::field<&Params::shape>("shape").length(1, 3).range(0, 100),
                      weftline::field<&Params::bits>("bits"),
                      weftline::field<&Params::left>("left"),
                      weftline::field<&Params::right>("right"));

}  // namespace fuzzed

namespace {

using weftline::fuzz::require;

void check_admitted(const fuzzed::Params& params) {
  require(params.small >= -10 && params.small <= 10, "small is out of its range");
  require(params.ratio >= 0.1 && params.ratio <= 0.9, "ratio is out of its range");
  require(std::isfinite(params.free_number), "a number is not finite");
  require(params.age >= std::chrono::milliseconds(1) && params.age <= std::chrono::milliseconds(10),
          "age is out of its range");
  require(params.side == fuzzed::Side::kLeft || params.side == fuzzed::Side::kRight,
          "side has a value without a name");
  require(params.name == "cam" || params.name == "mic", "name is not one that is allowed");
  for (const std::uint32_t edge : params.size) require(edge >= 1 && edge <= 4'096, "size");
  require(!params.shape.empty() && params.shape.size() <= 3, "shape has the wrong length");
  for (const fuzzed::Sensor& sensor : {params.left, params.right}) {
    require(sensor.gain >= 0 && sensor.gain <= 1, "a nested value is out of its range");
    require(sensor.name.size() <= 16, "a nested text is too long");
  }
}

}  // namespace

std::vector<std::string> weftline::fuzz::seeds() {
  return {"{}", params_to_json(fuzzed::Params{}).dump(),
          R"({"ratio":0.5,"free_number":1e300,"age":5000000,"side":"right","bits":[true,false]})",
          R"({"left":{"gain":1,"name":""},"shape":[0,100,7],"huge":18446744073709551615})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto params =
      weftline::parse_params<fuzzed::Params>(weftline::fuzz::text_of(data, size), {.max_depth = 8});
  if (!params) {
    require(!params.error().token.empty() && !params.error().message.empty(),
            "a refusal without a reason");
    return 0;
  }
  check_admitted(*params);
  require(weftline::ParamSet::given(*params).findings().empty(),
          "what the decoder takes, the compiler refuses");
  const std::string canonical = weftline::params_to_json(*params).dump();
  const auto again = weftline::parse_params<fuzzed::Params>(canonical);
  require(again.has_value(), "the decoder refuses what the encoder wrote");
  require(weftline::params_to_json(*again).dump() == canonical,
          "a value was changed by writing it");
  return 0;
}
