// SPDX-License-Identifier: Apache-2.0
#include "param_cell.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "test_params.hpp"

using namespace test;
using weftline::LifecycleStage;
using weftline::ParamAssignment;
using weftline::ParamUpdateState;
using weftline::ParamUpdateStatus;
using weftline::runtime::ParamCell;

namespace {

ParamCell::Options options(std::optional<LifecycleStage> restart_from = {}) {
  return {.path = "camera", .restart_from = restart_from};
}

/// As an activation of the operator does.
std::int32_t activate(ParamCell& cell) {
  const bool fresh = cell.take();
  const std::int32_t gain = cell.view().as<Knobs>().gain;
  if (fresh) cell.mark_observed();
  return gain;
}

weftline::ParamUpdateResult set(ParamCell& cell, const std::string& path,
                                const weftline::ParamScalar& value,
                                const weftline::ParamUpdateOptions& how = {}) {
  return cell.update(std::vector<ParamAssignment>{{path, value}}, how);
}

}  // namespace

TEST_CASE("an update is seen from the next activation on, and its receipt follows it") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.gain = 3}), options());
  CHECK(activate(cell) == 3);
  CHECK(cell.view().generation == 0);
  const auto result = set(cell, "gain", std::int64_t{7});
  REQUIRE(result);
  CHECK(result.status == ParamUpdateStatus::kAccepted);
  CHECK(result.generation == 1);
  CHECK(result.receipt.generation() == 1);
  CHECK(result.receipt.state() == ParamUpdateState::kAccepted);
  CHECK(cell.view().as<Knobs>().gain == 3);
  REQUIRE(cell.take());
  CHECK(result.receipt.state() == ParamUpdateState::kPublished);
  CHECK(cell.view().as<Knobs>().gain == 7);
  CHECK(cell.view().generation == 1);
  cell.mark_observed();
  CHECK(result.receipt.state() == ParamUpdateState::kObserved);
  CHECK_FALSE(cell.take());
}

TEST_CASE("a generation that no activation had is superseded, and its successor builds on it") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const auto first = set(cell, "gain", std::int64_t{7});
  const auto second = set(cell, "offset", std::int64_t{9});
  CHECK(first.receipt.state() == ParamUpdateState::kSuperseded);
  CHECK(activate(cell) == 7);
  CHECK(cell.view().as<Knobs>().offset == 9);
  CHECK(second.receipt.state() == ParamUpdateState::kObserved);
  CHECK(first.receipt.state() == ParamUpdateState::kSuperseded);
  const auto third = set(cell, "gain", std::int64_t{8});
  CHECK(second.receipt.state() == ParamUpdateState::kObserved);
  CHECK(third.receipt.state() == ParamUpdateState::kAccepted);
}

TEST_CASE("an update to the values that are there makes no generation") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.gain = 3}), options());
  const auto result = set(cell, "gain", std::int64_t{3});
  CHECK(result);
  CHECK(result.status == ParamUpdateStatus::kAcceptedNoChange);
  CHECK(result.receipt.state() == ParamUpdateState::kAcceptedNoChange);
  CHECK_FALSE(result.receipt.generation());
  CHECK(result.generation == 0);
  CHECK_FALSE(cell.take());
}

TEST_CASE("an expected generation lets one of two updates through") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  CHECK(set(cell, "gain", std::int64_t{7}, {.expected_generation = 0}));
  const auto late = set(cell, "gain", std::int64_t{8}, {.expected_generation = 0});
  CHECK_FALSE(late);
  CHECK(late.status == ParamUpdateStatus::kGenerationMismatch);
  CHECK(late.generation == 1);
  CHECK(late.receipt.state() == ParamUpdateState::kRejected);
  REQUIRE(late.error);
  CHECK(late.error->token == "PARAM_GENERATION_MISMATCH");
  CHECK(late.error->message ==
        "the update expects generation 0 of camera, the newest is 1; look at the newest values and "
        "decide again");
  CHECK(activate(cell) == 7);
}

