// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <random>
#include <vector>

#include "weftline/cuda/open_device.hpp"
#include "weftline/cuda/stream_order_checker.hpp"
#include "weftline/testing/outcomes.hpp"

// Random programs of device calls, and a reference that forgets nothing: for each use of memory the
// set of all uses that come before it. The checker must stay silent until the first use that races
// with any earlier one, and report that one.

namespace weftline::testing {
namespace {

constexpr std::size_t kSteps = 120;
constexpr std::size_t kStreams = 4;
constexpr std::size_t kEvents = 3;
constexpr std::size_t kWords = 2;
constexpr std::size_t kOwners = 3;
constexpr std::size_t kCells = 6;
constexpr std::uint64_t kCellBytes = 32;
constexpr std::size_t kHost = kStreams;

using Before = std::bitset<kSteps>;

/// Which uses come before which, by the rules alone.
class Reference {
 public:
  struct Range {
    std::size_t first;
    std::size_t last;
  };

  /// What comes before the next thing that this actor does. A stream's work is queued by the host.
  [[nodiscard]] Before before(std::size_t actor) const { return known_[actor] | known_[kHost]; }
  void learn(std::size_t actor, const Before& what) { known_[actor] |= what; }

  /// Whether it races with an earlier use.
  [[nodiscard]] bool use(std::size_t actor, bool writes, Range range, bool open) {
    const Before now = before(actor);
    const bool races = std::any_of(uses_.begin(), uses_.end(), [&](const Use& other) {
      const bool conflict = (writes || other.writes) && other.range.first <= range.last &&
                            range.first <= other.range.last;
      return conflict && other.actor != actor && (other.open || !now[other.number]);
    });
    uses_.push_back({uses_.size(), actor, writes, range, open});
    if (!open) known_[actor].set(uses_.back().number);
    return races;
  }
  [[nodiscard]] std::size_t last() const { return uses_.size() - 1; }
  void close(std::size_t number) {
    uses_[number].open = false;
    known_[uses_[number].actor].set(number);
  }

 private:
  struct Use {
    std::size_t number;
    std::size_t actor;
    bool writes;
    Range range;
    bool open;
  };
  std::array<Before, kStreams + 1> known_{};
  std::vector<Use> uses_{};
};

/// One program on one device, until its first race or its end.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    for (Stream& stream : streams_) stream = must(device_->create_stream({}));
    for (Event& event : events_) event = must(device_->create_event());
    for (std::size_t i = 0; i < kWords; ++i) {
      auto* const place = reinterpret_cast<std::uint64_t*>(page_.data()) + i;
      *place = 0;
      words_[i] = must(must(device_->fence_words())->word(place));
    }
  }
  ~Program() {
    for (const Stream& stream : streams_) must(device_->synchronize(stream.ref()));
  }

