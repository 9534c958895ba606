// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/graph/param_set.hpp"

namespace test {

enum class Mode : std::uint8_t { kSlow = 0, kFast };

/// A field for each way that a value may change, and for each way that it may be wrong.
struct Knobs {
  std::int32_t gain{1};
  std::int32_t offset{0};
  std::uint16_t even{2};
  double ratio{1};
  Mode mode{Mode::kSlow};
  std::uint32_t key{1};
  std::uint32_t frozen{1};
  std::uint32_t counted{1};
  std::uint32_t exposure{1};
};
inline bool is_even(const std::uint16_t& value) noexcept { return value % 2 == 0; }
WEFTLINE_PARAM_SCHEMA(
    Knobs, weftline::param_schema("test.Knobs", 1),
    weftline::field<&Knobs::gain>("gain").range(0, 1'000).runtime_mutable(),
    weftline::field<&Knobs::offset>("offset").runtime_mutable(),
    weftline::field<&Knobs::even>("even").validator(is_even, "be even").runtime_mutable(),
    weftline::field<&Knobs::ratio>("ratio").runtime_mutable(),
    weftline::field<&Knobs::mode>("mode")
        .enum_values({weftline::param_enum_value("slow", Mode::kSlow),
                      weftline::param_enum_value("fast", Mode::kFast)})
        .runtime_mutable(),
    weftline::field<&Knobs::key>("key").range(0, 999).sensitive().runtime_mutable(),
    weftline::field<&Knobs::frozen>("frozen").compile_time(),
    weftline::field<&Knobs::counted>("counted").recompile_required(),
    weftline::field<&Knobs::exposure>("exposure")
        .lifecycle_mutable(weftline::LifecycleStage::kArm));

/// Another struct with a field of the same path.
struct OtherKnobs {
  std::int32_t gain{1};
};
WEFTLINE_PARAM_SCHEMA(OtherKnobs, weftline::param_schema("test.OtherKnobs", 1),
                      weftline::field<&OtherKnobs::gain>("gain").runtime_mutable());

}  // namespace test
