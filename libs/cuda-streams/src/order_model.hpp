// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "annotated_mutex.hpp"
#include "memory_uses.hpp"
#include "vector_clock.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/cuda/event.hpp"
#include "weftline/cuda/fence_words.hpp"
#include "weftline/cuda/stream_order_checker.hpp"

namespace weftline::cuda_streams {

/// What StreamOrderChecker knows. The device calls of watched devices are its input, in the order
/// in which they are made; all from any thread. One lock guards it, and no device is called under
/// it.
///
/// Each stream is an actor with a clock, and so is the host. A stream's step is queued by the host,
/// so it comes after all that the host knows. A record copies the stream's clock into the event; a
/// wait joins the event's clock into the stream's; an event that is seen complete joins it into the
/// host's. Two uses of a byte are in order when the later one's clock holds the end of the earlier.
class OrderModel {
 public:
  explicit OrderModel(StreamOrderChecker::OnReport on_report) : on_report_(on_report) {}

  // Streams and events. "Gone" is before the handle can be given out again.

  void stream_made(StreamRef stream) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void stream_gone(StreamRef stream) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void event_gone(EventRef event) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// Before the record can be seen complete.
  void recorded(EventRef event, StreamRef stream) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void waited(StreamRef stream, EventRef event) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  // What the host learns. A point is taken before the call that waits or asks, and learned after
  // it: another thread may move the event meanwhile.

  using Point = std::shared_ptr<const VectorClock>;
  [[nodiscard]] Point point_of(EventRef event) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] Point point_of(StreamRef stream) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void learned(const Point& point) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// A host task that is about to be queued tells host threads, once it runs, how far its stream
  /// has come. Returns a ticket for `task_runs()`.
  [[nodiscard]] std::uint64_t task_queued(StreamRef stream) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void task_runs(std::uint64_t ticket) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  // Fence words.

  /// What earlier words in the same place held orders nothing.
  void word_made(const std::uint64_t* place) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void word_written(StreamRef stream, FenceWord word, std::uint64_t value) noexcept
      ABSL_LOCKS_EXCLUDED(mutex_);
  void word_awaited(StreamRef stream, FenceWord word, std::uint64_t value) noexcept
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Memory.

  void memory_made(DeviceId device, const void* begin, std::uint64_t bytes) noexcept
      ABSL_LOCKS_EXCLUDED(mutex_);
  void memory_gone(const void* begin) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void name_memory(const void* begin, std::uint64_t bytes, std::string name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  /// One step of the stream that reads and writes these.
  void used(StreamRef stream, std::span<const MemoryAccess> reads,
            std::span<const MemoryAccess> writes, std::string_view operation) noexcept
      ABSL_LOCKS_EXCLUDED(mutex_);
  void begin_use(const void* owner, StreamRef stream, MemoryUse use, MemoryAccess bytes,
                 std::string_view operation) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void end_uses(const void* owner) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  [[nodiscard]] std::vector<StreamOrderReport> take_reports() ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] std::uint64_t report_count() const noexcept {
    return report_count_.load(std::memory_order_relaxed);
  }

 private:
  using UncountedString = std::basic_string<char, std::char_traits<char>, UncountedAllocator<char>>;
  template <class Key, class Value>
  using Map = std::unordered_map<Key, Value, std::hash<Key>, std::equal_to<>,
                                 UncountedAllocator<std::pair<const Key, Value>>>;
  struct WordWrite {
    std::uint64_t value;
    VectorClock clock;
  };

  [[nodiscard]] Actor actor_of(StreamRef stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] Actor make_actor(StreamRef stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] VectorClock& clock_of(Actor actor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return actors_[actor].clock;
  }
  /// The actor takes one more step; returns its clock at that step.
  VectorClock& step(Actor actor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] Point point_at(const VectorClock& clock);
  /// Joins the writes that open the words which the clock awaits, as far as they are known.
  void resolve(VectorClock& clock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void host_learns(const VectorClock& clock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void note_write(const std::uint64_t* place, std::uint64_t value, const VectorClock& clock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] UsePointer make_use(Actor actor, MemoryUse use, std::string_view operation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void check(const UsePointer& made, MemoryAccess bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void report(const MemoryUses::Conflict& conflict, const UseRecord& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] StreamOrderReport::Side side_of(const UseRecord& use) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StreamOrderChecker::OnReport on_report_;
  std::atomic<std::uint64_t> report_count_{0};

  Mutex mutex_;
  // The host first. An actor whose stream is gone stays, for reports to name it.
  struct ActorState {
    std::string name;
    Epoch epoch{0};
    VectorClock clock{};
  };
  std::vector<ActorState> actors_ ABSL_GUARDED_BY(mutex_){{.name = "the host"}};
  UncountedVector<Actor> idle_actors_ ABSL_GUARDED_BY(mutex_){};  // their streams are gone
  std::map<DeviceId, std::uint32_t> streams_made_ ABSL_GUARDED_BY(mutex_){};
  Map<const CUstream_st*, Actor> streams_ ABSL_GUARDED_BY(mutex_){};
  Map<const CUevent_st*, Point> events_ ABSL_GUARDED_BY(mutex_){};
  Map<const std::uint64_t*, std::deque<WordWrite, UncountedAllocator<WordWrite>>> words_
      ABSL_GUARDED_BY(mutex_){};
  std::uint64_t last_ticket_ ABSL_GUARDED_BY(mutex_){0};
  Map<std::uint64_t, Point> queued_tasks_ ABSL_GUARDED_BY(mutex_){};
  MemoryUses memory_ ABSL_GUARDED_BY(mutex_){};
  Map<const void*, UncountedVector<UsePointer>> open_uses_ ABSL_GUARDED_BY(mutex_){};
  std::set<UncountedString, std::less<>, UncountedAllocator<UncountedString>> activities_
      ABSL_GUARDED_BY(mutex_){};
  std::vector<StreamOrderReport> reports_ ABSL_GUARDED_BY(mutex_){};
};

/// Who asks for what this thread does: see StreamOrderActivity.
[[nodiscard]] std::string_view& activity_of_this_thread() noexcept;

}  // namespace weftline::cuda_streams
