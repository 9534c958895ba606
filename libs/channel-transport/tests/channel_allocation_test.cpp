// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <new>

#include "channel_fixture.hpp"

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

// For the whole program; not inlined: gcc would take the pair for a mismatch of new and free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const data = std::malloc(bytes != 0 ? bytes : 1)) return data;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }

namespace weftline::test {

namespace {

/// What this thread allocates; the service thread may.
template <class Step>
std::uint64_t allocations_of(Step step) {
  const std::uint64_t before = allocations;
  step();
  return allocations - before;
}

}  // namespace

TEST_CASE("publish and receive allocate nothing, with an empty, a filling and a full link") {
  const TemporaryDirectory directory;
  const bool lossy = GENERATE(false, true);
  const bool callbacks = GENERATE(false, true);
  const auto catalog = catalog_with<std::uint32_t>(lossy ? drop_oldest() : blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes published;
  Changes received;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
  if (callbacks) {
    published.follow(publisher);
    received.follow(subscriber);
  }
  std::uint32_t frames = 0;
  std::uint32_t refused = 0;
  CHECK(allocations_of([&] {
          for (int round = 0; round < 100; ++round) {
            frames += receive(subscriber).has_value() ? 100U : 0U;  // the link is empty
            for (std::uint32_t n = 0; n < kDepth + 2; ++n) {
              refused += publish(publisher, n).has_value() ? 0U : 1U;
            }
            refused += publisher.has_room() == lossy ? 0U : 1'000U;
            while (receive(subscriber).has_value()) ++frames;
          }
        }) == 0);
  CHECK(frames == 100 * kDepth);
  CHECK(refused == (lossy ? 0U : 200U));
  CHECK(publisher.dropped() == (lossy ? 200U : 0U));
}

TEST_CASE("the typed calls allocate nothing, waits and a missing peer included") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<Pose>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto publisher = make_publisher<Pose>(runtime, catalog);
  bool refused = false;
  CHECK(allocations_of([&] { refused = !publisher.emit({}).has_value(); }) == 0);
  CHECK(refused);
  auto subscriber = make_subscriber<Pose>(runtime, catalog);
  await_subscriber(publisher);
  std::uint32_t frames = 0;
  CHECK(allocations_of([&] {
          for (int round = 0; round < 100; ++round) {
            frames += subscriber.wait_for_sample(already()).has_value() ? 100U : 0U;
            frames += publisher.emit({}).has_value() ? 1U : 0U;
            frames += subscriber.wait_and_receive_sample(watchdog()).has_value() ? 1U : 0U;
          }
        }) == 0);
  CHECK(frames == 200);
}

}  // namespace weftline::test
