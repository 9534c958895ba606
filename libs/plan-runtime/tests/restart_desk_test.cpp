// SPDX-License-Identifier: Apache-2.0
//
// Where restarts are asked for: who may ask for what, what is taken together, and what receipts say
// when their session is long gone.
#include "restart_desk.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "weftline/runtime/lifecycle_control.hpp"

using namespace weftline;
using runtime::Parker;
using runtime::RestartDesk;
using runtime::RestartTransaction;
using State = LifecycleTransactionState;

namespace {

constexpr VertexId kNobody{};
constexpr VertexId kCamera{0};
constexpr VertexId kDriver{1};

/// "camera" and "driver" may be restarted from outside, the camera by the driver, too; a "viewer"
/// by nobody. Two requests may wait.
PlanRecords records() {
  PlanRecords plan;
  for (const char* path : {"camera", "driver", "viewer"}) {
    OperatorPlanRecord op;
    op.path = path;
    op.id = VertexId{static_cast<std::uint32_t>(plan.operators.size())};
    plan.operators.push_back(std::move(op));
  }
  plan.lifecycle.transactions = LifecycleTransactionBounds{8, 64, 2};
  const auto grant = [&](VertexId requester, VertexId target, LifecycleStage from) {
    plan.lifecycle.restart_grants.push_back(
        {.requester = requester,
         .target = target,
         .requested_stage = from,
         .effective_stage = from,
         .disposition = LifecycleRestartDisposition::kAdmitted});
  };
  grant(kNobody, kCamera, LifecycleStage::kAllocate);
  grant(kDriver, kCamera, LifecycleStage::kConfigure);
  grant(kNobody, kDriver, LifecycleStage::kArm);
  plan.lifecycle.restart_closures = {{.target = kCamera, .members = {kCamera, kDriver}},
                                     {.target = kDriver, .members = {kDriver}}};
  return plan;
}

struct Desk {
  explicit Desk(const PlanRecords& plan = records())
      : desk(std::make_shared<RestartDesk>(plan, controller)) {}
  LifecycleReceipt ask(std::string_view target, std::optional<LifecycleStage> stage = {}) {
    return desk->request(target, {.from_stage = stage, .reason = "test"});
  }
  std::string_view refusal(std::string_view target, std::optional<LifecycleStage> stage = {}) {
    const ReceiptView view = ask(target, stage).view();
    CHECK(view.state == State::kRejected);
    CHECK(view.transaction_id == 0);
    CHECK_FALSE(view.error.message.empty());
    return view.error.token;
  }
  /// By the driver, as its lane does.
  expected<LifecycleReceipt, Error> ask_as_driver(const RestartRequest& request) {
    return desk->ask(kDriver, request);
  }
  std::string_view refusal_of_driver(const RestartRequest& request) {
    const auto refused = ask_as_driver(request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.empty());
    return refused.error().token;
  }
  [[nodiscard]] bool driver_may_ask() const {
    return std::ranges::all_of(desk->boxes_of(kDriver),
                               [](const runtime::RestartBox* box) { return box->free(); });
  }

  Parker controller{};
  std::shared_ptr<RestartDesk> desk;
};

constexpr std::chrono::steady_clock::time_point kNow{};

}  // namespace

TEST_CASE("a restart that nobody granted is refused with its reason, and wakes nobody") {
  Desk all;
  CHECK(all.refusal("viewer") == "RESTART_NOT_GRANTED");
  CHECK(all.refusal("nobody") == "RESTART_TARGET_UNKNOWN");
  CHECK(all.refusal("camera", LifecycleStage::kConfigure) == "RESTART_STAGE_NOT_ADMITTED");
  CHECK(all.refusal("camera", LifecycleStage::kStop) == "RESTART_STAGE_INVALID");
  CHECK(all.desk->take() == nullptr);
  CHECK_FALSE(all.controller.take_notification());
  CHECK(all.desk->counters().rejected == 4);

  PlanRecords none = records();
  none.lifecycle.transactions.reset();
  CHECK(Desk(none).refusal("camera") == "RESTART_DISABLED");
  PlanRecords rejected = records();
  for (auto& grant : rejected.lifecycle.restart_grants) {
    grant.disposition = LifecycleRestartDisposition::kRejected;
  }
  CHECK(Desk(rejected).refusal("camera") == "RESTART_NOT_GRANTED");
}

