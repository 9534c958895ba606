// SPDX-License-Identifier: Apache-2.0
//
// Updates by several threads against one lane, checked against a plain model of what each
// generation holds.

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "param_cell.hpp"

namespace {

using weftline::ParamAssignment;
using weftline::ParamUpdateState;
using weftline::ParamUpdateStatus;
using weftline::runtime::ParamCell;

/// Every field of a generation is a function of the first: what is torn shows.
struct Correlated {
  std::uint64_t number{0};
  std::uint32_t low{0};
  std::int64_t negative{0};
  double scaled{0};
};
WEFTLINE_PARAM_SCHEMA(Correlated, weftline::param_schema("test.Correlated", 1),
                      weftline::field<&Correlated::number>("number").runtime_mutable(),
                      weftline::field<&Correlated::low>("low").runtime_mutable(),
                      weftline::field<&Correlated::negative>("negative").runtime_mutable(),
                      weftline::field<&Correlated::scaled>("scaled").runtime_mutable());

std::vector<ParamAssignment> batch_of(std::uint64_t number) {
  return {{"number", number},
          {"low", number & 0xffff},
          {"negative", -static_cast<std::int64_t>(number)},
          {"scaled", static_cast<double>(number) / 2}};
}

bool whole(const Correlated& values) {
  return values.low == (values.number & 0xffff) &&
         values.negative == -static_cast<std::int64_t>(values.number) &&
         values.scaled == static_cast<double>(values.number) / 2;
}

struct Made {
  std::uint64_t number{0};
  weftline::ParamUpdateReceipt receipt{};
};

constexpr std::size_t kWriters = 4;
constexpr std::uint64_t kUpdates = 2'000;

}  // namespace

TEST_CASE("updates by several threads reach the lane whole and in order, each by one winner") {
  ParamCell cell(weftline::ParamSet::defaults<Correlated>(), {.path = "op"});
  std::atomic<bool> writing{true};
  std::atomic<std::uint64_t> torn{0};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // generation, number: of the lane
  std::thread lane([&] {
    bool last = false;
    while (!last) {
      last = !writing.load();
      const bool fresh = cell.take();
      const auto& values = cell.view().as<Correlated>();
      if (!whole(values)) torn.fetch_add(1);
      if (!fresh) continue;
      seen.emplace_back(cell.view().generation, values.number);
      std::this_thread::yield();
      if (!whole(values)) torn.fetch_add(1);
      cell.mark_observed();
    }
  });

  std::mutex mutex;
  std::map<std::uint64_t, Made> model;  // by generation
  std::atomic<std::uint64_t> doubled{0};
  std::atomic<std::uint64_t> unsettled{0};
  std::vector<std::thread> writers;
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      std::uint64_t expected_generation = 0;
      for (std::uint64_t made = 0; made < kUpdates;) {
        const std::uint64_t number = (made * kWriters + writer) + 1;
        const auto result =
            cell.update(batch_of(number), {.expected_generation = expected_generation});
        expected_generation = result.generation;
        if (result.status == ParamUpdateStatus::kGenerationMismatch) continue;
        if (result.status != ParamUpdateStatus::kAccepted) unsettled.fetch_add(1);
        const std::lock_guard lock(mutex);
        if (!model.emplace(*result.receipt.generation(), Made{number, result.receipt}).second) {
          doubled.fetch_add(1);
        }
        ++made;
      }
    });
  }
  for (auto& writer : writers) writer.join();
  writing.store(false);
  lane.join();
  cell.end();

  CHECK(torn == 0);
  CHECK(doubled == 0);
  CHECK(unsettled == 0);
  REQUIRE(model.size() == kWriters * kUpdates);
  CHECK(model.rbegin()->first == kWriters * kUpdates);
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.back().first == kWriters * kUpdates);
  std::uint64_t wrong = 0;
  for (std::size_t at = 1; at < seen.size(); ++at) wrong += seen[at - 1].first >= seen[at].first;
  CHECK(wrong == 0);
  for (const auto& each : seen) {
    wrong += model.at(each.first).number != each.second;
    wrong += model.at(each.first).receipt.state() != ParamUpdateState::kObserved;
  }
  CHECK(wrong == 0);
  const auto superseded =
      static_cast<std::size_t>(std::ranges::count_if(model, [](const auto& each) {
        return each.second.receipt.state() == ParamUpdateState::kSuperseded;
      }));
  CHECK(superseded == model.size() - seen.size());
}

TEST_CASE("a receipt that says observed or superseded never says anything else again") {
  ParamCell cell(weftline::ParamSet::defaults<Correlated>(), {.path = "op"});
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> changed{0};
  std::mutex mutex;
  weftline::ParamUpdateReceipt newest;  // under the mutex
  const auto final_state = [](ParamUpdateState state) {
    return state == ParamUpdateState::kObserved || state == ParamUpdateState::kSuperseded;
  };
  std::thread lane([&] {
    while (!done.load()) {
      if (cell.take()) cell.mark_observed();
    }
  });
  std::thread reader([&] {
    while (!done.load()) {
      weftline::ParamUpdateReceipt receipt;
      {
        const std::lock_guard lock(mutex);
        receipt = newest;
      }
      ParamUpdateState before = receipt.state();
      for (int look = 0; look < 8; ++look) {
        const ParamUpdateState now = receipt.state();
        if (final_state(before) && now != before) changed.fetch_add(1);
        before = now;
      }
    }
  });
  for (std::uint64_t number = 1; number <= 4 * kUpdates; ++number) {
    const auto result = cell.update(batch_of(number), {});
    const std::lock_guard lock(mutex);
    newest = result.receipt;
  }
  done.store(true);
  lane.join();
  reader.join();
  CHECK(changed == 0);
}

TEST_CASE("an operator that updates itself, against updates from outside, loses none") {
  ParamCell cell(weftline::ParamSet::defaults<Correlated>(), {.path = "op"});
  const auto number = weftline::param_ref<&Correlated::number>();
  std::uint64_t own = 0;
  std::uint64_t busy = 0;
  std::thread lane([&] {
    while (own < kUpdates) {
      if (cell.take()) cell.mark_observed();
      if (cell.submit(number.field(), own + 1)) {
        ++own;
      } else {
        ++busy;
      }
    }
  });
  std::uint64_t outside = 0;
  for (std::int64_t each = 1; each <= static_cast<std::int64_t>(kUpdates); ++each) {
    const std::vector<ParamAssignment> batch{{"negative", each}};
    outside += cell.update(batch, {}).status == ParamUpdateStatus::kAccepted;
  }
  lane.join();
  CHECK(outside == kUpdates);
  static_cast<void>(cell.take());
  CHECK(cell.view().generation == 2 * kUpdates);
  CHECK(cell.view().as<Correlated>().number == kUpdates);
  CHECK(cell.view().as<Correlated>().negative == static_cast<std::int64_t>(kUpdates));
}
