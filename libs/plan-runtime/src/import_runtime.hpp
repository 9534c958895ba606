// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "counter.hpp"
#include "edge_queue.hpp"
#include "import_port.hpp"
#include "run_control.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One imported topic of a running plan: moves samples from its port into the queue of each input
/// that takes them, on one of these inputs' lanes. A sample is taken when every queue has room, so
/// that back-pressure reaches the producer.
///
/// The end of an incarnation's stream is the end of the import's, unless another incarnation may
/// follow: then the queues stay open, and nothing comes until rebind().
class ImportRuntime {
 public:
  struct Options {
    EndpointId endpoint{};
    std::string name{};
    const PayloadOps* ops{nullptr};
    /// Incarnations that this run admits, the first included.
    std::uint32_t generation_capacity{1};
    /// Some restart that may be asked for takes one of the inputs with it. Without one no
    /// replacement is available.
    bool replaceable{false};
    /// Samples that one step moves at most: other operators of the lane have their turn.
    std::uint32_t burst{1};
  };
  ImportRuntime(Options options, std::unique_ptr<ImportPort> port, RunControl& control);
  ImportRuntime(const ImportRuntime&) = delete;
  ImportRuntime& operator=(const ImportRuntime&) = delete;

  void connect(EdgeQueue& queue) { queues_.push_back(&queue); }
  void wake(Parker& lane) noexcept { port_->wake(lane); }

  // The lane that takes.

  /// True when something was done.
  [[nodiscard]] bool step() noexcept;
  /// The queues are closed, and nothing is taken any more.
  [[nodiscard]] bool done() const noexcept { return state() == ImportState::kEnded; }

  // The controller, while no lane runs.

  /// Whether the port can be given to a later incarnation now; changes nothing. kNotSupported: the
  /// plan admits one incarnation only, or the current one gave no token or left without ending its
  /// stream. kBackpressured: it is still there, or something of it is still queued or held here.
  /// kResourceExhausted: every incarnation that the plan admits was used.
  [[nodiscard]] expected<void, Error> check_rebind() noexcept;
  /// After check_rebind(). An error ends the import for good.
  [[nodiscard]] expected<void, Error> rebind() noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }

  // Any thread.

  [[nodiscard]] ImportCounters counters() const noexcept {
    return {options_.endpoint, received_.read(), generation_.load(std::memory_order_relaxed),
            state()};
  }

 private:
  [[nodiscard]] ImportState state() const noexcept {
    return state_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool all_have_room() noexcept;
  [[nodiscard]] bool move_one() noexcept;
  void close_queues() noexcept;

  struct FreeAligned {
    std::align_val_t alignment{};
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
  };

  const Options options_;
  const std::unique_ptr<ImportPort> port_;
  RunControl& control_;
  std::vector<EdgeQueue*> queues_{};
  std::unique_ptr<std::byte[], FreeAligned> value_;  ///< Between the port and the queues.
  // Written by the lane, and by the controller while no lane runs.
  std::atomic<ImportState> state_{ImportState::kOpen};
  std::atomic<std::uint32_t> generation_{1};
  Counter received_{};
};

}  // namespace weftline::runtime
