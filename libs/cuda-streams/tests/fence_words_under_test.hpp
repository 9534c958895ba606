// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "device_under_test.hpp"
#include "weftline/cuda/fence_words.hpp"

namespace weftline::testing {

/// Skips the test where the device has none; any other failure is one.
inline FenceWords& fence_words_or_skip(Device& device) {
  auto words = device.fence_words();
  if (!words && words.error().code == ErrorCode::kNotSupported) {
    SKIP(words.error().to_string());
  }
  return *must(std::move(words));
}

/// A word in pinned memory of the bench.
inline FenceWord make_word(Workbench& bench, std::uint64_t value) {
  auto* const place = reinterpret_cast<std::uint64_t*>(bench.pinned(8).data());
  *place = value;
  return must(must(bench.device().fence_words())->word(place));
}

/// A wait that its test opens at the end, also when the test fails: nothing else can end before.
class PendingWait {
 public:
  PendingWait(FenceWords& words, StreamRef stream, FenceWord word, std::uint64_t value)
      : word_(word), value_(value) {
    must(words.wait(stream, word, value));
  }
  PendingWait(const PendingWait&) = delete;
  PendingWait& operator=(const PendingWait&) = delete;
  ~PendingWait() {
    if (!word_.reached(value_)) {
      word_.store(value_);
    }
  }

 private:
  FenceWord word_;
  std::uint64_t value_;
};

/// Skips a test in which a stream has to get on while others wait for words: those must not share
/// its hardware queue.
inline void need_hardware_queues(const Device& device, std::uint32_t streams) {
  const std::uint32_t queues = device.description().hardware_queues;
  if (queues < streams) {
    SKIP("of " + std::to_string(streams) + " streams on " + std::to_string(queues) +
         " hardware queues, one that waits for a word holds up another that has to open it");
  }
}

}  // namespace weftline::testing
