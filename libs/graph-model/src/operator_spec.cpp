// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/operator_spec.hpp"

#include <algorithm>

#include "derivation_checks.hpp"

namespace weftline {
namespace {

const std::string& name_of(const SourceDeclaration& source) { return source.record.name; }
template <class Port>
const std::string& name_of(const Port& port) {
  return port.name;
}

template <class Declarations>
void check_new_port(const Declarations& declared, const std::string& name, bool already_declared,
                    std::string_view direction) {
  const auto refuse = [&](std::string_view token, std::string what) {
    throw RuntimeError({ErrorCode::kInvalidArgument, token, std::move(what), 0});
  };
  const bool readable = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!readable) {
    refuse("PORT_NAME_INVALID",
           "a port's name is one or more of [A-Za-z0-9_-], not \"" + name + "\"");
  }
  if (std::ranges::any_of(declared, [&](const auto& port) { return name_of(port) == name; })) {
    refuse("PORT_NAME_DUPLICATE", "two " + std::string(direction) + "s are called \"" + name +
                                      "\"; give each its own name");
  }
  if (already_declared) {
    refuse("PORT_DECLARED_TWICE",
           "the member bound to \"" + name + "\" was declared before; one member is one port");
  }
}

}  // namespace

InputSpecBuilder OperatorSpec::add_input(InputPort& port, std::string name, PayloadIdentity payload,
                                         const PayloadOps& ops) {
  check_new_port(inputs_, name, port.declared(), "input");
  port.declare(static_cast<std::uint32_t>(inputs_.size()));
  inputs_.push_back({std::move(name), std::move(payload), &ops, &port, {}, {}, 0});
  return {*this, inputs_.size() - 1};
}

OutputSpecBuilder OperatorSpec::add_output(OutputPort& port, std::string name,
                                           PayloadIdentity payload, const PayloadOps& ops) {
  check_new_port(outputs_, name, port.declared(), "output");
  port.declare(static_cast<std::uint32_t>(outputs_.size()));
  outputs_.push_back({std::move(name), std::move(payload), &ops, &port, {}, {}, 1, {}});
  return {*this, outputs_.size() - 1};
}

std::size_t OperatorSpec::add_source(ReadinessSourceRef& ref, SourcePlanRecord record) {
  check_new_port(sources_, record.name, ref.declared(), "source");
  ref.declare(static_cast<std::uint32_t>(sources_.size()));
  sources_.push_back({std::move(record), {}, &ref});
  return sources_.size() - 1;
}

namespace {

template <class Declaration>
void require_tensor(const Declaration& port) {
  if (port.payload.kind != PayloadIdentityKind::kTensor) {
    throw RuntimeError({ErrorCode::kInvalidArgument, "PORT_NOT_A_TENSOR",
                        "port \"" + port.name + "\" carries " + port.payload.to_string() +
                            "; a tensor contract belongs on a tensor port",
                        0});
  }
}

[[noreturn]] void refuse_rate(std::string_view token, const std::string& port,
                              std::string_view why) {
  throw RuntimeError(
      {ErrorCode::kInvalidArgument, token, "port \"" + port + "\": " + std::string(why), 0});
}

void require_rate(const std::string& port, Rate rate) {
  if (rate.valid()) return;
  refuse_rate("PORT_RATE_INVALID", port, "a rate is a positive number of samples per second");
}

}  // namespace

InputSpecBuilder& InputSpecBuilder::expects_tensor(const TensorInputSpec& tensor) {
  auto& port = spec_.inputs_[index_];
  require_tensor(port);
  port.tensor = tensor;
  return *this;
}

InputSpecBuilder& InputSpecBuilder::expected_rate(Rate rate) {
  auto& port = spec_.inputs_[index_];
  require_rate(port.name, rate);
  port.expected_rate = rate;
  return *this;
}

InputSpecBuilder& InputSpecBuilder::retains(std::uint32_t samples) {
  spec_.inputs_[index_].retained_samples = samples;
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::produces_tensor(const TensorOutputSpec& tensor) {
  auto& port = spec_.outputs_[index_];
  require_tensor(port);
  port.tensor = tensor;
  port.derivations = {};
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::produces_tensor(const TensorOutputSpec& tensor,
                                                      const TensorOutputDerivations& derivations) {
  auto& port = spec_.outputs_[index_];
  require_tensor(port);
  check_derivations(port.name, tensor, derivations, spec_.inputs_);
  port.tensor = tensor;
  port.derivations = derivations;
  if (port.derivations.byte_span) {
    port.derivations.byte_span = port.derivations.byte_span->detached();
  }
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::produces_tensor(const TensorOutputSpec& tensor,
                                                      const TensorByteSpanExpression& byte_span) {
  return produces_tensor(tensor, TensorOutputDerivations{.byte_span = byte_span});
}

OutputRateRecord& OutputSpecBuilder::undeclared_rate() {
  auto& port = spec_.outputs_[index_];
  if (port.rate.kind != PortRateKind::kUnspecified) {
    refuse_rate("PORT_RATE_CONFLICT", port.name,
                "its rate is stated twice; keep one of nominal_rate(), lifecycle_nominal_rate() "
                "and follows()");
  }
  return port.rate;
}

OutputSpecBuilder& OutputSpecBuilder::nominal_rate(Rate rate) {
  require_rate(spec_.outputs_[index_].name, rate);
  undeclared_rate() = {.kind = PortRateKind::kFixedNominal, .rate = rate};
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::lifecycle_nominal_rate(Rate initial) {
  require_rate(spec_.outputs_[index_].name, initial);
  undeclared_rate() = {.kind = PortRateKind::kLifecycleNominal, .rate = initial};
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::max_nominal_rate(Rate rate) {
  auto& port = spec_.outputs_[index_];
  require_rate(port.name, rate);
  if (port.rate.kind != PortRateKind::kLifecycleNominal) {
    refuse_rate("PORT_RATE_CONFLICT", port.name,
                "a maximum belongs to a selectable rate; call lifecycle_nominal_rate() first");
  }
  port.rate.maximum = rate;
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::follows(const InputPort& input, RateRatio ratio) {
  const std::string& name = spec_.outputs_[index_].name;
  if (!ratio.valid()) {
    refuse_rate("PORT_RATE_INVALID", name, "a ratio is a fraction of two positive numbers");
  }
  const auto found = std::ranges::find(spec_.inputs_, &input, &InputDeclaration::port);
  if (found == spec_.inputs_.end()) {
    refuse_rate("PORT_RATE_INPUT_FOREIGN", name,
                "it follows an input that this operator has not declared; declare the input first");
  }
  undeclared_rate() = {.kind = PortRateKind::kFollowsInput,
                       .follows_input = static_cast<std::uint32_t>(found - spec_.inputs_.begin()),
                       .ratio = ratio};
  return *this;
}

OutputSpecBuilder& OutputSpecBuilder::max_emits_per_compute(std::uint32_t count) {
  auto& port = spec_.outputs_[index_];
  if (count == 0) {
    throw RuntimeError({ErrorCode::kInvalidArgument, "PORT_EMITS_ZERO",
                        "port \"" + port.name + "\": max_emits_per_compute is at least 1", 0});
  }
  port.max_emits_per_compute = count;
  return *this;
}

}  // namespace weftline
