// SPDX-License-Identifier: Apache-2.0
#include "stream_operation.hpp"

#include <chrono>
#include <cstring>
#include <thread>

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
  void operator()(const WaitOperation& wait) const noexcept { wait.point.wait(); }
  void operator()(const WriteWordOperation& write) const noexcept { write.word.store(write.value); }
  void operator()(const WaitWordOperation& wait) const noexcept {
    wait_for_word(wait.word, wait.value);
  }
};

}  // namespace

bool is_ready(const StreamOperation& operation) noexcept {
  if (const auto* const wait = std::get_if<WaitOperation>(&operation)) {
    return wait->point.reached();
  }
  if (const auto* const wait = std::get_if<WaitWordOperation>(&operation)) {
    return wait->word.reached(wait->value);
  }
  return true;
}

void perform(StreamOperation& operation) noexcept { std::visit(Perform{}, operation); }

}  // namespace weftline::cuda_streams
