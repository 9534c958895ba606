// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/tensor/tensor_output_loan.hpp"

namespace weftline {

/// What an input found when its operator was activated.
enum class InputState : std::uint8_t {
  kSelected = 0,
  kReused,
  kSafeDefault,
  kAbsent,
  kNotSelected
};

/// Why an input found what it found.
enum class SelectionReason : std::uint8_t {
  kFound = 0,
  kNothing,     ///< No sample was there that the selector takes.
  kTooStale,    ///< LatestWithin: the newest is older than the largest age.
  kIncomplete,  ///< BracketedWindow: the input does not reach over both ends, or too many samples.
};

/// What one activation selected from an input; fixed when compute() starts.
struct SelectionStatus {
  InputState state{InputState::kNotSelected};
  SelectionReason reason{SelectionReason::kNothing};
  std::uint32_t count{0};  ///< Samples, kSelected and kReused.
};

/// Selected samples in the runtime's storage: the n-th is cell `numbers[n]`, which starts with its
/// metadata.
struct SampleCells {
  const std::byte* cells{nullptr};
  std::size_t stride_bytes{0};
  std::size_t value_offset_bytes{0};
  std::span<const std::uint32_t> numbers{};
};

/// The runtime's end of an input port. Valid from the operator's start to its stop; used on the
/// operator's lane only. Refusals are code and token only.
class InputBinding {
 public:
  virtual ~InputBinding() = default;
  [[nodiscard]] virtual SelectionStatus selection() const noexcept = 0;
  /// Gives the selected sample out, once.
  virtual expected<void, Error> receive(void* value, SampleMetadata& metadata) noexcept = 0;
  /// All of them, where an activation may select several.
  virtual expected<SampleCells, Error> receive_batch() noexcept = 0;
};

/// The runtime's end of an output port. Same lifetime and thread.
class OutputBinding {
 public:
  virtual ~OutputBinding() = default;
  /// Moves `value` into every arm, or refuses and leaves it untouched.
  virtual expected<void, Error> emit(void* value, const EmitOptions& options) noexcept = 0;
  virtual expected<void, Error> emit_loan(TensorOutputLoan& loan,
                                          const EmitOptions& options) noexcept = 0;
  virtual expected<TensorOutputLoan, Error> allocate_tensor(
      const TensorLoanRequest& request) noexcept = 0;
  virtual expected<void, Error> close() noexcept = 0;
};

}  // namespace weftline
