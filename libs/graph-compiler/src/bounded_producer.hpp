// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile_state.hpp"

namespace weftline {

/// What an input's tensors are at most.
struct InputBound {
  enum class State : std::uint8_t {
    kBounded = 0,
    kUnbounded,  ///< Its one producer states no bound.
    kReported,   ///< Not known for a reason that has been, or will be, reported where it lies.
  };
  State state{State::kReported};
  std::uint64_t bytes{0};  ///< kBounded; positive.
  /// kBounded: how, where the bound is derived.
  const TensorByteSpanDerivationPlanRecord* derived{nullptr};
  std::string producer{};  ///< kUnbounded: who brings the tensors, in words.
};

/// Finds the bounded producers of one operator's inputs. Outputs that come before the operator in
/// the flow have their bounds already.
class BoundedProducers {
 public:
  BoundedProducers(const CompileState& state, VertexId vertex);
  [[nodiscard]] InputBound of(std::uint32_t input) const;

 private:
  [[nodiscard]] InputBound of_import(PortRef input) const;

  const CompileState& state_;
  VertexId vertex_;
  /// By input: the only edge into it; `kNone`, `kSeveral`.
  std::vector<std::uint32_t> edges_{};
};

}  // namespace weftline