TEST_CASE("a refused update changes nothing and says why") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const auto refused = [&](const std::string& path, const weftline::ParamScalar& value) {
    const auto result = set(cell, path, value);
    CHECK_FALSE(result);
    CHECK(result.receipt.state() == ParamUpdateState::kRejected);
    return std::string(weftline::param_update_status_name(result.status)) + " " +
           std::string(result.error ? result.error->token : "-");
  };
  CHECK(refused("gian", std::int64_t{1}) == "not_found PARAM_FIELD_UNKNOWN");
  CHECK(refused("gain", 1.5) == "type_mismatch PARAM_TYPE_MISMATCH");
  CHECK(refused("gain", std::string("1")) == "type_mismatch PARAM_TYPE_MISMATCH");
  CHECK(refused("gain", std::int64_t{1'001}) == "out_of_bounds PARAM_OUT_OF_RANGE");
  CHECK(refused("gain", std::int64_t{1} << 40U) == "out_of_bounds PARAM_OVERFLOW");
  CHECK(refused("ratio", std::numeric_limits<double>::quiet_NaN()) ==
        "validation_failed PARAM_NOT_FINITE");
  CHECK(refused("ratio", std::numeric_limits<double>::infinity()) ==
        "validation_failed PARAM_NOT_FINITE");
  CHECK(refused("mode", std::string("sideways")) == "validation_failed PARAM_VALUE_NOT_ALLOWED");
  CHECK(refused("even", std::int64_t{3}) == "validation_failed PARAM_RULE_BROKEN");
  CHECK(refused("frozen", std::int64_t{3}) == "not_mutable PARAM_NOT_MUTABLE");
  CHECK(refused("counted", std::int64_t{3}) == "not_mutable PARAM_NOT_MUTABLE");
  CHECK(refused("exposure", std::int64_t{3}) == "updates_disabled PARAM_UPDATES_DISABLED");
  CHECK_FALSE(cell.take());
  CHECK(set(cell, "gain", std::int64_t{2}).generation == 1);
  CHECK(set(cell, "counted", std::int64_t{3}).error->message ==
        "camera.counted is recompile: set_params() with the new value and compile again");
  CHECK(set(cell, "gain", std::int64_t{1'001}).error->message ==
        "camera.gain: the value is 1001, the range is 0 to 1000 (give a value in the range)");
}

TEST_CASE("a batch is taken as one, or not at all") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const auto batch = [&](std::vector<ParamAssignment> assignments) {
    return cell.update(assignments, {});
  };
  CHECK(batch({{"gain", std::int64_t{7}}, {"even", std::int64_t{3}}}).status ==
        ParamUpdateStatus::kValidationFailed);
  CHECK(batch({{"gain", std::int64_t{7}}, {"nothing", std::int64_t{3}}}).status ==
        ParamUpdateStatus::kNotFound);
  CHECK(batch({}).error->token == "PARAM_BATCH_EMPTY");
  CHECK(batch({{"gain", std::int64_t{7}}, {"gain", std::int64_t{8}}}).error->token ==
        "PARAM_BATCH_REPEATED");
  CHECK_FALSE(cell.take());
  const auto good = batch({{"gain", std::int64_t{7}}, {"even", std::int64_t{4}}});
  CHECK(good.generation == 1);
  CHECK(activate(cell) == 7);
  CHECK(cell.view().as<Knobs>().even == 4);
}

TEST_CASE("typed references name one field of one struct") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const std::vector<ParamAssignment> good{{weftline::param_ref<&Knobs::mode>(), Mode::kFast}};
  CHECK(cell.update(good, {}));
  REQUIRE(cell.take());
  CHECK(cell.view().as<Knobs>().mode == Mode::kFast);
  const std::vector<ParamAssignment> foreign{{weftline::param_ref<&OtherKnobs::gain>(), 3}};
  const auto refused = cell.update(foreign, {});
  CHECK(refused.status == ParamUpdateStatus::kTypeMismatch);
  CHECK(refused.error->token == "PARAM_FIELD_FOREIGN");
}

TEST_CASE("a sensitive value goes to the operator, and nowhere else") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const auto refused = set(cell, "key", std::int64_t{4'711});
  CHECK(refused.status == ParamUpdateStatus::kOutOfBounds);
  CHECK(refused.error->message.find("4711") == std::string::npos);
  CHECK(set(cell, "key", std::int64_t{471}));
  REQUIRE(cell.take());
  CHECK(cell.view().as<Knobs>().key == 471);
  const std::lock_guard lock(cell.mutex());
  for (const auto& field : cell.capture_locked().fields) {
    CHECK(field.value.dump().find("471") == std::string::npos);
    CHECK((field.path == "key") == field.value.is_null());
  }
}

TEST_CASE("after the end nothing is updated, and what nobody ran with is closed") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
  const auto observed = set(cell, "gain", std::int64_t{7});
  CHECK(activate(cell) == 7);
  const auto taken = set(cell, "gain", std::int64_t{8});
  REQUIRE(cell.take());
  const auto waiting = set(cell, "gain", std::int64_t{9});
  cell.end();
  CHECK(observed.receipt.state() == ParamUpdateState::kObserved);
  CHECK(taken.receipt.state() == ParamUpdateState::kClosed);
  CHECK(waiting.receipt.state() == ParamUpdateState::kClosed);
  const auto late = set(cell, "gain", std::int64_t{10});
  CHECK(late.status == ParamUpdateStatus::kClosed);
  CHECK(late.error->token == "PARAM_CONTROL_CLOSED");
  CHECK(late.generation == 3);
}

TEST_CASE("a receipt outlives its cell") {
  weftline::ParamUpdateReceipt receipt;
  CHECK(receipt.state() == ParamUpdateState::kRejected);
  {
    ParamCell cell(weftline::ParamSet::given(Knobs{}), options());
    receipt = set(cell, "gain", std::int64_t{7}).receipt;
    CHECK(activate(cell) == 7);
    cell.end();
  }
  CHECK(receipt.state() == ParamUpdateState::kObserved);
  CHECK(receipt.generation() == 1);
}

TEST_CASE("an operator updates its own fields from the next activation on") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.gain = 3}), options());
  const auto gain = weftline::param_ref<&Knobs::gain>();
  const auto from_outside = set(cell, "gain", std::int64_t{4});
  REQUIRE(cell.submit(gain.field(), std::int64_t{5}));
  CHECK(from_outside.receipt.state() == ParamUpdateState::kSuperseded);
  CHECK(cell.view().as<Knobs>().gain == 3);
  CHECK(activate(cell) == 5);
  CHECK(cell.view().generation == 2);
  REQUIRE(cell.submit(gain.field(), std::int64_t{5}));
  CHECK_FALSE(cell.take());

  const auto token = [&](const auto& result) {
    return result ? std::string_view("-") : result.error().token;
  };
  CHECK(token(cell.submit(gain.field(), std::int64_t{1'001})) == "PARAM_OUT_OF_RANGE");
  CHECK(token(cell.submit(weftline::param_ref<&Knobs::even>().field(), std::int64_t{3})) ==
        "PARAM_RULE_BROKEN");
  CHECK(token(cell.submit(weftline::param_ref<&Knobs::frozen>().field(), std::int64_t{3})) ==
        "PARAM_NOT_MUTABLE");
  CHECK(token(cell.submit(weftline::param_ref<&OtherKnobs::gain>().field(), std::int64_t{3})) ==
        "PARAM_FIELD_FOREIGN");
  const std::lock_guard lock(cell.mutex());
  const auto busy = cell.submit(gain.field(), std::int64_t{6});
  CHECK(token(busy) == "PARAM_CONTROL_BUSY");
  CHECK(weftline::is_retryable(busy.error().code));
}

TEST_CASE("a field that needs a restart waits for one that goes through its stage") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.exposure = 1}), options(LifecycleStage::kArm));
  const auto first = set(cell, "exposure", std::int64_t{5});
  CHECK(first);
  CHECK(first.status == ParamUpdateStatus::kDeferred);
  CHECK(first.receipt.state() == ParamUpdateState::kSubmitted);
  CHECK_FALSE(first.receipt.generation());
  CHECK_FALSE(cell.take());
  const auto second = set(cell, "exposure", std::int64_t{6});
  CHECK(first.receipt.state() == ParamUpdateState::kSuperseded);

  // Too late a stage: it waits on.
  cell.expect_restart(LifecycleStage::kStart);
  CHECK(second.receipt.state() == ParamUpdateState::kSubmitted);
  cell.begin_restart(LifecycleStage::kStart);
  CHECK_FALSE(cell.apply_deferred(LifecycleStage::kStart));
  cell.end_restart();
  CHECK(second.receipt.state() == ParamUpdateState::kSubmitted);

  cell.expect_restart(LifecycleStage::kAllocate);
  CHECK(second.receipt.state() == ParamUpdateState::kQuiescing);
  cell.forget_restart();
  CHECK(second.receipt.state() == ParamUpdateState::kSubmitted);
  cell.expect_restart(LifecycleStage::kAllocate);
  cell.end_restart();  // rejected before it began
  CHECK(second.receipt.state() == ParamUpdateState::kSubmitted);

  cell.begin_restart(LifecycleStage::kAllocate);
  CHECK(second.receipt.state() == ParamUpdateState::kRestarting);
  CHECK_FALSE(cell.apply_deferred(LifecycleStage::kAllocate));
  CHECK(cell.view().as<Knobs>().exposure == 1);
  REQUIRE(cell.apply_deferred(LifecycleStage::kArm));
  CHECK(cell.view().as<Knobs>().exposure == 6);
  CHECK(cell.view().generation == 1);
  CHECK_FALSE(cell.apply_deferred(LifecycleStage::kStart));
  cell.end_restart();
  CHECK(second.receipt.generation() == 1);
  CHECK(second.receipt.state() == ParamUpdateState::kAccepted);
  REQUIRE(cell.take());
  CHECK(cell.view().as<Knobs>().exposure == 6);
  CHECK(second.receipt.state() == ParamUpdateState::kPublished);
  cell.mark_observed();
  CHECK(second.receipt.state() == ParamUpdateState::kObserved);
  const std::vector<ParamAssignment> mixed{{"gain", std::int64_t{7}},
                                           {"exposure", std::int64_t{8}}};
  CHECK(cell.update(mixed, {}).error->token == "PARAM_BATCH_MIXED");
}

