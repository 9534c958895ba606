// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "operation_queue.hpp"

namespace weftline::cuda_streams {

/// Does what is in the queues of one emulated device, each in its order. It owns the queues.
/// Closing one is all that its stream does; the queue goes when it has come to its end.
///
/// The destructor comes after the last queue was closed. It waits until all are at their end,
/// unless the calling thread runs a host task: that may be the one of which it would wait.
class StreamScheduler {
 public:
  StreamScheduler() = default;
  StreamScheduler(const StreamScheduler&) = delete;
  StreamScheduler& operator=(const StreamScheduler&) = delete;
  virtual ~StreamScheduler() = default;

  /// From any thread. Throws std::exception when memory or threads run out.
  [[nodiscard]] virtual OperationQueue& create_queue(
      std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue) = 0;
};

}  // namespace weftline::cuda_streams
