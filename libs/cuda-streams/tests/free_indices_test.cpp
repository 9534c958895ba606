// SPDX-License-Identifier: Apache-2.0
#include "free_indices.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace weftline::cuda_streams {
namespace {

std::vector<std::uint32_t> take_all(FreeIndices& indices) {
  std::vector<std::uint32_t> taken;
  while (const auto index = indices.take()) taken.push_back(*index);
  return taken;
}

/// One thread of a program in steps: it takes two, gives the first one back, and takes one more.
class Actor {
 public:
  explicit Actor(FreeIndices& indices) : indices_(indices) {}

  [[nodiscard]] bool over() const { return takes_ == 3; }
  void step() {
    if (takes_ == 2 && held_.size() == 2) {
      indices_.give_back(held_.front());
      held_.erase(held_.begin());
    } else if (!look_) {
      look_ = indices_.look();
    } else if (look_->empty() || indices_.take(*look_)) {
      if (!look_->empty()) held_.push_back(look_->index());
      look_.reset();
      ++takes_;
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& held() const { return held_; }

 private:
  FreeIndices& indices_;
  std::vector<std::uint32_t> held_{};
  std::optional<FreeIndices::Look> look_{};
  int takes_{0};
};

}  // namespace

TEST_CASE("indices are taken from the first on, and the last one given back goes first") {
  FreeIndices indices(3);
  CHECK(take_all(indices) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK_FALSE(indices.take());
  indices.give_back(2);
  indices.give_back(0);
  CHECK(take_all(indices) == std::vector<std::uint32_t>{0, 2});
  FreeIndices none(0);
  CHECK_FALSE(none.take());
}

TEST_CASE("a look is worth nothing once its index was out, though it is on top again") {
  FreeIndices indices(3);
  FreeIndices::Look look = indices.look();
  REQUIRE(look.index() == 0);
  // What the look has seen below 0 is 1, which stays out.
  CHECK(indices.take() == 0U);
  CHECK(indices.take() == 1U);
  indices.give_back(0);
  CHECK_FALSE(indices.take(look));
  CHECK(look.index() == 0);  // it has looked again
  CHECK(indices.take(look));
  CHECK(take_all(indices) == std::vector<std::uint32_t>{2});
}

TEST_CASE("in every order of the steps of two threads no index is taken twice, and none is lost") {
  constexpr int kSteps = 18;  // decided by the schedule; then one after the other to the end
  constexpr std::uint32_t kIndices = 3;
  int twice = 0;
  int lost = 0;
  for (std::uint32_t schedule = 0; schedule < (std::uint32_t{1} << kSteps); ++schedule) {
    FreeIndices indices(kIndices);
    std::array<Actor, 2> actors{Actor(indices), Actor(indices)};
    for (int step = 0; !actors[0].over() || !actors[1].over(); ++step) {
      const std::size_t chosen = step < kSteps ? schedule >> step & 1 : 0;
      Actor& actor = actors[actors[chosen].over() ? 1 - chosen : chosen];
      actor.step();
      for (const std::uint32_t index : actors[0].held()) {
        const auto& others = actors[1].held();
        twice += std::find(others.begin(), others.end(), index) != others.end() ? 1 : 0;
      }
      if (twice != 0) break;
    }
    if (twice != 0) {
      INFO("schedule " << schedule);
      REQUIRE(twice == 0);
    }
    for (const Actor& actor : actors) {
      for (const std::uint32_t index : actor.held()) indices.give_back(index);
    }
    auto all = take_all(indices);
    std::sort(all.begin(), all.end());
    lost += all == std::vector<std::uint32_t>{0, 1, 2} ? 0 : 1;
  }
  CHECK(twice == 0);
  CHECK(lost == 0);
}

}  // namespace weftline::cuda_streams
