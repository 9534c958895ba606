// SPDX-License-Identifier: Apache-2.0
#include "emulated_stream.hpp"

#include <chrono>
#include <cstring>

namespace weftline::cuda_streams {
namespace {

/// Asks again and again: a word may be written by another process, which tells nobody. A word that
/// is about to come is met by the first, yielding looks; later ones leave the core to others.
void wait_for_word(FenceWord word, std::uint64_t value) noexcept {
  constexpr int kYields = 200;
  constexpr std::chrono::microseconds kNap{50};
  for (int looks = 0; !word.reached(value); ++looks) {
    if (looks < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

struct Perform {
  void operator()(std::monostate) const noexcept {}
  void operator()(const CopyOperation& copy) const noexcept {
    std::memcpy(copy.destination, copy.source, copy.bytes);
  }
  void operator()(const FillOperation& fill) const noexcept {
    std::memset(fill.destination, std::to_integer<int>(fill.value), fill.bytes);
  }
  void operator()(HostTask& task) const noexcept { task(); }
  void operator()(const RecordOperation& record) const noexcept {
    if (record.stamp.time) {
      record.stamp.time->reach(record.stamp.record);
    }
  }
  void operator()(const WriteWordOperation& write) const noexcept { write.word.store(write.value); }
  void operator()(const WaitWordOperation& wait) const noexcept {
    wait_for_word(wait.word, wait.value);
  }
  void operator()(const WaitOperation& wait) const noexcept { wait.point.wait(); }
};

}  // namespace

std::shared_ptr<EmulatedStream> EmulatedStream::start(std::uint32_t capacity) {
  auto stream = std::make_shared<EmulatedStream>(capacity);
  stream->worker_ = std::thread([stream] { stream->run(); });
  return stream;
}

TimelinePoint EmulatedStream::last_queued() const noexcept {
  MutexLock lock(mutex_);
  return {timeline_, queued_};
}

void EmulatedStream::close() noexcept {
  MutexLock lock(mutex_);
  closed_ = true;
  work_came_.notify_one();
}

void EmulatedStream::run() noexcept {
  while (StreamOperation* operation = next()) {
    std::visit(Perform{}, *operation);
    retire(*operation);
  }
  finished_ = true;
}

StreamOperation* EmulatedStream::next() noexcept {
  MutexLock lock(mutex_);
  worker_waits_ = true;
  while (queued_ == retired_ && !closed_) {
    work_came_.wait(mutex_);
  }
  worker_waits_ = false;
  return queued_ == retired_ ? nullptr : &places_[retired_ % places_.size()];
}

void EmulatedStream::retire(StreamOperation& operation) noexcept {
  operation.emplace<std::monostate>();  // a wait must not keep another stream's timeline alive
  bool blocked = false;
  {
    MutexLock lock(mutex_);
    ++retired_;
    blocked = blocked_callers_ != 0;
  }
  if (blocked) {
    place_came_.notify_one();
  }
  timeline_->advance();
}

}  // namespace weftline::cuda_streams
