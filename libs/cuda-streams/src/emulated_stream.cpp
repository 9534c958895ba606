// SPDX-License-Identifier: Apache-2.0
#include "emulated_stream.hpp"

#include <cstring>

namespace weftline::cuda_streams {
namespace {

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
