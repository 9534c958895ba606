// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "emulated_timeline.hpp"
#include "record_time.hpp"
#include "weftline/cuda/fence_words.hpp"
#include "weftline/cuda/host_task.hpp"

namespace weftline::cuda_streams {

struct CopyOperation {
  void* destination;
  const void* source;
  std::uint64_t bytes;
};
struct FillOperation {
  void* destination;
  std::byte value;
  std::uint64_t bytes;
};
/// The place in the stream that an event marks.
struct RecordOperation {
  RecordStamp stamp;
};
struct WaitOperation {
  TimelinePoint point;
};
struct WriteWordOperation {
  FenceWord word;
  std::uint64_t value;
};
struct WaitWordOperation {
  FenceWord word;
  std::uint64_t value;
};

/// One piece of work of an emulated stream.
using StreamOperation =
    std::variant<std::monostate, CopyOperation, FillOperation, HostTask, RecordOperation,
                 WaitOperation, WriteWordOperation, WaitWordOperation>;

[[nodiscard]] inline bool waits_for_word(const StreamOperation& operation) noexcept {
  return std::holds_alternative<WaitWordOperation>(operation);
}

/// Whether `perform()` would not have to wait for another stream, thread or process.
[[nodiscard]] bool is_ready(const StreamOperation& operation) noexcept;

/// Does it on this thread, waiting for as long as it has to.
void perform(StreamOperation& operation) noexcept;

}  // namespace weftline::cuda_streams
