// SPDX-License-Identifier: Apache-2.0
#include "trigger_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include "temporal_replay.hpp"
#include "weftline/testing/random_contract.hpp"

using namespace weftline;
using replay::Replay;
using testing::ModelActivation;
using testing::OperatorModel;
using testing::random_contract;
using testing::RandomContract;
using Kind = TemporalRecordTriggerKind;

namespace {

/// A random trace through the runtime and the model at once.
class Conformance {
 public:
  explicit Conformance(std::uint32_t seed)
      : random_(seed),
        contract_(random_contract(random_)),
        replay_(contract_.trigger, contract_.sources, contract_.selections),
        model_(contract_.trigger, contract_.sources, contract_.selections),
        ports_(contract_.selections.size()) {
    for (Port& port : ports_) port.pace_ns = 1 + static_cast<std::int64_t>(random_() % 8);
  }

  /// Stops early where the run fails, or where the two differ.
  void run(int events) {
    advance(static_cast<std::int64_t>(random_() % 100));
    for (Port& port : ports_) port.capture_ns = now_ns_;
    replay_.start();
    model_.start(now_ns_);
    for (int event = 0; event < events && same_; ++event) {
      happen(event);
      if (random_() % 3 == 0) continue;
      compare();
      if (!model_.failure().empty()) return;
    }
    compare();
  }
  [[nodiscard]] bool same() const { return same_; }
  [[nodiscard]] std::uint64_t activations() const { return activations_; }
  [[nodiscard]] const RandomContract& contract() const { return contract_; }
  [[nodiscard]] const OperatorModel& model() const { return model_; }

 private:
  struct Port {
    std::uint64_t sequence{0};
    std::int64_t capture_ns{0};
    std::int64_t pace_ns{1};
    bool ended{false};
  };

  void require(bool holds) { same_ = same_ && holds; }

  void advance(std::int64_t by_ns) {
    now_ns_ += by_ns;
    replay_.advance(now_ns_);
    model_.advance(now_ns_);
  }

  void arrive(std::uint32_t index) {
    Port& port = ports_[index];
    port.capture_ns += static_cast<std::int64_t>(random_() % 2) * port.pace_ns;
    port.capture_ns += static_cast<std::int64_t>(random_() % 3);
    std::int64_t capture_ns = port.capture_ns;
    if (random_() % 12 == 0) capture_ns -= static_cast<std::int64_t>(random_() % 10);
    testing::ModelSample sample{port.sequence++, capture_ns};
    // The model sees behind a sample without a time, in what waits for a window.
    const bool may_lack_time = contract_.trigger.kind != Kind::kWindow;
    if (may_lack_time && random_() % 400 == 0) sample.capture_ns.reset();
    replay_.arrive(index, sample);
    model_.arrive(index, sample);
  }

  void happen(int event) {
    const auto what = random_() % 20;
    if (what < 4) return advance(static_cast<std::int64_t>(random_() % 12));
    if (what < 8 && !contract_.sources.empty()) return make_ready();
    if (ports_.empty()) return advance(1);
    const auto index = static_cast<std::uint32_t>(random_() % ports_.size());
    if (ports_[index].ended) return advance(1);
    if (event > 100 && random_() % 40 == 0) {
      ports_[index].ended = true;
      replay_.end(index);
      model_.end(index);
      return;
    }
    arrive(index);
  }

  void make_ready() {
    switch (contract_.sources.front().kind) {
      case ReadinessSourceKind::kNotification:
        require(replay_.notify() == model_.notify());
        break;
      case ReadinessSourceKind::kDoorbell: {
        rung_ += random_() % 3;
        const std::uint64_t count = random_() % 4 == 0 ? random_() % 5 : rung_;
        rung_ = std::max(rung_, count);
        replay_.ring(count);
        model_.ring(count);
        break;
      }
      case ReadinessSourceKind::kReadable: {
        const bool readable = random_() % 3 != 0;
        replay_.set_readable(readable);
        model_.set_readable(readable);
        break;
      }
      case ReadinessSourceKind::kSpin:
        flag_ = random_() % 2 == 0;
        replay_.set_flag(flag_);
        break;
    }
  }

  void compare() {
    while (same_) {
      if (contract_.trigger.kind == Kind::kSpin) model_.poll(flag_);
      const auto wanted = model_.next();
      const auto found = replay_.next();
      require(found == wanted);
      require(replay_.skips() == model_.skips());
      require(replay_.failure().empty() == model_.failure().empty());
      if (!wanted || !found) break;
      ++activations_;
    }
    if (!model_.failure().empty()) return;
    require(replay_.exhausted() == model_.finished());
    require(replay_.trigger().unaligned_drops() == model_.drops());
    require(replay_.trigger().coalesced_ticks() == model_.coalesced_ticks());
  }

  std::mt19937 random_;
  const RandomContract contract_;
  Replay replay_;
  OperatorModel model_;
  std::vector<Port> ports_;
  std::int64_t now_ns_{0};
  std::uint64_t rung_{0};
  bool flag_{false};
  bool same_{true};
  std::uint64_t activations_{0};
};

}  // namespace

TEST_CASE("triggers, selectors and policies do on random traces what their models do") {
  std::uint64_t activations = 0;
  std::uint64_t failures = 0;
  std::vector<std::uint64_t> of_kind(10);
  for (std::uint32_t seed = 1; seed <= 3'000; ++seed) {
    Conformance trace(seed);
    trace.run(150);
    INFO("seed " << seed << ", trigger " << static_cast<unsigned>(trace.contract().trigger.kind));
    REQUIRE(trace.same());
    activations += trace.activations();
    of_kind[static_cast<std::size_t>(trace.contract().trigger.kind)] += trace.activations();
    if (!trace.model().failure().empty()) ++failures;
  }
  // The traces say something: each trigger fires, and some runs fail.
  for (std::size_t kind = 0; kind < 9; ++kind) CHECK(of_kind[kind] > 1'000);
  CHECK(activations > 40'000);
  CHECK(failures > 20);
}
