// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "weftline/core/time.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/graph/activation.hpp"
#include "weftline/graph/cancellation.hpp"
#include "weftline/graph/doorbell.hpp"
#include "weftline/graph/lifecycle_receipt.hpp"
#include "weftline/graph/lifecycle_spec.hpp"
#include "weftline/graph/notification_sender.hpp"
#include "weftline/graph/param_ref.hpp"
#include "weftline/graph/params_view.hpp"
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
  /// When there was something to do, on the default clock: its samples came, its tick was due; see
  /// Activation::time.
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
  /// The operator's parameters as of this activation: the same values until compute() returns,
  /// whatever is updated meanwhile. P is the Params of the operator; any other type ends the
  /// process with a message. O(1), allocates nothing.
  template <class P>
  [[nodiscard]] const P& params() const noexcept {
    return params_view().template as<P>();
  }
  /// 0 for the values that the plan was compiled with; grows with each update that changes them.
  [[nodiscard]] std::uint64_t params_generation() const noexcept {
    return params_view().generation;
  }
  /// Updates a runtime_mutable field of this operator, seen from its next activation on. Checked
  /// like any other update. Allocates nothing and never waits: kBackpressured
  /// (PARAM_CONTROL_BUSY) while somebody else updates this very operator. Make the ParamRef in
  /// start(): param_ref() allocates.
  template <class P, class V>
  expected<void, Error> submit(const ParamRef<P, V>& field,
                               const std::type_identity_t<V>& value) noexcept {
    return submit_param(field.field(), params::to_scalar<V>(value));
  }
  /// Ends the whole run successfully once this activation has returned, without draining.
  virtual void request_success() noexcept = 0;
  /// Asks for a restart of this operator, or of another one that the graph lets it restart
  /// (`Graph::grant_restart()`), with all that starts after it. Returns at once: waits for nobody,
  /// allocates nothing; a system call only where the controller's thread sleeps.
  ///
  /// The restart takes place once this activation has returned, on the controller's thread. Until
  /// it is over, or was refused, nothing more runs on this operator's lane: its next activation,
  /// which may be another instance's, finds the receipt's state final.
  ///
  /// Refused at once, with a code and a token: RESTART_DISABLED (the plan has no transactions),
  /// RESTART_TARGET_UNKNOWN, RESTART_NOT_GRANTED, RESTART_STAGE_INVALID (no forward stage),
  /// RESTART_STAGE_NOT_ADMITTED (earlier than the grant's), RESTART_ALREADY_PENDING
  /// (kBackpressured: this activation has asked for it), RESTART_PENDING_FULL (kResourceExhausted:
  /// max_pending_requests wait), RESTART_SESSION_ENDING (kClosed). What is refused when its turn
  /// comes (LifecycleControlHandle::request_restart() has the list) touches nothing; the receipt
  /// says why, and this operator goes on.
  ///
  /// The receipt may be read here, by the next activation, or by any other thread: that is cold (a
  /// lock, copies of text). Waiting for it in a callback never ends before the deadline. Where the
  /// restart begins with kConfigure this instance is destroyed, so what is to see the outcome is
  /// kept elsewhere.
  expected<LifecycleReceipt, Error> request_restart(const RestartRequest& request = {}) noexcept {
    return ask_restart(request);
  }

 private:
  [[nodiscard]] virtual ParamsView params_view() const noexcept = 0;
  virtual expected<void, Error> submit_param(const ParamFieldDescriptor& field,
                                             const ParamScalar& value) noexcept = 0;
  virtual expected<LifecycleReceipt, Error> ask_restart(const RestartRequest& request) noexcept = 0;
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
  /// As in ExecutionContext; here the values that the operator's next activation will have.
  template <class P>
  [[nodiscard]] const P& params() const noexcept {
    return params_view().template as<P>();
  }
  [[nodiscard]] std::uint64_t params_generation() const noexcept {
    return params_view().generation;
  }
  /// The owner of an output with a lifecycle_nominal_rate() chooses it, before the session arms: in
  /// start() or a forward stage. Takes effect once every operator has been through that stage, for
  /// the whole plan or not at all; what is wrong with this one choice is said at once:
  /// RATE_SELECTION_UNKNOWN, RATE_INVALID, RATE_ABOVE_MAXIMUM, RATE_SELECTION_LATE (the session has
  /// armed). Choosing again replaces the choice. Cold; allocates.
  virtual expected<void, Error> select_rate(const OutputPort& output, Rate rate) = 0;

  // What makes the operator's readiness source ready. Said in kArm or start(), the first time and
  // in each restart anew: an operator that waits for a source which nobody holds or bound does not
  // start (SOURCE_UNBOUND). A source of another operator, or a call that comes earlier or later, is
  // kInvalidArgument (SOURCE_FOREIGN, SOURCE_BOUND_EARLY, SOURCE_BOUND_LATE). When the operator is
  // restarted its handles are closed for good before kStop, and what they have made ready and no
  // activation has had is forgotten.

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

 private:
  [[nodiscard]] virtual ParamsView params_view() const noexcept = 0;
};

}  // namespace weftline
