// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "weftline/core/error.hpp"
#include "weftline/graph/contract.hpp"
#include "weftline/graph/execution_context.hpp"
#include "weftline/graph/operator_spec.hpp"
#include "weftline/graph/param_set.hpp"

namespace weftline {

/// An operator without its parameter type. One instance belongs to one lane: its members need no
/// locks.
class OperatorBase {
 public:
  OperatorBase() = default;
  OperatorBase(const OperatorBase&) = delete;
  OperatorBase& operator=(const OperatorBase&) = delete;
  virtual ~OperatorBase() = default;

  /// Structure: declares the ports. Runs on fresh instances, several times; deterministic.
  virtual void setup(OperatorSpec& spec) = 0;
  /// Time: when compute() runs. Called after setup().
  [[nodiscard]] virtual Contract contract() const { return {}; }
  /// Work. An error ends the run as failed; so does an exception, reported with this operator's
  /// name.
  virtual expected<void, Error> compute(ExecutionContext& context) = 0;
  /// Cold, before the first and after the last activation: the callbacks of kStart and kStop for a
  /// class that needs no other stage. May throw; a throwing start() fails the run before it begins.
  virtual void start(LifecycleContext&) {}
  virtual void stop(LifecycleContext&) {}

  /// For the factory.
  virtual void adopt_params(std::shared_ptr<const void>) {}
};

/// Base class of user operators: `class Blur : public Operator<BlurParams>`.
template <class P = NoParams>
class Operator : public OperatorBase {
 public:
  using Params = P;
  /// The values given with `set_params()`, else the defaults; P has a WEFTLINE_PARAM_SCHEMA. For
  /// setup() and contract(): they are what the plan was compiled with, and no update changes them.
  /// compute(), start() and stop() read `context.params<P>()`, which updates do change. Values that
  /// the schema does not admit are not seen here: setup() and contract() then get the defaults, and
  /// the plan is refused.
  [[nodiscard]] const P& params() const noexcept { return *params_; }

  void adopt_params(std::shared_ptr<const void> params) final {
    params_ = std::static_pointer_cast<const P>(std::move(params));
  }

 private:
  std::shared_ptr<const P> params_{std::make_shared<const P>()};
};

}  // namespace weftline
