// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bounded_producer.hpp"
#include "compile_state.hpp"
#include "derivation_params.hpp"
#include "weftline/graph/tensor_byte_span.hpp"

namespace weftline {

/// Evaluates the formula of one output and fills in its record, node by node. A node that has no
/// value is reported once, where the reason lies; what is built on it has none either.
class ByteSpanFormula {
 public:
  /// All of them outlive the formula.
  ByteSpanFormula(CompileState& state, TensorByteSpanDerivationPlanRecord& record,
                  const DerivationParams& params, const BoundedProducers& producers)
      : state_(state), record_(record), params_(params), producers_(producers) {}

  /// `refused_projections`: the ids that name two different functions, sorted.
  void evaluate(const TensorByteSpanExpression& expression,
                const std::vector<std::string>& refused_projections);

 private:
  using Value = std::optional<std::uint64_t>;
  using Record = TensorByteSpanDerivationNodePlanRecord;

  [[nodiscard]] Value resolve(const TensorByteSpanNode& node);
  [[nodiscard]] bool may_read(const TensorByteSpanNode& node);
  [[nodiscard]] Value contiguous(const TensorByteSpanNode& node);
  [[nodiscard]] Value input_maximum(const TensorByteSpanNode& node);
  [[nodiscard]] Value projected(const TensorByteSpanNode& node);
  [[nodiscard]] Value combined(const TensorByteSpanNode& node);
  [[nodiscard]] Value multiply(std::uint64_t a, std::uint64_t b);
  [[nodiscard]] Value overflow(const std::string& what);
  [[nodiscard]] Value invalid(const std::string& what, std::string fix);
  [[nodiscard]] std::string place() const { return state_.plan.output_name(record_.output); }
  void depends(TensorByteSpanDerivationUpdateDisposition update);

  CompileState& state_;
  TensorByteSpanDerivationPlanRecord& record_;
  const DerivationParams& params_;
  const BoundedProducers& producers_;
  const std::vector<std::string>* refused_projections_{nullptr};
};

}  // namespace weftline
