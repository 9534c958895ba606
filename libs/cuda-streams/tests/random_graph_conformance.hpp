// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "device_under_test.hpp"

// The part of the conformance suite that makes up its programs: threads queue random tasks, records
// and waits on streams of two devices, and a reference that knows only CUDA's rules says which task
// must end before which begins.

namespace weftline::testing {

struct RandomGraphSize {
  std::size_t threads{4};
  std::size_t streams_per_thread{3};
  std::size_t events{6};
  std::size_t steps_per_thread{150};
};

/// The reference. A step follows the one before it on its stream; a wait follows the last record of
/// its event, too.
class RandomGraph {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit RandomGraph(std::size_t steps) : steps_(steps) {}

  /// Called in an order in which every predecessor comes first; thread-safe under that rule.
  void add(std::size_t step, std::size_t before, std::size_t also_before) {
    steps_[step].before = before;
    steps_[step].also_before = also_before;
    steps_[step].stamp = ++stamps_;
  }
  void run_task(std::size_t step) noexcept {
    steps_[step].began = ++clock_;
    steps_[step].ended = ++clock_;
  }

  /// The number of pairs that ran against the rules.
  [[nodiscard]] std::size_t violations() {
    std::vector<std::size_t> order(steps_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return steps_[a].stamp < steps_[b].stamp; });
    std::size_t count = 0;
    for (const std::size_t index : order) {
      Step& step = steps_[index];
      const std::uint64_t earliest = std::max(end_of(step.before), end_of(step.also_before));
      if (step.began != 0 && step.began < earliest) {
        ++count;
      }
      step.latest_end = std::max(earliest, step.ended);
    }
    return count;
  }
  [[nodiscard]] std::size_t tasks_run() const {
    return static_cast<std::size_t>(std::count_if(
        steps_.begin(), steps_.end(), [](const Step& step) { return step.ended != 0; }));
  }

 private:
  struct Step {
    std::size_t before{kNone};
    std::size_t also_before{kNone};
    std::uint64_t stamp{0};
    std::uint64_t began{0};  // 0: not a task
    std::uint64_t ended{0};
    std::uint64_t latest_end{0};  // of the step and all that it follows
  };
  [[nodiscard]] std::uint64_t end_of(std::size_t step) const {
    return step == kNone ? 0 : steps_[step].latest_end;
  }

  std::vector<Step> steps_;
  std::atomic<std::uint64_t> stamps_{0};
  std::atomic<std::uint64_t> clock_{0};
};

/// An event with the step that recorded it last; the mutex makes device and reference agree on it.
struct SharedEvent {
  Device* device;
  EventRef event;
  std::mutex mutex{};
  std::size_t last_record{RandomGraph::kNone};
};

struct OwnStream {
  Device* device;
  StreamRef stream;
  std::byte* scratch;  // two bytes of its own
  std::size_t last_step{RandomGraph::kNone};
};

/// One thread's part: it alone uses `streams`. Returns how many tasks it queued; counts refusals.
inline std::size_t queue_random_steps(RandomGraph& graph, std::vector<OwnStream>& streams,
                                      std::deque<SharedEvent>& events, std::size_t first_step,
                                      std::size_t steps, std::uint32_t seed,
                                      std::atomic<std::size_t>& refused) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t below) { return random() % below; };
  std::size_t tasks = 0;
  for (std::size_t step = first_step; step < first_step + steps; ++step) {
    OwnStream& own = streams[pick(streams.size())];
    Device& device = *own.device;
    SharedEvent& shared = events[pick(events.size())];
    bool queued = true;
    switch (pick(8)) {
      case 0:
      case 1: {
        const std::lock_guard lock(shared.mutex);
        queued = device.wait(own.stream, shared.event).has_value();
        graph.add(step, own.last_step, shared.last_record);
        break;
      }
      case 2:
      case 3: {
        const std::lock_guard lock(shared.mutex);
        if (shared.device == &device) {
          queued = device.record(shared.event, own.stream).has_value();
          shared.last_record = step;
        }
        graph.add(step, own.last_step, RandomGraph::kNone);
        break;
      }
      case 4:
        queued = device.fill(own.stream, own.scratch, std::byte{1}, 1).has_value() &&
                 device.copy(own.stream, own.scratch + 1, own.scratch, 1).has_value();
        graph.add(step, own.last_step, RandomGraph::kNone);
        break;
      default:
        graph.add(step, own.last_step, RandomGraph::kNone);
        queued =
            device.launch_host(own.stream, [to = &graph, step] { to->run_task(step); }).has_value();
        ++tasks;
    }
    own.last_step = step;
    refused += queued ? 0U : 1U;
  }
  return tasks;
}

TEST_CASE("random programs of many threads run in an order that the events allow") {
  const auto subject = any_device_under_test();
  const std::uint32_t seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
  CAPTURE(subject.name, seed);
  Workbench here(subject);
  Workbench there(open_or_skip(subject.open_other));
  constexpr RandomGraphSize kSize{};
  RandomGraph graph(kSize.threads * kSize.steps_per_thread);

  std::deque<SharedEvent> events;
  for (std::size_t i = 0; i < kSize.events; ++i) {
    Workbench& bench = i % 2 == 0 ? here : there;
    events.emplace_back(&bench.device(), bench.event());
  }
  std::vector<std::vector<OwnStream>> streams(kSize.threads);
  for (auto& own : streams) {
    for (std::size_t i = 0; i < kSize.streams_per_thread; ++i) {
      Workbench& bench = i % 3 == 2 ? there : here;
      own.push_back({&bench.device(), bench.stream(), bench.pinned(2).data()});
    }
  }

  std::atomic<std::size_t> tasks{0};
  std::atomic<std::size_t> refused{0};
  std::atomic<bool> queuing{true};
  {
    std::jthread poller([&] {
      while (queuing) {
        for (const SharedEvent& shared : events) {
          refused += shared.device->is_complete(shared.event).has_value() ? 0U : 1U;
        }
      }
    });
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kSize.threads; ++t) {
      threads.emplace_back([&, t] {
        tasks += queue_random_steps(graph, streams[t], events, t * kSize.steps_per_thread,
                                    kSize.steps_per_thread,
                                    seed * 1000 + static_cast<std::uint32_t>(t), refused);
      });
    }
    threads.clear();  // joins
    queuing = false;
  }
  for (auto& own : streams) {
    for (const OwnStream& stream : own) {
      (stream.device == &here.device() ? here : there).finish(stream.stream);
    }
  }
  CHECK(refused == 0);
  CHECK(graph.tasks_run() == tasks);
  CHECK(graph.violations() == 0);
}

}  // namespace weftline::testing
