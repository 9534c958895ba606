// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/payload.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/payload_ops.hpp"
#include "weftline/graph/port.hpp"

namespace weftline {

struct InputDeclaration {
  std::string name{};
  PayloadIdentity payload{};
  const PayloadOps* ops{nullptr};
  InputPort* port{nullptr};
  std::optional<TensorInputSpec> tensor{};
  std::optional<Rate> expected_rate{};
};

struct OutputDeclaration {
  std::string name{};
  PayloadIdentity payload{};
  const PayloadOps* ops{nullptr};
  OutputPort* port{nullptr};
  std::optional<TensorOutputSpec> tensor{};
  std::optional<Rate> nominal_rate{};
  std::uint32_t max_emits_per_compute{1};
};

class OperatorSpec;

class InputSpecBuilder {
 public:
  InputSpecBuilder(OperatorSpec& spec, std::size_t index) noexcept : spec_(spec), index_(index) {}
  /// Tensor inputs only, else throws PORT_NOT_A_TENSOR.
  InputSpecBuilder& expects_tensor(const TensorInputSpec& tensor);
  InputSpecBuilder& expected_rate(Rate rate);

 private:
  OperatorSpec& spec_;
  std::size_t index_;
};

class OutputSpecBuilder {
 public:
  OutputSpecBuilder(OperatorSpec& spec, std::size_t index) noexcept : spec_(spec), index_(index) {}
  /// Tensor outputs only, else throws PORT_NOT_A_TENSOR.
  OutputSpecBuilder& produces_tensor(const TensorOutputSpec& tensor);
  OutputSpecBuilder& nominal_rate(Rate rate);
  /// The most samples that one activation emits here; positive.
  OutputSpecBuilder& max_emits_per_compute(std::uint32_t count);

 private:
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

  [[nodiscard]] const std::vector<InputDeclaration>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<OutputDeclaration>& outputs() const noexcept { return outputs_; }

 private:
  friend class InputSpecBuilder;
  friend class OutputSpecBuilder;
  InputSpecBuilder add_input(InputPort& port, std::string name, PayloadIdentity payload,
                             const PayloadOps& ops);
  OutputSpecBuilder add_output(OutputPort& port, std::string name, PayloadIdentity payload,
                               const PayloadOps& ops);
  std::vector<InputDeclaration> inputs_{};
  std::vector<OutputDeclaration> outputs_{};
};

}  // namespace weftline
