// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "weftline/core/time.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/graph/activation.hpp"
#include "weftline/graph/cancellation.hpp"
#include "weftline/graph/doorbell.hpp"
#include "weftline/graph/lifecycle_spec.hpp"
#include "weftline/graph/notification_sender.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/graph/readiness_source.hpp"
#include "weftline/graph/spin_probe.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// A readable clock of the graph, with the id that its time points carry.
class ClockRef {
 public:
  ClockRef(const Clock& clock, ClockId id) noexcept : clock_(&clock), id_(id) {}
  [[nodiscard]] TimePoint now() const noexcept { return {clock_->now_ns(), id_}; }
  /// Labels a coordinate that came from elsewhere.
  [[nodiscard]] TimePoint at_ns(std::int64_t timestamp_ns) const noexcept {
    return {timestamp_ns, id_};
  }
  [[nodiscard]] const Clock& clock() const noexcept { return *clock_; }

 private:
  const Clock* clock_;
  ClockId id_;
};

/// What the plan knows of one port's rate. Numbers are absent without one.
struct PortRateView {
  PortRateKind kind{PortRateKind::kUnspecified};
  PortRateBasis basis{PortRateBasis::kUndeclared};
  std::optional<Rational> nominal{};
  std::optional<Rational> maximum{};
};

/// What `compute()` may ask for. Valid during that call, on that thread.
class ExecutionContext {
 public:
  virtual ~ExecutionContext() = default;
  [[nodiscard]] virtual const Activation& activation() const noexcept = 0;
  [[nodiscard]] ActivationReason activation_reason() const noexcept { return activation().reason; }
  /// When the activation was decided, on the default clock; for a clock trigger the time of the
  /// (last coalesced) tick.
  [[nodiscard]] TimePoint activation_time() const noexcept { return activation().time; }
  /// Whether the start kept the contract's max_start_delay().
  [[nodiscard]] ActivationStatus activation_status() const noexcept { return activation().status; }
  /// The first of the ticks that this activation stands for; activation_time() but for OnClock.
  [[nodiscard]] TimePoint first_tick_time() const noexcept { return activation().first_tick; }
  /// The operator's planned stream; null for a host-only operator. Not to be kept after compute().
  [[nodiscard]] virtual StreamRef cuda_stream() const noexcept = 0;
  [[nodiscard]] virtual ClockRef clock() const noexcept = 0;
  [[nodiscard]] virtual Cancellation cancellation() const noexcept = 0;
  [[nodiscard]] bool stop_requested() const noexcept { return cancellation().requested(); }
  /// Of a port of this operator; an unspecified rate for any other port. O(1), allocates nothing.
  [[nodiscard]] virtual PortRateView rate(const InputPort& input) const noexcept = 0;
  [[nodiscard]] virtual PortRateView rate(const OutputPort& output) const noexcept = 0;
  /// Ends the whole run successfully once this activation has returned, without draining.
  virtual void request_success() noexcept = 0;
};

/// What `start()`, `stop()` and the other callbacks of lifecycle stages may ask for. Valid during
/// that call, on that thread.
class LifecycleContext {
 public:
  virtual ~LifecycleContext() = default;
  /// The stage that this call is for.
  [[nodiscard]] virtual LifecycleStage stage() const noexcept = 0;
  [[nodiscard]] virtual Cancellation cancellation() const noexcept = 0;
  /// Says why a callback fails: `return context.fail({…});`. The session's diagnostics hold it.
  [[nodiscard]] virtual LifecycleStatus fail(
      Error why, LifecycleStatus status = LifecycleStatus::kFatalFailure) noexcept = 0;
  /// The device that the operator's tensors live on; null for a host-only operator.
  [[nodiscard]] virtual Device* device() const noexcept = 0;
  [[nodiscard]] virtual ClockRef clock() const noexcept = 0;
  /// As in ExecutionContext.
  [[nodiscard]] virtual PortRateView rate(const InputPort& input) const noexcept = 0;
  [[nodiscard]] virtual PortRateView rate(const OutputPort& output) const noexcept = 0;

  // What makes the operator's readiness source ready. Said before the operator runs: an operator
  // that waits for a source which nobody holds or bound does not start (SOURCE_UNBOUND). A source
  // of another operator, or a call that comes later, is kInvalidArgument (SOURCE_FOREIGN,
  // SOURCE_BOUND_LATE).

  /// One more sender. kResourceExhausted (SOURCE_SENDERS_EXHAUSTED) beyond the source's
  /// sender_reference_capacity().
  [[nodiscard]] virtual expected<NotificationSender, Error> notification_sender(
      const NotificationSourceRef& source) = 0;
  [[nodiscard]] virtual expected<Doorbell, Error> doorbell(const DoorbellSourceRef& source) = 0;
  /// Ready as long as there is something to read on `descriptor`, hang-up included. It stays the
  /// caller's, open until stop() has returned; one that fails later fails the run
  /// (SOURCE_DESCRIPTOR_FAILED). kInvalidArgument: SOURCE_DESCRIPTOR_INVALID for none that is open,
  /// SOURCE_BOUND_TWICE.
  virtual expected<void, Error> bind_readable(const ReadableSourceRef& source, int descriptor) = 0;
  /// Polled on the lane, which does not sleep as long as the operator runs. kInvalidArgument:
  /// SOURCE_PROBE_INVALID without a function, SOURCE_BOUND_TWICE.
  virtual expected<void, Error> bind_spin(const SpinSourceRef& source, SpinProbe probe) = 0;
};

}  // namespace weftline