TEST_CASE("an accepted request wakes the controller, which takes the oldest first") {
  Desk all;
  const auto camera = all.ask("camera");
  CHECK(all.controller.take_notification());
  const auto driver = all.ask("driver");
  CHECK(camera.view().state == State::kRequested);
  CHECK(camera.view().effective_stage == LifecycleStage::kAllocate);
  CHECK(camera.view().reason == "test");
  CHECK(driver.view().transaction_id == 2);
  const auto first = all.desk->take();
  REQUIRE(first != nullptr);
  CHECK(first->target == kCamera);
  CHECK(all.desk->take()->target == kDriver);
  all.desk->begin(*first, 2);
  CHECK(camera.view().state == State::kQuiescing);
  CHECK_FALSE(camera.wait_until(kNow));
  all.desk->finish(*first, State::kCommitted, {}, 5);
  CHECK(camera.wait_until(kNow));
  CHECK(camera.view().candidate_generation == 2);
  CHECK(all.desk->counters().committed == 1);
  CHECK(all.desk->counters().last_duration_ns == 5);
}

TEST_CASE("requests for one target are one transaction, from the earliest stage of all") {
  Desk all;
  const auto later = all.ask("camera", LifecycleStage::kStart);
  const auto by_driver =
      all.ask_as_driver({.target = "camera", .from_stage = LifecycleStage::kConfigure});
  REQUIRE(by_driver);
  const LifecycleReceipt& earlier = *by_driver;
  CHECK(earlier.view().state == State::kRequested);  // nobody has looked yet
  CHECK(all.ask("camera").view().coalesced_into == later.view().transaction_id);
  CHECK(earlier.view().state == State::kCoalesced);
  CHECK(earlier.view().transaction_id == 2);
  CHECK(earlier.view().coalesced_into == later.view().transaction_id);
  CHECK(later.view().effective_stage == LifecycleStage::kConfigure);
  const auto only = all.desk->take();
  CHECK(all.desk->take() == nullptr);
  all.desk->begin(*only, 2);
  CHECK(earlier.view().state == State::kQuiescing);
  // What is under way may have passed the point: the next one is a transaction of its own.
  CHECK(all.ask("camera").view().state == State::kRequested);
  all.desk->finish(*only, State::kRolledBack, {ErrorCode::kFailure, "TEST", {}, 0}, 1);
  CHECK(earlier.view().state == State::kRolledBack);
  CHECK(earlier.view().error.token == "TEST");
}

TEST_CASE("an operator asks as its grants say, once for each target until that is over") {
  Desk all;
  CHECK(all.refusal_of_driver({}) == "RESTART_NOT_GRANTED");  // itself
  CHECK(all.refusal_of_driver({.target = "viewer"}) == "RESTART_NOT_GRANTED");
  CHECK(all.refusal_of_driver({.target = "nobody"}) == "RESTART_TARGET_UNKNOWN");
  CHECK(all.refusal_of_driver({.target = "camera", .from_stage = LifecycleStage::kRelease}) ==
        "RESTART_STAGE_INVALID");
  CHECK(all.desk->boxes_of(kCamera).empty());
  CHECK(all.driver_may_ask());
  const auto receipt = all.ask_as_driver({.target = "camera", .reason = "no frames"});
  REQUIRE(receipt);
  CHECK_FALSE(all.driver_may_ask());
  CHECK(all.refusal_of_driver({.target = "camera"}) == "RESTART_ALREADY_PENDING");
  CHECK(receipt->view().reason == "no frames");
  CHECK(receipt->view().transaction_id == 1);
  const auto taken = all.desk->take();
  REQUIRE(taken != nullptr);
  CHECK(taken->target == kCamera);
  CHECK(taken->place == "camera");
  CHECK(taken->view.effective_stage == LifecycleStage::kConfigure);
  all.desk->begin(*taken, 2);
  CHECK(all.refusal_of_driver({.target = "camera"}) == "RESTART_ALREADY_PENDING");
  all.desk->finish(*taken, State::kCommitted, {}, 5);
  CHECK(receipt->view().state == State::kCommitted);
  CHECK(all.driver_may_ask());
  REQUIRE(all.ask_as_driver({.target = "camera"}));
  CHECK(receipt->view().state == State::kCommitted);
  CHECK(all.desk->counters().rejected == 6);
}

