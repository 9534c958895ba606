// SPDX-License-Identifier: Apache-2.0
// From one lane to another: per sample, from just before emit() in the one to the first line of
// compute() in the other. The floors stamp and read the clock at the same places.
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "bench_graph.hpp"

namespace weftline::bench {
namespace {

/// What one series of samples gave: how long each took, and how often the receiving thread slept.
struct Series {
  std::vector<double> latencies_ns{};
  std::int64_t sleeps{0};
};

std::int64_t sleeps_of_this_thread() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

class Stamper final : public Operator<> {
 public:
  Stamper(std::chrono::nanoseconds gap, std::uint64_t count) : gap_(gap), left_(count) {}
  Output<std::int64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnClock{gap_}); }
  expected<void, Error> compute(ExecutionContext&) override {
    if (left_ == 0) return out.close();
    auto emitted = out.emit(now_ns());
    if (emitted) --left_;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }

 private:
  const std::chrono::nanoseconds gap_;
  std::uint64_t left_;
};

class Reader final : public Operator<> {
 public:
  explicit Reader(std::shared_ptr<Series> series) : series_(std::move(series)) {}
  Input<std::int64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    const std::int64_t now = now_ns();
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    auto& latencies = series_->latencies_ns;
    if (latencies.empty()) first_sleeps_ = sleeps_of_this_thread();
    latencies.push_back(static_cast<double>(now - sample.data));
    if (latencies.size() == latencies.capacity()) {
      series_->sleeps = sleeps_of_this_thread() - first_sleeps_;
    }
    return {};
  }

 private:
  const std::shared_ptr<Series> series_;
  std::int64_t first_sleeps_{0};
};

Series lanes_series(WakeMode mode, std::chrono::nanoseconds gap, std::uint64_t samples) {
  Graph graph{"crossing"};
  const auto series = std::make_shared<Series>();
  series->latencies_ns.reserve(samples);
  const auto source = graph.op<Stamper>("source", gap, samples);
  const auto sink = graph.op<Reader>("sink", series);
  graph.add_flow(source->out, sink->in, {.queue_depth = 8});
  graph.partition("from").add(source);
  graph.partition("to").add(sink);
  CompileOptions options;
  place(options, "from", mode, 0, 2);
  place(options, "to", mode, 1, 2);
  must_complete(run_async(compiled(graph, options)));
  return *series;
}

/// One word in a cache line of its own, which the one thread writes and the other waits for.
struct alignas(64) Line {
  std::atomic<std::int64_t> word{0};
};

/// Runs `write` on this thread, and `read` on another; each on its CPU where there are two.
template <class Write, class Read>
void in_two_threads(Write write, Read read) {
  const auto settle = [](std::uint32_t number) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    settle_on_cpu(number);
  };
  std::thread reader([&] {
    settle(1);
    read();
  });
  std::thread writer([&] {
    settle(0);
    write();
  });
  writer.join();
  reader.join();
}

Series ping_series(std::chrono::nanoseconds gap, std::uint64_t samples) {
  Line line;
  Series series;
  series.latencies_ns.reserve(samples);
  in_two_threads(
      [&] {
        std::int64_t next = now_ns();
        for (std::uint64_t sample = 0; sample < samples; ++sample) {
          next += gap.count();
          while (now_ns() < next) {
          }
          line.word.store(now_ns(), std::memory_order_release);
        }
        next += gap.count();
        while (now_ns() < next) {
        }
        line.word.store(-1, std::memory_order_release);
      },
      [&] {
        std::int64_t last = 0;
        for (;;) {
          const std::int64_t sent = line.word.load(std::memory_order_acquire);
          if (sent == last) continue;
          if (sent < 0) return;
          series.latencies_ns.push_back(static_cast<double>(now_ns() - sent));
          last = sent;
        }
      });
  return series;
}

