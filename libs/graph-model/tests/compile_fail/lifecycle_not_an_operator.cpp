// SPDX-License-Identifier: Apache-2.0
// A lifecycle callback is a member of the operator.
#include "weftline/graph/operator.hpp"

using namespace weftline;

struct Shutter {
  LifecycleStatus open(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }
};

class Camera final : public Operator<> {
 public:
  void setup(OperatorSpec& spec) override {
    spec.lifecycle().stage(LifecycleStage::kAllocate, &Shutter::open);
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};
