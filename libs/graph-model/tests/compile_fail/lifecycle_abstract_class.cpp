// SPDX-License-Identifier: Apache-2.0
// A lifecycle callback is a member of the operator's own class.
#include "weftline/graph/operator.hpp"

using namespace weftline;

class Opens : public Operator<> {
 public:
  LifecycleStatus open(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }
};

class Camera final : public Operator<> {
 public:
  void setup(OperatorSpec& spec) override {
    spec.lifecycle().stage(LifecycleStage::kAllocate, &Opens::open);
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};
