// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {
namespace {

constexpr std::array<std::int64_t, 1> kShape{16};
constexpr TensorLoanRequest kRequest{.shape = kShape, .dtype = {kDLUInt, 8, 1}};
constexpr std::uint32_t kFirstArm = 7;
constexpr std::uint32_t kElsewhere = 3;

TensorPool pool_of(std::uint32_t slots, std::uint32_t arms) {
  auto pool = TensorPool::build({.name = "camera.out",
                                 .slot_bytes = 16,
                                 .slot_count = slots,
                                 .first_arm = kFirstArm,
                                 .arm_count = arms});
  REQUIRE(pool.has_value());
  return std::move(*pool);
}

TensorOutputLoan loan_of(TensorPool& pool) {
  auto loan = pool.allocate(kRequest, {});
  REQUIRE(loan.has_value());
  return std::move(*loan);
}

Tensor published(TensorOutputLoan loan) {
  REQUIRE(loan.write_host_and_commit([](void*, std::uint64_t) {}).has_value());
  auto tensor = publish(std::move(loan));
  REQUIRE(tensor.has_value());
  return std::move(*tensor);
}

}  // namespace

TEST_CASE("a slot that is out is held by the producer since the loan, then by those who noted it") {
  TensorPool pool = pool_of(2, 2);
  CHECK(pool.held_slots().empty());
  TensorOutputLoan loan = loan_of(pool);
  loan.note_loaned(100);
  REQUIRE(pool.held_slots().size() == 1);
  HeldSlot held = pool.held_slots()[0];
  CHECK(held.slot == 0);
  CHECK(held.state == HeldSlot::State::kLoaned);
  CHECK(held.handles == 1);
  CHECK(held.loaned_ns == 100);
  CHECK(held.arms.empty());

  const Tensor first = published(std::move(loan));
  first.note_queued(kFirstArm, 200);
  std::optional<Tensor> second(first);
  second->note_queued(kFirstArm + 1, 201);
  second->note_taken(kFirstArm + 1);
  held = pool.held_slots().at(0);
  CHECK(held.state == HeldSlot::State::kPublished);
  CHECK(held.handles == 2);
  REQUIRE(held.arms.size() == 2);
  CHECK(held.arms[0].arm == kFirstArm);
  CHECK_FALSE(held.arms[0].taken);
  CHECK(held.arms[0].since_ns == 200);
  CHECK(held.arms[1].arm == kFirstArm + 1);
  CHECK(held.arms[1].taken);
  CHECK(held.arms[1].since_ns == 201);

  second.reset();
  CHECK(pool.held_slots().at(0).handles == 1);
  first.note_gone(kFirstArm);
  CHECK(pool.held_slots().at(0).arms.size() == 1);
}

TEST_CASE("a tensor that was passed on is seen on the last arm of another output") {
  TensorPool pool = pool_of(1, 1);
  const Tensor tensor = published(loan_of(pool));
  tensor.note_queued(kElsewhere, -5);
  tensor.note_queued(kElsewhere + 40, -4);
  tensor.note_taken(kElsewhere + 40);
  const HeldSlot held = pool.held_slots().at(0);
  REQUIRE(held.arms.size() == 1);
  CHECK(held.arms[0].arm == kElsewhere + 40);
  CHECK(held.arms[0].taken);
  CHECK(held.arms[0].since_ns == -4);
}

TEST_CASE("a new life of a slot has none of the notes of the one before") {
  TensorPool pool = pool_of(1, 1);
  {
    const Tensor tensor = published(loan_of(pool));
    tensor.note_queued(kFirstArm, 1);
    tensor.note_queued(kElsewhere, 1);
  }
  CHECK(pool.held_slots().empty());
  const TensorOutputLoan loan = loan_of(pool);
  CHECK(pool.held_slots().at(0).arms.empty());
}

TEST_CASE("without arms nobody keeps notes, and slots are seen all the same") {
  TensorPool pool = pool_of(1, 0);
  TensorOutputLoan loan = loan_of(pool);
  loan.note_loaned(5);
  const Tensor tensor = published(std::move(loan));
  tensor.note_queued(kFirstArm, 1);
  tensor.note_taken(kFirstArm);
  REQUIRE(pool.held_slots().size() == 1);
  CHECK(pool.held_slots()[0].arms.empty());
  CHECK(pool.held_slots()[0].loaned_ns == 0);
  Tensor().note_queued(0, 1);
  Tensor().note_taken(0);
}

TEST_CASE("slots that have come back are counted when the pool sees them") {
  TensorPool pool = pool_of(1, 1);
  CHECK(pool.returns() == 0);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    static_cast<void>(published(loan_of(pool)));
    CHECK(pool.has_free_slot());
    CHECK(pool.returns() == round);
  }
  CHECK(pool.usage().returns == 3);
}

}  // namespace weftline
