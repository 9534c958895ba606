// SPDX-License-Identifier: Apache-2.0
// A lifecycle callback throws nothing.
#include "weftline/graph/operator.hpp"

using namespace weftline;

class Camera final : public Operator<> {
 public:
  void setup(OperatorSpec& spec) override {
    spec.lifecycle().stage(LifecycleStage::kAllocate, &Camera::open);
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
  LifecycleStatus open(LifecycleContext&) { return LifecycleStatus::kOk; }
};
