// SPDX-License-Identifier: Apache-2.0
// One round of a host tensor through its pool, against the least that such a round can cost: a pop
// from and a push to a bare lock-free list, and two atomic changes of a count. Takes
// `--weftline-json FILE [--quick]`; see ci/bench.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "weftline/tensor/publication.hpp"
#include "weftline/tensor/tensor_pool.hpp"
#include "weftline/testing/bench_main.hpp"

namespace weftline {
namespace {

constexpr std::array<std::int64_t, 3> kShape{4, 4, 4};
constexpr TensorLoanRequest kRequest{.shape = kShape, .dtype = {kDLUInt, 8, 1}};
constexpr std::uint32_t kSlots = 4;

/// The compiler has to assume that everything behind `pointer` is read and written here.
void touch(void* pointer) { asm volatile("" : : "r"(pointer) : "memory"); }

/// The floor: what a pool of any kind has to do for one round, and nothing else. A lock-free list
/// of free slots, since handles drop on any thread: its head carries a count of pops against ABA.
/// One pop, one push, and two atomic changes of a count of references. Four locked instructions,
/// which is most of its time.
class BarePool {
 public:
  BarePool() {
    for (std::uint32_t index = 0; index < kSlots; ++index) push(index);
  }
  void round() {
    const std::uint32_t index = pop();
    std::atomic<std::uint32_t>& references = slots_[index].references;
    references.fetch_add(1, std::memory_order_relaxed);
    touch(&references);
    references.fetch_sub(1, std::memory_order_acq_rel);
    push(index);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> references{1};
    std::atomic<std::uint32_t> next{kNone};
  };
  struct Head {
    std::uint32_t index{kNone};
    std::uint32_t pops{0};
  };

  std::uint32_t pop() {
    Head head = head_.load(std::memory_order_acquire);
    while (!head_.compare_exchange_weak(
        head, {slots_[head.index].next.load(std::memory_order_relaxed), head.pops + 1},
        std::memory_order_acquire)) {
    }
    return head.index;
  }
  void push(std::uint32_t index) {
    Head head = head_.load(std::memory_order_relaxed);
    do {
      slots_[index].next.store(head.index, std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, {index, head.pops}, std::memory_order_release,
                                          std::memory_order_relaxed));
  }
  std::array<Slot, kSlots> slots_{};
  alignas(64) std::atomic<Head> head_{};
};

/// The same with a plain list, which only one thread may use: less than any pool can do with, for
/// the note.
class PlainPool {
 public:
  PlainPool() {
    for (Slot& slot : slots_) push(slot);
  }
  void round() {
    Slot& slot = *std::exchange(free_, free_->next);
    slot.references.fetch_add(1, std::memory_order_relaxed);
    touch(&slot);
    slot.references.fetch_sub(1, std::memory_order_acq_rel);
    push(slot);
  }

 private:
  struct Slot {
    std::atomic<std::uint32_t> references{1};
    Slot* next{nullptr};
  };
  void push(Slot& slot) { slot.next = std::exchange(free_, &slot); }
  std::array<Slot, kSlots> slots_{};
  Slot* free_{nullptr};
};

void must(bool good) {
  if (!good) std::abort();
}

/// Allocate, write, commit, publish, receive, release; the received handle moves, as an edge moves
/// it to its only reader.
void pool_round(TensorPool& pool) {
  auto loan = pool.allocate(kRequest, {});
  must(loan.has_value());
  {
    auto guard = loan->write({});
    must(guard.has_value());
    touch(guard->data());
    must(std::move(*guard).commit().has_value());
  }
  auto published = publish(std::move(*loan));
  must(published.has_value());
  const Tensor received = std::move(*published);
  must(received.prepare_for_consumer({}).has_value());
  touch(const_cast<void*>(received.data()));
}

template <class Round>
double nanoseconds_per_round(int rounds, Round&& round) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) round();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / rounds;
}

std::vector<testing::BenchRow> measure(bool quick) {
  const int rounds = quick ? 100'000 : 1'000'000;
  const int repetitions = quick ? 5 : 15;
  auto pool = TensorPool::build({.name = "bench", .slot_bytes = 64, .slot_count = kSlots});
  must(pool.has_value());
  BarePool bare;
  PlainPool plain;
  std::vector<double> floors;
  std::vector<double> plain_floors;
  std::vector<double> values;
  // In turn, so that a drift of the machine's speed meets both.
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    floors.push_back(nanoseconds_per_round(rounds, [&] { bare.round(); }));
    plain_floors.push_back(nanoseconds_per_round(rounds, [&] { plain.round(); }));
    values.push_back(nanoseconds_per_round(rounds, [&] { pool_round(*pool); }));
  }
  char plain_floor[64];
  std::snprintf(plain_floor, sizeof plain_floor, "%.1f", testing::median(plain_floors));
  return {
      {.name = "tensor-pool host tensor round",
       .unit = "ns",
       .value = testing::median(values),
       .floor = testing::median(floors),
       .target = "ratio <= 3",
       .note = "allocate, write, commit, publish, receive, release of a host tensor, "
               "uncontended; floor: pop and push of a lock-free list with two atomic changes of "
               "a count (with a plain list, for one thread only: " +
               std::string(plain_floor) + " ns); medians of " + std::to_string(repetitions) +
               " in turn"}};
}

}  // namespace
}  // namespace weftline

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, weftline::measure);
}
