// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/cuda/memory_access.hpp"
#include "weftline/cuda/stream_order_report.hpp"
#include "weftline/cuda/stream_ref.hpp"

namespace weftline {

namespace cuda_streams {
class OrderModel;
}

/// Watches devices for uses of the same bytes that no event, wait or fence word orders, and reports
/// them even when the schedule happened to be kind. It rides on either backend: it follows the
/// calls, not the execution. Watched are copies, fills, the ranges that `launch()` declares, and
/// what libraries declare for tensors: a write guard is a write from `write()` to `commit()`, a
/// received tensor a read until its release. Only memory that a watched device allocated or
/// imported counts.
///
/// What it can't see, it can't report, and order that it can't see it may report as missing: on
/// CUDA kernels launched without `launch()`, and events recorded or awaited by CUDA calls of the
/// user's own. All host threads count as one: what one of them has seen complete, all of them know;
/// races between host threads are the thread sanitizer's. Between a
/// stream's wait for a fence word and the call that writes the word (or the sight of the wait
/// passed) its uses are not watched.
///
/// Costs a lock and some allocations per device call (from malloc, so that a program that counts
/// its `operator new` counts its own); a program without a checker pays one comparison. All members
/// may be called from any thread, and never block otherwise.
class StreamOrderChecker {
 public:
  enum class OnReport : std::uint8_t {
    kKeep,   ///< For `take_reports()`: the first 64.
    kPrint,  ///< On stderr, and keep.
    kAbort,  ///< Print the first one, and abort.
  };
  explicit StreamOrderChecker(OnReport on_report = OnReport::kKeep);
  StreamOrderChecker(const StreamOrderChecker&) = delete;
  StreamOrderChecker& operator=(const StreamOrderChecker&) = delete;
  ~StreamOrderChecker();

  /// The one that `open_device()` gives to devices opened without one of their own, for the whole
  /// process: chosen by the environment variable WEFTLINE_STREAM_ORDER, "print" or "abort"; null
  /// where it is unset or something else.
  [[nodiscard]] static const std::shared_ptr<StreamOrderChecker>& of_environment();

  /// Kept reports, oldest first, which are then forgotten.
  [[nodiscard]] std::vector<StreamOrderReport> take_reports();
  /// All reports ever, also those that were not kept.
  [[nodiscard]] std::uint64_t report_count() const noexcept;

  // For libraries that make tensors. No stream means the host. Bytes outside watched memory are
  // passed over.

  /// Reports call the range by this name from now on, until its memory is freed.
  void name_memory(const void* begin, std::uint64_t bytes, std::string name);
  /// `owner` uses the bytes from now until `end_uses(owner)`, in the order of `stream`. `operation`
  /// is a literal. The same owner's same use on the same stream is noted once.
  void begin_use(const void* owner, StreamRef stream, MemoryUse use, MemoryAccess bytes,
                 std::string_view operation) noexcept;
  /// All uses of the owner end with what their streams have queued until now.
  void end_uses(const void* owner) noexcept;

  [[nodiscard]] cuda_streams::OrderModel& model() noexcept { return *model_; }

 private:
  const std::unique_ptr<cuda_streams::OrderModel> model_;
};

/// While it lives, reports name `activity` as who asked for what this thread does. The text must
/// outlive it. Nests; costs two thread-local stores.
class StreamOrderActivity {
 public:
  explicit StreamOrderActivity(std::string_view activity) noexcept;
  StreamOrderActivity(const StreamOrderActivity&) = delete;
  StreamOrderActivity& operator=(const StreamOrderActivity&) = delete;
  ~StreamOrderActivity();

 private:
  const std::string_view outer_;
};

}  // namespace weftline
