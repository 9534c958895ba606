// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/event_pool.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "device_under_test.hpp"

// What a pool does on each device is in event_conformance.hpp; that no interleaving lends an event
// twice, in free_indices_test.cpp.

namespace weftline::testing {

TEST_CASE("threads that share a pool of events never hold the same one, and lose none") {
  Workbench bench(must(open_device({DeviceKind::kEmulated, 0})));
  constexpr std::uint32_t kEvents = 3;
  constexpr int kThreads = 4;
  constexpr int kRounds = 300'000;
  EventPool pool = must(EventPool::create(bench.device(), kEvents));
  std::vector<CUevent_st*> handles;
  {
    std::vector<PooledEvent> all;
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      all.push_back(pool.take());
      handles.push_back(all.back().ref().get());
    }
  }
  std::vector<std::atomic<int>> holders(kEvents);
  std::atomic<int> shared{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        const auto holders_of = [&](const PooledEvent& event) -> std::atomic<int>& {
          const auto which = std::find(handles.begin(), handles.end(), event.ref().get());
          return holders[static_cast<std::size_t>(which - handles.begin())];
        };
        for (int round = 0; round < kRounds; ++round) {
          // In this order: the top of the pool goes and comes back while what was below it is out.
          PooledEvent first = pool.take();
          const PooledEvent second = pool.take();
          shared += first && ++holders_of(first) != 1 ? 1 : 0;
          shared += second && ++holders_of(second) != 1 ? 1 : 0;
          if (first) {
            --holders_of(first);
            first = PooledEvent{};
          }
          if (second) {
            shared += holders_of(second) != 1 ? 1 : 0;
            --holders_of(second);
          }
        }
      });
    }
  }
  CHECK(shared == 0);
  std::vector<PooledEvent> all;
  for (std::uint32_t i = 0; i < kEvents; ++i) {
    all.push_back(pool.take());
    CHECK(all.back());
  }
}

}  // namespace weftline::testing
