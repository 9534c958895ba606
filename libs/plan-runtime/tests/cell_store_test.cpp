// SPDX-License-Identifier: Apache-2.0
#include "cell_store.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "edge_queue.hpp"
#include "sample_cache.hpp"

using namespace weftline;
using runtime::CellStore;
using runtime::EdgeQueue;
using runtime::SampleCache;

namespace {

/// Wants more than a cache line.
template <std::size_t kAlignment>
struct alignas(kAlignment) Wide {
  std::uint64_t value{0};
};

template <class T>
constexpr PayloadOps kOpsOf{
    .size = sizeof(T),
    .alignment = alignof(T),
    .copy_construct = [](void* to,
                         const void* from) noexcept { ::new (to) T(*static_cast<const T*>(from)); },
    .move_construct = [](void* to, void* from) noexcept { ::new (to) T(*static_cast<T*>(from)); },
    .move_assign = [](void* to,
                      void* from) noexcept { *static_cast<T*>(to) = *static_cast<T*>(from); },
    .destroy = [](void*) noexcept {}};

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

// Several at once: the heap may align one by luck.
constexpr std::size_t kStores = 16;

TEMPLATE_TEST_CASE("values in a queue and in a cache lie as aligned as their type asks", "",
                   Wide<8>, Wide<64>, Wide<128>, Wide<1024>) {
  const PayloadOps& ops = kOpsOf<TestType>;
  for (const auto policy : {QueuePolicy::kBlocking, QueuePolicy::kDropOldest}) {
    for (const bool stamped : {false, true}) {
      std::vector<std::unique_ptr<EdgeQueue>> queues;
      for (std::size_t index = 0; index < kStores; ++index) {
        queues.push_back(std::make_unique<EdgeQueue>(
            EdgeQueue::Options{.ops = &ops, .policy = policy, .depth = 3, .stamped = stamped}));
        EdgeQueue& queue = *queues.back();
        for (std::uint64_t value = 0; value < 3; ++value) {
          TestType made{value};
          queue.push(&made, true, [] { return SampleMetadata{}; });
        }
        for (std::uint64_t value = 0; value < 3; ++value) {
          const EdgeQueue::Front front = queue.front();
          CHECK(is_aligned(front.value, alignof(TestType)));
          CHECK(static_cast<const TestType*>(front.value)->value == value);
          queue.pop();
        }
      }
    }
  }
  std::vector<std::unique_ptr<SampleCache>> caches;
  for (std::size_t index = 0; index < kStores; ++index) {
    caches.push_back(std::make_unique<SampleCache>(ops, 3));
    for (std::uint64_t value = 0; value < 3; ++value) {
      TestType made{value};
      caches.back()->push_back(&made, true, {});
      const void* const held = caches.back()->value(static_cast<std::uint32_t>(value));
      CHECK(is_aligned(held, alignof(TestType)));
      CHECK(static_cast<const TestType*>(held)->value == value);
    }
  }
}

TEST_CASE("the parts of a cell do not overlap, nor do cells") {
  for (const bool stamped : {false, true}) {
    const CellStore store(payload_ops<std::uint64_t>(), 3, stamped);
    for (std::uint32_t number = 0; number < 3; ++number) {
      const auto* const begin = store.cell(number);
      CHECK(static_cast<const void*>(store.metadata(number)) == begin);
      const auto* const value = static_cast<const std::byte*>(store.value(number));
      const auto* const stamp = reinterpret_cast<const std::byte*>(store.stamp(number));
      CHECK(stamp >= begin + sizeof(SampleMetadata));
      CHECK(value >= (stamped ? stamp + sizeof(runtime::FlowStamp) : stamp));
      CHECK(value + sizeof(std::uint64_t) <= begin + store.stride());
      if (number > 0) CHECK(begin == store.cell(number - 1) + store.stride());
    }
  }
}
