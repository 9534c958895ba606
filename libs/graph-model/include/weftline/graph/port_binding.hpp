// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

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

/// The runtime's end of an input port. Valid from the operator's start to its stop; used on the
/// operator's lane only.
class InputBinding {
 public:
  virtual ~InputBinding() = default;
  [[nodiscard]] virtual InputState state() const noexcept = 0;
  /// Moves the selected sample out. kNotReady when nothing is selected or it was taken already,
  /// kClosed after end of stream. Code and token only.
  virtual expected<void, Error> receive(void* value, SampleMetadata& metadata) noexcept = 0;
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