  /// Whether the program came to a race. The checker has to agree at each step.
  bool run() {
    for (std::size_t step = 0; step < kSteps; ++step) {
      const bool races = make_step();
      CAPTURE(step);
      if (races != (checker_->report_count() != 0)) {
        for (const auto& report : checker_->take_reports()) UNSCOPED_INFO(report.to_string());
        FAIL("the reference says " << (races ? "race" : "no race"));
      }
      if (races) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }

  bool make_step() {
    const std::size_t s = below(kStreams);
    const StreamRef stream = streams_[s].ref();
    switch (below(12)) {
      case 0:
      case 1:
        return step_of(s, true);
      case 2:
      case 3:
      case 4:
        return step_of(s, false);
      case 5:
      case 6: {
        const std::size_t e = below(kEvents);
        must(device_->record(events_[e].ref(), stream));
        recorded_[e] = reference_.before(s);
        return false;
      }
      case 7:
      case 8: {
        const std::size_t e = below(kEvents);
        must(device_->wait(stream, events_[e].ref()));
        reference_.learn(s, recorded_[e]);
        return false;
      }
      case 9:
        return below(4) == 0 ? synchronize(s) : false;
      case 10: {
        const std::size_t w = below(kWords);
        FenceWords& words = *must(device_->fence_words());
        if (below(2) == 0) {  // always by the same stream, so that the word only grows
          must(words.write(streams_[w].ref(), words_[w], ++written_[w]));
          opened_[w] = reference_.before(w);
        } else if (written_[w] != 0) {
          must(words.wait(stream, words_[w], written_[w]));
          reference_.learn(s, opened_[w]);
        }
        return false;
      }
      default:
        return phase(below(kOwners), below(kStreams + 1));
    }
  }

  Reference::Range any_range() {
    const std::size_t first = below(kCells);
    return {first, std::min(first + below(2), kCells - 1)};
  }
  [[nodiscard]] MemoryAccess bytes_of(Reference::Range range) const {
    return {block_.data() + range.first * kCellBytes, (range.last - range.first + 1) * kCellBytes};
  }
  /// Most of what a careful program would do before a use on this actor; the rest is the race.
  void take_care(std::size_t actor) {
    for (std::size_t owner = 0; owner < kOwners; ++owner) {
      if (open_[owner] && below(8) != 0) end_phase(owner);
    }
    for (std::size_t other = 0; other < kStreams; ++other) {
      if (other != actor && below(30) != 0) follow(actor, other);
    }
  }
  void follow(std::size_t actor, std::size_t other) {
    const std::size_t e = below(kEvents);
    must(device_->record(events_[e].ref(), streams_[other].ref()));
    recorded_[e] = reference_.before(other);
    if (actor == kHost) {
      must(device_->synchronize(events_[e].ref()));
    } else {
      must(device_->wait(streams_[actor].ref(), events_[e].ref()));
    }
    reference_.learn(actor, recorded_[e]);
  }
  bool step_of(std::size_t s, bool writes) {
    take_care(s);
    const auto range = any_range();
    const MemoryAccess bytes = bytes_of(range);
    const std::span<const MemoryAccess> none{};
    const std::span<const MemoryAccess> some(&bytes, 1);
    device_->declare_step(streams_[s].ref(), writes ? none : some, writes ? some : none);
    return reference_.use(s, writes, range, false);
  }
  bool synchronize(std::size_t s) {
    if (below(2) == 0) {
      must(device_->synchronize(streams_[s].ref()));
      reference_.learn(kHost, reference_.before(s));
    } else {
      const std::size_t e = below(kEvents);
      must(device_->synchronize(events_[e].ref()));
      reference_.learn(kHost, recorded_[e]);
    }
    return false;
  }
  /// Ends the owner's phase, or begins one.
  bool phase(std::size_t owner, std::size_t actor) {
    if (open_[owner]) {
      end_phase(owner);
      return false;
    }
    take_care(actor);
    const auto range = any_range();
    const bool writes = below(2) == 0;
    checker_->begin_use(&open_[owner], actor == kHost ? StreamRef{} : streams_[actor].ref(),
                        writes ? MemoryUse::kWrite : MemoryUse::kRead, bytes_of(range), "phase");
    const bool races = reference_.use(actor, writes, range, true);
    open_[owner] = reference_.last();
    return races;
  }

  void end_phase(std::size_t owner) {
    checker_->end_uses(&open_[owner]);
    reference_.close(*open_[owner]);
    open_[owner].reset();
  }

  std::mt19937_64 random_;
  const std::shared_ptr<StreamOrderChecker> checker_ = std::make_shared<StreamOrderChecker>();
  const std::shared_ptr<Device> device_ =
      must(open_device({DeviceKind::kEmulated, 0}, {.order_checker = checker_}));
  std::array<Stream, kStreams> streams_{};
  std::array<Event, kEvents> events_{};
  MemoryBlock block_ = must(device_->allocate(MemoryKind::kPinnedHost, kCells* kCellBytes));
  MemoryBlock page_ = must(device_->allocate(MemoryKind::kPinnedHost, 64));
  std::array<FenceWord, kWords> words_{};
  std::array<std::uint64_t, kWords> written_{};

  Reference reference_{};
  std::array<Before, kEvents> recorded_{};
  std::array<Before, kWords> opened_{};
  std::array<std::optional<std::size_t>, kOwners> open_{};
};

}  // namespace

TEST_CASE("the checker reports the first race of a random program, and nothing before it") {
  constexpr std::uint64_t kPrograms = 1500;
  std::size_t racing = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    CAPTURE(seed);
    racing += Program(seed).run();
  }
  // Both kinds of program are there; how many of each is up to the seeds, which are fixed.
  CHECK(racing > kPrograms / 4);
  CHECK(racing < kPrograms);
}

}  // namespace weftline::testing