/// The word's low half is what the reader sleeps on: it changes with each sample.
Series futex_series(std::chrono::nanoseconds gap, std::uint64_t samples) {
  struct alignas(64) Futex {
    std::atomic<std::uint32_t> turn{0};
    std::int64_t sent{0};
  } futex;
  Series series;
  series.latencies_ns.reserve(samples);
  in_two_threads(
      [&] {
        std::atomic<std::uint32_t> nobody{0};
        std::int64_t next = now_ns();
        for (std::uint64_t sample = 0; sample < samples; ++sample) {
          // As a lane waits for its tick, and as it leaves out those that it has missed.
          next = std::max(next + gap.count(), now_ns());
          const timespec until{next / 1'000'000'000, next % 1'000'000'000};
          syscall(SYS_futex, &nobody, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &until, nullptr,
                  FUTEX_BITSET_MATCH_ANY);
          futex.sent = now_ns();
          futex.turn.fetch_add(1, std::memory_order_release);
          syscall(SYS_futex, &futex.turn, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
        }
      },
      [&] {
        const std::int64_t first_sleeps = sleeps_of_this_thread();
        std::uint32_t seen = 0;
        while (series.latencies_ns.size() < samples) {
          if (futex.turn.load(std::memory_order_acquire) == seen) {
            syscall(SYS_futex, &futex.turn, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, nullptr, nullptr,
                    0);
            continue;
          }
          const std::int64_t now = now_ns();
          const std::uint32_t turn = futex.turn.load(std::memory_order_acquire);
          for (; seen != turn; ++seen) {
            series.latencies_ns.push_back(static_cast<double>(now - futex.sent));
          }
        }
        series.sleeps = sleeps_of_this_thread() - first_sleeps;
      });
  return series;
}

BenchRow row_of(std::string name, const Series& measured, const Series& floor, std::string target,
                const std::string& floor_text) {
  const Percentiles lanes = percentiles_of(measured.latencies_ns);
  const Percentiles least = percentiles_of(floor.latencies_ns);
  return {.name = "plan-runtime: " + std::move(name),
          .unit = "ns",
          .value = lanes.p50,
          .floor = least.p50,
          .target = std::move(target),
          .note = "per sample, one way, p50; " + text_of(lanes, "ns") + "; floor: " + floor_text +
                  ", " + text_of(least, "ns") + "; " + placement_note(2)};
}

void append(Series& to, const Series& from) {
  to.latencies_ns.insert(to.latencies_ns.end(), from.latencies_ns.begin(), from.latencies_ns.end());
  to.sleeps += from.sleeps;
}

struct Gap {
  const char* name;
  std::chrono::microseconds length;
  std::uint64_t samples;
  std::uint64_t quick_samples;
};

}  // namespace

std::vector<BenchRow> measure_crossings(bool quick) {
  constexpr int kRepetitions = 4;  // in turn, so that a drift of the machine's speed meets both
  std::vector<BenchRow> rows;
  Series lanes;
  Series floor;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    constexpr std::chrono::microseconds kGap{5};
    const std::uint64_t samples = quick ? 5'000 : 50'000;
    append(lanes, lanes_series(WakeMode::kBusyPoll, kGap, samples));
    append(floor, ping_series(kGap, samples));
  }
  rows.push_back(row_of("hop between lanes, polling, every 5 us", lanes, floor, "ratio <= 2",
                        "a cache line from thread to thread"));

  constexpr std::array<Gap, 4> kGaps{Gap{"10 us", std::chrono::microseconds(10), 5'000, 500},
                                     Gap{"100 us", std::chrono::microseconds(100), 5'000, 500},
                                     Gap{"1 ms", std::chrono::microseconds(1'000), 1'000, 100},
                                     Gap{"10 ms", std::chrono::microseconds(10'000), 200, 10}};
  for (const Gap& gap : kGaps) {
    const std::uint64_t samples = quick ? gap.quick_samples : gap.samples;
    lanes = floor = Series{};
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      append(lanes, lanes_series(WakeMode::kPark, gap.length, samples));
      append(floor, futex_series(gap.length, samples));
    }
    BenchRow row = row_of("hop between lanes, parked, every " + std::string(gap.name), lanes, floor,
                          "ratio <= 1.25", "a bare futex");
    char sleeps[80];
    std::snprintf(
        sleeps, sizeof sleeps, "; voluntary switches a sample: %.2f, floor %.2f",
        static_cast<double>(lanes.sleeps) / static_cast<double>(lanes.latencies_ns.size()),
        static_cast<double>(floor.sleeps) / static_cast<double>(floor.latencies_ns.size()));
    row.note += sleeps;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weftline::bench
