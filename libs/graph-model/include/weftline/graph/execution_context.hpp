// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "weftline/core/time.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/graph/port.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

enum class ActivationReason : std::uint8_t { kInput = 0, kClock };

/// A readable clock of the graph, with the id that its time points carry.
class ClockRef {
 public:
  ClockRef(const Clock& clock, ClockId id) noexcept : clock_(&clock), id_(id) {}
  [[nodiscard]] TimePoint now() const noexcept { return {clock_->now_ns(), id_}; }
  /// Labels a coordinate that came from elsewhere.
  [[nodiscard]] TimePoint at_ns(std::int64_t timestamp_ns) const noexcept {
    return {timestamp_ns, id_};
  }

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
  [[nodiscard]] virtual ActivationReason activation_reason() const noexcept = 0;
  /// When the activation was decided, on the default clock; for a clock trigger the time of the
  /// (last coalesced) tick.
  [[nodiscard]] virtual TimePoint activation_time() const noexcept = 0;
  /// The operator's planned stream; null for a host-only operator. Not to be kept after compute().
  [[nodiscard]] virtual StreamRef cuda_stream() const noexcept = 0;
  [[nodiscard]] virtual ClockRef clock() const noexcept = 0;
  [[nodiscard]] virtual bool stop_requested() const noexcept = 0;
  /// Of a port of this operator; an unspecified rate for any other port. O(1), allocates nothing.
  [[nodiscard]] virtual PortRateView rate(const InputPort& input) const noexcept = 0;
  [[nodiscard]] virtual PortRateView rate(const OutputPort& output) const noexcept = 0;
  /// Ends the whole run successfully once this activation has returned, without draining.
  virtual void request_success() noexcept = 0;
};

/// What `start()` and `stop()` may ask for.
class LifecycleContext {
 public:
  virtual ~LifecycleContext() = default;
  /// The device that the operator's tensors live on; null for a host-only operator.
  [[nodiscard]] virtual Device* device() const noexcept = 0;
  [[nodiscard]] virtual ClockRef clock() const noexcept = 0;
  /// As in ExecutionContext.
  [[nodiscard]] virtual PortRateView rate(const InputPort& input) const noexcept = 0;
  [[nodiscard]] virtual PortRateView rate(const OutputPort& output) const noexcept = 0;
};

}  // namespace weftline
