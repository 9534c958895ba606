// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/lifecycle_spec.hpp"

#include <catch2/catch_test_macros.hpp>

#include "small_operators.hpp"
#include "thrown_token.hpp"

using namespace weftline;

namespace {

/// Declares what a test says.
class Staged : public Operator<> {
 public:
  using Declare = void (*)(OperatorSpec&);
  explicit Staged(Declare declare) : declare_(declare) {}
  void setup(OperatorSpec& spec) override { declare_(spec); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }

  LifecycleStatus open(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }
  LifecycleStatus close(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }

 private:
  Declare declare_;
};

class StartsItself : public Staged {
 public:
  using Staged::Staged;
  void start(LifecycleContext&) override {}
  LifecycleStatus begin(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }
};

class StopsInPrivate : public Staged {
 public:
  using Staged::Staged;
  LifecycleStatus end(LifecycleContext&) noexcept { return LifecycleStatus::kOk; }

 private:
  void stop(LifecycleContext&) override {}
};

template <class Op = Staged>
std::string token_of(Staged::Declare declare) {
  return thrown_token([&] {
    Graph graph{"stages"};
    graph.op<Op>("op", declare);
  });
}

}  // namespace

TEST_CASE("stages without a callback cost nothing to declare, and callbacks come as declared") {
  OperatorSpec spec;
  CHECK(spec.lifecycle_callbacks().empty());
  spec.lifecycle()
      .stage(LifecycleStage::kRelease, &Staged::close)
      .stage(LifecycleStage::kWarmUp, &Staged::open);
  REQUIRE(spec.lifecycle_callbacks().size() == 2);
  CHECK(spec.lifecycle_callbacks()[0].stage == LifecycleStage::kRelease);
  CHECK(spec.lifecycle_callbacks()[1].stage == LifecycleStage::kWarmUp);
}

TEST_CASE("a stage has one callback, wherever it is declared") {
  CHECK(token_of([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kArm, &Staged::open);
          spec.lifecycle().stage(LifecycleStage::kArm, &Staged::close);
        }) == "LIFECYCLE_STAGE_DUPLICATE");
}

TEST_CASE("start() and stop() are the callbacks of their stages where a class overrides them") {
  CHECK(token_of<StartsItself>([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kStart, &StartsItself::begin);
        }) == "LIFECYCLE_STAGE_DUPLICATE");
  CHECK(token_of<StopsInPrivate>([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kStop, &StopsInPrivate::end);
        }) == "LIFECYCLE_STAGE_DUPLICATE");
  CHECK(token_of<StartsItself>([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kStop, &StartsItself::begin);
        }).empty());
  CHECK(token_of([](OperatorSpec& spec) {
          spec.lifecycle()
              .stage(LifecycleStage::kStart, &Staged::open)
              .stage(LifecycleStage::kStop, &Staged::close);
        }).empty());
}

TEST_CASE("a value that is no stage is refused by name") {
  CHECK(token_of([](OperatorSpec& spec) {
          spec.lifecycle().stage(static_cast<LifecycleStage>(8), &Staged::open);
        }) == "LIFECYCLE_STAGE_INVALID");
}

TEST_CASE("a callback of another operator's class is refused where the operator is added") {
  CHECK(token_of([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kArm, &StartsItself::begin);
        }) == "LIFECYCLE_CALLBACK_FOREIGN");
  // A base that could be an operator by itself is the operator's own.
  CHECK(token_of<StartsItself>([](OperatorSpec& spec) {
          spec.lifecycle().stage(LifecycleStage::kArm, &Staged::open);
        }).empty());
}

TEST_CASE("stages and statuses have names") {
  CHECK(lifecycle_stage_name(LifecycleStage::kWarmUp) == "warm_up");
  CHECK(lifecycle_stage_name(static_cast<LifecycleStage>(8)) == "unknown");
  CHECK(is_lifecycle_forward_stage(LifecycleStage::kWarmUp));
  CHECK_FALSE(is_lifecycle_forward_stage(LifecycleStage::kStop));
  CHECK(lifecycle_status_name(LifecycleStatus::kRetryableFailure) == "kRetryableFailure");
  CHECK(lifecycle_status_name(static_cast<LifecycleStatus>(9)) == "kUnknown");
}
