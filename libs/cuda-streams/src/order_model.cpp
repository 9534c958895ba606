// SPDX-License-Identifier: Apache-2.0
#include "order_model.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "weftline/cuda/device.hpp"

namespace weftline::cuda_streams {
namespace {

constexpr std::size_t kKeptReports = 64;
constexpr std::size_t kKeptWordWrites = 64;

}  // namespace

Actor OrderModel::make_actor(StreamRef stream) {
  const DeviceId device = stream.device()->id();
  std::string name =
      "stream " + std::to_string(++streams_made_[device]) + " of " + device.to_string();
  // An actor may serve again when everybody who asks knows that its earlier steps are done.
  for (Actor& idle : idle_actors_) {
    const Actor actor = idle;
    if (clock_of(kHostActor).at(actor) >= actors_[actor].epoch) {
      idle = idle_actors_.back();
      idle_actors_.pop_back();
      actors_[actor].name = std::move(name);
      actors_[actor].clock = {};
      return actor;
    }
  }
  actors_.push_back({.name = std::move(name)});
  return static_cast<Actor>(actors_.size() - 1);
}

Actor OrderModel::actor_of(StreamRef stream) {
  if (!stream) {
    return kHostActor;
  }
  const auto known = streams_.find(stream.get());
  return known != streams_.end() ? known->second
                                 : streams_.emplace(stream.get(), make_actor(stream)).first->second;
}

VectorClock& OrderModel::step(Actor actor) {
  VectorClock& clock = clock_of(actor);
  if (actor != kHostActor) {
    clock.join_epochs(clock_of(kHostActor));
    resolve(clock);
  }
  clock.raise(actor, ++actors_[actor].epoch);
  return clock;
}

OrderModel::Point OrderModel::point_at(const VectorClock& clock) {
  return std::allocate_shared<VectorClock>(UncountedAllocator<VectorClock>(), clock);
}

void OrderModel::stream_made(StreamRef stream) noexcept {
  MutexLock lock(mutex_);
  static_cast<void>(actor_of(stream));
}

void OrderModel::stream_gone(StreamRef stream) noexcept {
  MutexLock lock(mutex_);
  const auto known = streams_.find(stream.get());
  if (known != streams_.end()) {
    idle_actors_.push_back(known->second);
    streams_.erase(known);
  }
}

void OrderModel::event_gone(EventRef event) noexcept {
  MutexLock lock(mutex_);
  events_.erase(event.get());
}

void OrderModel::recorded(EventRef event, StreamRef stream) noexcept {
  MutexLock lock(mutex_);
  events_[event.get()] = point_at(step(actor_of(stream)));
}

void OrderModel::waited(StreamRef stream, EventRef event) noexcept {
  MutexLock lock(mutex_);
  const auto known = events_.find(event.get());
  if (known != events_.end()) {
    clock_of(actor_of(stream)).join(*known->second);
  }
}

OrderModel::Point OrderModel::point_of(EventRef event) noexcept {
  MutexLock lock(mutex_);
  const auto known = events_.find(event.get());
  return known != events_.end() ? known->second : nullptr;
}

OrderModel::Point OrderModel::point_of(StreamRef stream) noexcept {
  MutexLock lock(mutex_);
  return point_at(clock_of(actor_of(stream)));
}

void OrderModel::learned(const Point& point) noexcept {
  if (point) {
    MutexLock lock(mutex_);
    host_learns(*point);
  }
}

// What has passed a wait for a word proves that the word was opened: by a write that is known, or
// by one that nobody here asked for, which then was before now.
void OrderModel::host_learns(const VectorClock& clock) {
  VectorClock passed = clock;
  resolve(passed);
  clock_of(kHostActor).join_epochs(passed);
  for (const AwaitedWord& word : passed.awaited()) {
    note_write(word.place, word.value, clock_of(kHostActor));
  }
}

std::uint64_t OrderModel::task_queued(StreamRef stream) noexcept {
  MutexLock lock(mutex_);
  queued_tasks_[++last_ticket_] = point_at(step(actor_of(stream)));
  return last_ticket_;
}

void OrderModel::task_runs(std::uint64_t ticket) noexcept {
  MutexLock lock(mutex_);
  const auto task = queued_tasks_.find(ticket);
  if (task != queued_tasks_.end()) {
    host_learns(*task->second);
    queued_tasks_.erase(task);
  }
}

void OrderModel::word_made(const std::uint64_t* place) noexcept {
  MutexLock lock(mutex_);
  words_.erase(place);
}

void OrderModel::word_written(StreamRef stream, FenceWord word, std::uint64_t value) noexcept {
  MutexLock lock(mutex_);
  note_write(word.get(), value, step(actor_of(stream)));
}

void OrderModel::note_write(const std::uint64_t* place, std::uint64_t value,
                            const VectorClock& clock) {
  auto& writes = words_[place];
  writes.push_back({value, clock});
  if (writes.size() > kKeptWordWrites) {
    writes.pop_front();  // who still awaits it is taken to be opened by the next one
  }
}

void OrderModel::word_awaited(StreamRef stream, FenceWord word, std::uint64_t value) noexcept {
  MutexLock lock(mutex_);
  clock_of(actor_of(stream)).await({word.get(), value});
}

void OrderModel::resolve(VectorClock& clock) {
  if (clock.awaited().empty()) {
    return;
  }
  for (const AwaitedWord& word : clock.take_awaited()) {
    const auto& writes = words_[word.place];
    const auto opening = std::find_if(writes.begin(), writes.end(), [&](const WordWrite& write) {
      return fence_reached(write.value, word.value);
    });
    if (opening != writes.end()) {
      clock.join(opening->clock);
    } else {
      clock.await(word);
    }
  }
}

void OrderModel::memory_made(DeviceId device, const void* begin, std::uint64_t bytes) noexcept {
  MutexLock lock(mutex_);
  memory_.add_block(begin, bytes,
                    "a block of " + std::to_string(bytes) + " bytes of " + device.to_string());
}

void OrderModel::memory_gone(const void* begin) noexcept {
  MutexLock lock(mutex_);
  memory_.remove_block(begin);
}

void OrderModel::name_memory(const void* begin, std::uint64_t bytes, std::string name) {
  MutexLock lock(mutex_);
  memory_.name_range(begin, bytes, std::move(name));
}

UsePointer OrderModel::make_use(Actor actor, MemoryUse use, std::string_view operation) {
  const std::string_view activity = activity_of_this_thread();
  auto known = activities_.find(activity);
  if (known == activities_.end()) {
    known = activities_.emplace(activity).first;
  }
  return std::allocate_shared<UseRecord>(
      UncountedAllocator<UseRecord>(),
      UseRecord{use, actor, false, actors_[actor].epoch, operation, *known});
}

void OrderModel::used(StreamRef stream, std::span<const MemoryAccess> reads,
                      std::span<const MemoryAccess> writes, std::string_view operation) noexcept {
  MutexLock lock(mutex_);
  const Actor actor = actor_of(stream);
  step(actor);
  for (const MemoryAccess& read : reads) {
    check(make_use(actor, MemoryUse::kRead, operation), read);
  }
  for (const MemoryAccess& write : writes) {
    check(make_use(actor, MemoryUse::kWrite, operation), write);
  }
}

void OrderModel::begin_use(const void* owner, StreamRef stream, MemoryUse use, MemoryAccess bytes,
                           std::string_view operation) noexcept {
  MutexLock lock(mutex_);
  const Actor actor = actor_of(stream);
  auto& open = open_uses_[owner];
  const bool noted = std::any_of(open.begin(), open.end(), [&](const UsePointer& other) {
    return other->use == use && other->actor == actor;
  });
  if (noted) {
    return;
  }
  step(actor);
  const UsePointer made = make_use(actor, use, operation);
  made->open = true;
  open.push_back(made);
  check(made, bytes);
}

// The end is a step of its own: work that no call tells of may lie between it and the last one.
void OrderModel::end_uses(const void* owner) noexcept {
  MutexLock lock(mutex_);
  const auto open = open_uses_.find(owner);
  if (open == open_uses_.end()) {
    return;
  }
  for (const UsePointer& use : open->second) {
    step(use->actor);
    use->end = actors_[use->actor].epoch;
    use->open = false;
  }
  open_uses_.erase(open);
}

void OrderModel::check(const UsePointer& made, MemoryAccess bytes) {
  const VectorClock& now = clock_of(made->actor);
  if (!now.awaited().empty()) {
    return;  // what comes before it may not even be asked for yet
  }
  for (const MemoryUses::Conflict& conflict : memory_.use(bytes, made, now)) {
    report(conflict, *made);
  }
}

StreamOrderReport::Side OrderModel::side_of(const UseRecord& use) const {
  return {use.use, std::string(use.operation), actors_[use.actor].name, std::string(use.activity),
          use.open};
}

void OrderModel::report(const MemoryUses::Conflict& conflict, const UseRecord& later) {
  report_count_.fetch_add(1, std::memory_order_relaxed);
  StreamOrderReport told{side_of(*conflict.earlier), side_of(later), conflict.memory,
                         conflict.offset, conflict.bytes};
  if (on_report_ != StreamOrderChecker::OnReport::kKeep) {
    std::fprintf(stderr, "weftline: %s\n", told.to_string().c_str());
  }
  if (on_report_ == StreamOrderChecker::OnReport::kAbort) {
    std::abort();
  }
  if (reports_.size() < kKeptReports) {
    reports_.push_back(std::move(told));
  }
}

std::vector<StreamOrderReport> OrderModel::take_reports() {
  MutexLock lock(mutex_);
  return std::exchange(reports_, {});
}

std::string_view& activity_of_this_thread() noexcept {
  constinit thread_local std::string_view activity;
  return activity;
}

}  // namespace weftline::cuda_streams
