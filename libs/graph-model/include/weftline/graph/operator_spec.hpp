// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/payload.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/lifecycle_spec.hpp"
#include "weftline/graph/payload_ops.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/graph/readiness_source.hpp"
#include "weftline/graph/tensor_derivations.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

struct InputDeclaration {
  std::string name{};
  PayloadIdentity payload{};
  const PayloadOps* ops{nullptr};
  InputPort* port{nullptr};
  std::optional<TensorInputSpec> tensor{};
  std::optional<Rate> expected_rate{};
  std::uint32_t retained_samples{0};
};

struct OutputDeclaration {
  std::string name{};
  PayloadIdentity payload{};
  const PayloadOps* ops{nullptr};
  OutputPort* port{nullptr};
  std::optional<TensorOutputSpec> tensor{};
  OutputRateRecord rate{};
  std::uint32_t max_emits_per_compute{1};
  TensorOutputDerivations derivations{};
};

class OperatorSpec;

class InputSpecBuilder {
 public:
  InputSpecBuilder(OperatorSpec& spec, std::size_t index) noexcept : spec_(spec), index_(index) {}
  /// Tensor inputs only, else throws PORT_NOT_A_TENSOR.
  InputSpecBuilder& expects_tensor(const TensorInputSpec& tensor);
  /// A weak hint. An upstream rate wins, and a different one is a warning; this one sizes the queue
  /// only where upstream says nothing at all and the contract bounds the accumulation. Throws
  /// PORT_RATE_INVALID for no positive number.
  InputSpecBuilder& expected_rate(Rate rate);
  /// How many received samples the operator keeps after compute() has returned. The pools that they
  /// come from get as many slots more; no queue gets deeper.
  InputSpecBuilder& retains(std::uint32_t samples);

 private:
  OperatorSpec& spec_;
  std::size_t index_;
};

class OutputSpecBuilder {
 public:
  OutputSpecBuilder(OperatorSpec& spec, std::size_t index) noexcept : spec_(spec), index_(index) {}
  /// Tensor outputs only, else throws PORT_NOT_A_TENSOR.
  OutputSpecBuilder& produces_tensor(const TensorOutputSpec& tensor);
  /// A pool whose facts are, in part, derived while the plan is compiled. Throws
  /// PORT_DERIVATION_WITHOUT_POOL (storage is not kRuntimePool), PORT_DERIVATION_CONFLICT (`tensor`
  /// states what is derived), PORT_DERIVATION_INVALID (an expression holds a mistake),
  /// PORT_DERIVATION_INPUT_FOREIGN (it reads an input that this operator has not declared),
  /// PORT_DERIVATION_SHAPE (a shape parameter needs a stated dtype, and a stated rank that it can
  /// have).
  OutputSpecBuilder& produces_tensor(const TensorOutputSpec& tensor,
                                     const TensorOutputDerivations& derivations);
  OutputSpecBuilder& produces_tensor(const TensorOutputSpec& tensor,
                                     const TensorByteSpanExpression& byte_span);
  // How often samples come, on average: for sizing queues and pools, not for scheduling. One
  // statement an output (PORT_RATE_CONFLICT), of positive numbers (PORT_RATE_INVALID). An output
  // without one has no rate.

  /// Always this rate.
  OutputSpecBuilder& nominal_rate(Rate rate);
  /// This rate until the owner selects another one while the operator is not running.
  OutputSpecBuilder& lifecycle_nominal_rate(Rate initial);
  /// The highest rate that may be selected; after lifecycle_nominal_rate(). Storage is made for it.
  OutputSpecBuilder& max_nominal_rate(Rate rate);
  /// `ratio` times the rate of an input that this operator has declared (PORT_RATE_INPUT_FOREIGN).
  /// Triggers nothing, consumes nothing, emits nothing.
  OutputSpecBuilder& follows(const InputPort& input, RateRatio ratio = {});
  /// The most samples that one activation emits here; positive.
  OutputSpecBuilder& max_emits_per_compute(std::uint32_t count);

 private:
  OutputRateRecord& undeclared_rate();
  OperatorSpec& spec_;
  std::size_t index_;
};

/// Collects what `setup()` declares. `setup()` may be called many times on fresh instances and must
/// declare the same each time. Mistakes throw RuntimeError at the call: an empty or repeated name
/// (PORT_NAME_INVALID, PORT_NAME_DUPLICATE), a port declared twice (PORT_DECLARED_TWICE).
class OperatorSpec {
 public:
  template <PublishedPayload T>
  InputSpecBuilder input(Input<T>& port, std::string name) {
    return add_input(port, std::move(name), payload_identity<T>(), payload_ops<T>());
  }
  template <PublishedPayload T>
  OutputSpecBuilder output(Output<T>& port, std::string name) {
    return add_output(port, std::move(name), payload_identity<T>(), payload_ops<T>());
  }

  // What may activate the operator besides samples; a trigger names each. Names are new among the
  // operator's sources (PORT_NAME_DUPLICATE).

  NotificationSourceSpecBuilder notification_source(NotificationSourceRef& ref, std::string name);
  SingleWitnessSourceSpecBuilder readable_source(ReadableSourceRef& ref, std::string name);
  SingleWitnessSourceSpecBuilder doorbell_source(DoorbellSourceRef& ref, std::string name);
  SingleWitnessSourceSpecBuilder spin_source(SpinSourceRef& ref, std::string name);

  /// Callbacks of lifecycle stages.
  [[nodiscard]] LifecycleSpecBuilder lifecycle() noexcept {
    return LifecycleSpecBuilder(lifecycle_);
  }

  [[nodiscard]] const std::vector<LifecycleDeclaration>& lifecycle_callbacks() const noexcept {
    return lifecycle_;
  }
  [[nodiscard]] const std::vector<SourceDeclaration>& sources() const noexcept { return sources_; }
  [[nodiscard]] const std::vector<InputDeclaration>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<OutputDeclaration>& outputs() const noexcept { return outputs_; }

 private:
  friend class InputSpecBuilder;
  friend class OutputSpecBuilder;
  InputSpecBuilder add_input(InputPort& port, std::string name, PayloadIdentity payload,
                             const PayloadOps& ops);
  OutputSpecBuilder add_output(OutputPort& port, std::string name, PayloadIdentity payload,
                               const PayloadOps& ops);
  std::size_t add_source(ReadinessSourceRef& ref, SourcePlanRecord record);
  std::vector<SourceDeclaration> sources_{};
  std::vector<InputDeclaration> inputs_{};
  std::vector<OutputDeclaration> outputs_{};
  std::vector<LifecycleDeclaration> lifecycle_{};
};

}  // namespace weftline
