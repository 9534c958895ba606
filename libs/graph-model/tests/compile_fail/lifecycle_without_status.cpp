// SPDX-License-Identifier: Apache-2.0
// A lifecycle callback says how it went.
#include "weftline/graph/operator.hpp"

using namespace weftline;

class Camera final : public Operator<> {
 public:
  void setup(OperatorSpec& spec) override {
    spec.lifecycle().stage(LifecycleStage::kAllocate, &Camera::open);
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
  void open(LifecycleContext&) noexcept {}
};