TEST_CASE("what a failed restart had taken is taken back") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.exposure = 1}), options(LifecycleStage::kArm));
  const auto update = set(cell, "exposure", std::int64_t{5});
  cell.begin_restart(LifecycleStage::kArm);
  REQUIRE(cell.apply_deferred(LifecycleStage::kArm));
  cell.revert_deferred();
  CHECK(update.receipt.state() == ParamUpdateState::kRejected);
  CHECK(cell.view().as<Knobs>().exposure == 1);
  CHECK(cell.view().generation == 2);
  cell.revert_deferred();
  cell.end_restart();
  CHECK(update.receipt.state() == ParamUpdateState::kRejected);
  REQUIRE(cell.take());
  CHECK(cell.view().as<Knobs>().exposure == 1);
  CHECK(cell.view().generation == 2);
}

TEST_CASE("a restart that fails before the stage has changed nothing") {
  ParamCell cell(weftline::ParamSet::given(Knobs{.exposure = 1}), options(LifecycleStage::kArm));
  const auto update = set(cell, "exposure", std::int64_t{5});
  cell.begin_restart(LifecycleStage::kConfigure);
  cell.revert_deferred();
  CHECK_FALSE(cell.apply_deferred(LifecycleStage::kArm));
  cell.end_restart();
  CHECK(update.receipt.state() == ParamUpdateState::kRejected);
  CHECK_FALSE(update.receipt.generation());
  CHECK_FALSE(cell.take());
}