TEST_CASE("an operator whose request was taken along may ask again when that transaction is over") {
  Desk all;
  static_cast<void>(all.ask("camera"));
  const auto receipt = all.ask_as_driver({.target = "camera"});
  const auto taken = all.desk->take();
  CHECK(all.desk->take() == nullptr);
  CHECK_FALSE(all.driver_may_ask());
  all.desk->finish(*taken, State::kRolledBack, {ErrorCode::kFailure, "TEST", {}, 0}, 1);
  CHECK(all.driver_may_ask());
  CHECK(receipt->view().state == State::kRolledBack);
  CHECK(receipt->view().coalesced_into == 1);
}

TEST_CASE("a reason is kept as far as there is room, whole characters only") {
  Desk all;
  const std::string long_reason(kMaximumRestartReason - 1, 'x');
  const auto receipt =
      all.ask_as_driver({.target = "camera", .reason = long_reason + "\xc3\xa4" + "tail"});
  REQUIRE(receipt);
  CHECK(receipt->view().reason == long_reason);
}

TEST_CASE("no more requests wait than the plan says") {
  PlanRecords plan = records();
  plan.lifecycle.transactions->max_pending_requests = 1;
  Desk all(plan);
  const auto first = all.ask("camera");
  CHECK(all.refusal("driver") == "RESTART_PENDING_FULL");
  CHECK(all.ask("camera").view().state == State::kCoalesced);
  CHECK(all.refusal_of_driver({.target = "camera"}) == "RESTART_PENDING_FULL");
  static_cast<void>(all.desk->take());
  CHECK(all.ask("driver").view().state == State::kRequested);
}

TEST_CASE("a member that waits on a source takes the restart back to arm") {
  PlanRecords plan = records();
  plan.operators[1].sources.emplace_back();
  Desk all(plan);
  CHECK(all.ask("camera", LifecycleStage::kStart).view().effective_stage == LifecycleStage::kArm);
}

TEST_CASE("what waits at the session's end is rejected, and receipts and handles outlive it") {
  auto all = std::make_unique<Desk>();
  const auto waiting = all->ask("driver");
  const auto asked = all->ask_as_driver({.target = "camera"});
  const LifecycleControlHandle handle(all->desk);
  all->desk->close();
  all.reset();
  CHECK(waiting.wait_until(kNow));
  CHECK(waiting.view().state == State::kRejected);
  CHECK(waiting.view().error.token == "RESTART_SESSION_ENDING");
  CHECK(asked->view().error.token == "RESTART_SESSION_ENDING");
  const LifecycleControlHandle copy = handle;
  CHECK(copy.request_restart("camera").view().error.token == "RESTART_SESSION_ENDING");
}

TEST_CASE("every state of a transaction has a name of its own") {
  std::vector<std::string_view> names;
  for (std::uint8_t state = 0; state <= static_cast<std::uint8_t>(State::kRejected); ++state) {
    names.push_back(lifecycle_transaction_state_name(static_cast<State>(state)));
    CHECK(names.back() != "unknown");
    CHECK(std::ranges::count(names, names.back()) == 1);
  }
  CHECK(lifecycle_transaction_state_name(static_cast<State>(200)) == "unknown");
}
