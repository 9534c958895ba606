// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "weftline/graph/doorbell.hpp"
#include "weftline/graph/notification_sender.hpp"
#include "weftline/graph/readiness_wake.hpp"
#include "weftline/graph/spin_probe.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// A running operator's readiness source: what kArm or kStart has bound to it, and what outside
/// threads share with the lane. Bound while the lane does not run; of the four, that of the
/// source's kind is used. Each epoch of the operator has bindings and handles of its own.
class SourceRuntime {
 public:
  SourceRuntime(const SourcePlanRecord& record, ReadinessWake wake);
  SourceRuntime(const SourceRuntime&) = delete;
  SourceRuntime& operator=(const SourceRuntime&) = delete;
  ~SourceRuntime() { close(); }

  [[nodiscard]] expected<NotificationSender, Error> sender();
  [[nodiscard]] expected<Doorbell, Error> doorbell();
  [[nodiscard]] expected<void, Error> bind(int descriptor);
  [[nodiscard]] expected<void, Error> bind(SpinProbe probe);

  /// The operator runs from here on: kInvalidArgument (SOURCE_UNBOUND) when nothing can ever make
  /// the source ready, and binding is over.
  [[nodiscard]] expected<void, Error> arm() noexcept;
  /// Handles answer kClosed from now on.
  void close() noexcept;
  /// A new epoch, while the lane rests: nothing is bound, nothing is outstanding, and the handles
  /// from before stay closed.
  void reset();

  [[nodiscard]] const std::string& name() const noexcept { return record_.name; }
  [[nodiscard]] NotificationChannel& notifications() noexcept { return *notifications_; }
  [[nodiscard]] DoorbellChannel& bell() noexcept { return *bell_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const SpinProbe& probe() const noexcept { return probe_; }

 private:
  [[nodiscard]] expected<void, Error> bindable(bool twice) const;
  const SourcePlanRecord& record_;
  const ReadinessWake wake_;
  std::shared_ptr<NotificationChannel> notifications_{};
  std::shared_ptr<DoorbellChannel> bell_{};
  int descriptor_{-1};
  SpinProbe probe_{};
  bool bound_{false};
  bool armed_{false};
};

}  // namespace weftline::runtime