TEST_CASE("callbacks of a restart see the newest values, and what comes meanwhile is compute()'s") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options(LifecycleStage::kArm));
  const auto before = set(cell, "gain", std::int64_t{7});
  const auto exposed = set(cell, "exposure", std::int64_t{5});
  cell.begin_restart(LifecycleStage::kArm);
  CHECK(cell.view().as<Knobs>().gain == 7);
  REQUIRE(cell.apply_deferred(LifecycleStage::kArm));
  CHECK(before.receipt.state() == ParamUpdateState::kSuperseded);
  const auto meanwhile = set(cell, "gain", std::int64_t{8});
  CHECK(cell.view().as<Knobs>().gain == 7);
  CHECK(cell.view().as<Knobs>().exposure == 5);
  cell.end_restart();
  CHECK(exposed.receipt.state() == ParamUpdateState::kSuperseded);
  CHECK(activate(cell) == 8);
  CHECK(cell.view().as<Knobs>().exposure == 5);
  CHECK(meanwhile.receipt.state() == ParamUpdateState::kObserved);
}

TEST_CASE("an update that waits for a restart when the run ends is closed") {
  ParamCell cell(weftline::ParamSet::given(Knobs{}), options(LifecycleStage::kArm));
  const auto waiting = set(cell, "exposure", std::int64_t{5});
  cell.begin_restart(LifecycleStage::kArm);
  REQUIRE(cell.apply_deferred(LifecycleStage::kArm));
  cell.end_restart();
  const auto later = set(cell, "exposure", std::int64_t{6});
  cell.expect_restart(LifecycleStage::kArm);
  cell.end();
  CHECK(waiting.receipt.state() == ParamUpdateState::kClosed);
  CHECK(later.receipt.state() == ParamUpdateState::kClosed);
}
