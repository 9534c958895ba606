// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "weftline/core/error.hpp"
#include "weftline/tensor/host_waits.hpp"

namespace weftline {

class RetirementQueue;  // private to tensor-pool

/// A reading for people, from any thread.
struct RetirementUsage {
  std::uint64_t retired{0};     ///< Lives that it has ended, their bytes given back.
  std::uint64_t waiting{0};     ///< No handle left, device work not yet seen to have passed.
  std::uint64_t unresolved{0};  ///< Kept: the device failed when it was asked about their work.
  HostWaits host_waits{};       ///< On the tensors that this worker ends.
};

/// Gives back bytes that belong to no pool (a MemoryBuffer, a DLPack import) when their last handle
/// is gone and their release streams have passed. It owns one thread, because giving back may block
/// (freeing device memory) or run foreign code (a deleter); whoever drops a last handle, also in a
/// host task on a stream, only hands it over, without a lock or an allocation. The thread may use
/// every processor that the process may, however the thread that starts it is pinned; it sleeps
/// while nothing waits, and asks the device every 100 µs while something does.
///
/// Tensors that it ends may outlive it. When it stops, what has not passed is kept, counted and
/// not given back; so is what is dropped later with work pending, or in a host task. What is
/// dropped later without is given back by the thread that drops it.
class RetirementWorker {
 public:
  /// Cold. kResourceExhausted (RETIREMENT_WORKER_THREAD) when no thread can be had.
  [[nodiscard]] static expected<RetirementWorker, Error> start();
  RetirementWorker(RetirementWorker&& other) noexcept = default;
  RetirementWorker& operator=(RetirementWorker&& other) noexcept;
  /// Stops.
  ~RetirementWorker();

  /// Joins the thread, after one more look at what waits. Not from a deleter that it runs.
  void stop() noexcept;
  /// Looks once at all that was kept, on the calling thread, and gives back what has passed. For
  /// after stop(), when the device has come to an end by itself; one thread at a time.
  void retire_passed() noexcept;
  [[nodiscard]] RetirementUsage usage() const noexcept;

  /// For makers of tensors in tensor-pool.
  [[nodiscard]] const std::shared_ptr<RetirementQueue>& queue() const noexcept { return queue_; }

 private:
  explicit RetirementWorker(std::shared_ptr<RetirementQueue> queue) noexcept;
  std::shared_ptr<RetirementQueue> queue_{};
  std::thread thread_{};
};

}  // namespace weftline
