// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "motion_boxes.hpp"
#include "scene.hpp"
#include "weftline/core/tensor_contract.hpp"

namespace motion_watch {

// The tensors of the graph: bytes all of them. Pictures are H x W x 3 or H x W; boxes are one
// MotionBoxes.

inline constexpr DLDataType kByte{kDLUInt, 8, 1};

/// Where the tensors of one run live: all in host memory, or pictures of the device in device
/// memory and what crosses between host and device in pinned memory.
struct MemoryPlan {
  weftline::MemoryKind host_side{weftline::MemoryKind::kHost};
  weftline::MemoryKind device_side{weftline::MemoryKind::kHost};
};

inline weftline::TensorOutputSpec pooled(weftline::MemoryKind kind, std::uint32_t rank,
                                         std::uint64_t bytes) {
  return {.representation = {.memory_kind = kind, .dtype = kByte, .rank = rank},
          .bounds = weftline::tensor_bounds(bytes),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

inline weftline::TensorInputSpec expected_tensor(weftline::MemoryKind kind, std::uint32_t rank) {
  return {.representation = {.memory_kind = kind, .dtype = kByte, .rank = rank}};
}

inline std::array<std::int64_t, 3> rgb_shape(FrameGeometry geometry) {
  return {geometry.height, geometry.width, 3};
}
inline std::array<std::int64_t, 2> gray_shape(FrameGeometry geometry) {
  return {geometry.height, geometry.width};
}
inline constexpr std::array<std::int64_t, 1> kBoxesShape{sizeof(MotionBoxes)};

}  // namespace motion_watch
