// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "weftline/graph/param_set.hpp"

namespace weftline {

struct LensParams {
  double gain{0.5};
};
WEFTLINE_PARAM_SCHEMA(LensParams, param_schema("com.example.Lens", 1),
                      field<&LensParams::gain>("gain").range(0, 1).recompile_required());

struct VideoParams {
  std::string path{};
  std::uint32_t fps{30};
  std::string key{"hunter2"};
  LensParams lens{};
};
WEFTLINE_PARAM_SCHEMA(VideoParams, param_schema("com.example.Video", 1),
                      field<&VideoParams::path>("path").required().length(1, 64),
                      field<&VideoParams::fps>("fps").range(1, 120).unit("Hz").lifecycle_mutable(
                          LifecycleStage::kAllocate),
                      field<&VideoParams::key>("key").length(0, 8).sensitive(),
                      field<&VideoParams::lens>("lens"));

/// Goes by the same name.
struct ImpostorParams {
  int number{0};
};
WEFTLINE_PARAM_SCHEMA(ImpostorParams, param_schema("com.example.Video", 1),
                      field<&ImpostorParams::number>("number"));

/// The same but for what people read.
struct RewordedParams : VideoParams {};
WEFTLINE_PARAM_SCHEMA(
    RewordedParams, param_schema("com.example.Video", 1),
    field<&VideoParams::path>("path").required().length(1, 64).description("file"),
    field<&VideoParams::fps>("fps").range(1, 120).unit("Hz").lifecycle_mutable(
        LifecycleStage::kAllocate),
    field<&VideoParams::key>("key").length(0, 8).sensitive(), field<&VideoParams::lens>("lens"));

}  // namespace weftline
