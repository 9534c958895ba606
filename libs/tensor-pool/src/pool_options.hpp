// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "weftline/core/error.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// "tensor pool 'operator.port': ", which every message of a pool begins with.
[[nodiscard]] std::string place_of(const TensorPoolOptions& options);

/// TENSOR_POOL_OPTIONS, with the option by name, for what makes no sense.
[[nodiscard]] expected<void, Error> check_pool_options(const TensorPoolOptions& options);

/// Distance between two slots, so that each starts on the alignment of the block; 0 on overflow.
[[nodiscard]] std::uint64_t slot_stride(const TensorPoolOptions& options) noexcept;

}  // namespace weftline
