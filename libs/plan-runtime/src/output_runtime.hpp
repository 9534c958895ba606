// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "compute_scope.hpp"
#include "counter.hpp"
#include "edge_queue.hpp"
#include "export_arm.hpp"
#include "operator_probe.hpp"
#include "weftline/core/time.hpp"
#include "weftline/graph/execution_context.hpp"
#include "weftline/graph/port_binding.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline::runtime {

/// One output of a running operator: its pool, and the arms (edges and exports) that every sample
/// goes to. Lives on the operator's lane.
class OutputRuntime final : public OutputBinding {
 public:
  OutputRuntime(const OutputPortRecord& record, const PayloadOps& ops, StreamRef stream,
                ClockRef clock, const ComputeScope& scope) noexcept
      : record_(record), ops_(ops), stream_(stream), clock_(clock), scope_(scope) {}
  void connect(EdgeQueue& edge) { edges_.push_back(&edge); }
  void connect(ExportArm& arm) { exports_.push_back(&arm); }
  void use_pool(TensorPool& pool) noexcept { pool_ = &pool; }
  void use_probe(OperatorProbe& probe, std::uint32_t port) noexcept {
    probe_ = &probe;
    port_ = port;
  }

  /// Room for all that one activation may emit (ADR 0001).
  [[nodiscard]] bool admits_activation() noexcept {
    return closed_ || (arms_writable(record_.max_emits_per_compute) &&
                       (pool_ == nullptr || pool_->has_free_slot(record_.max_emits_per_compute)));
  }
  /// True unless a refusal of an earlier activation still holds.
  [[nodiscard]] bool refusal_over() noexcept;
  /// True when only a device can free what this output waits for, so that no thread will wake the
  /// lane.
  [[nodiscard]] bool waits_for_device() const noexcept {
    return pool_ != nullptr && pool_->waits_for_device();
  }
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// Samples are numbered from 0 again, and no refusal holds.
  void begin_epoch() noexcept {
    sequence_ = 0;
    refusal_ = Refusal::kNone;
  }
  /// With nothing left to come, a sample that waits for a required peer that has left waits for
  /// ever: fails the run.
  void fail_for_lost_peer() noexcept {
    for (ExportArm* arm : exports_) {
      if (arm->lost_required_peer()) arm->fail_for_lost_peer();
    }
  }
  /// Closes it for the runtime, unless it is closed.
  void end() noexcept;
  /// What the next activation emits is marked as degraded, or no longer.
  void mark_degraded(bool degraded) noexcept {
    extra_flags_ = degraded ? SampleFlags::kDegraded : SampleFlags::kNone;
  }

  expected<void, Error> emit(void* value, const EmitOptions& options) noexcept override;
  expected<void, Error> emit_loan(TensorOutputLoan& loan,
                                  const EmitOptions& options) noexcept override;
  expected<TensorOutputLoan, Error> allocate_tensor(
      const TensorLoanRequest& request) noexcept override;
  expected<void, Error> close() noexcept override;

  [[nodiscard]] std::uint64_t emits() const noexcept { return emits_.read(); }
  [[nodiscard]] std::uint64_t refused_emits() const noexcept { return refused_emits_.read(); }
  [[nodiscard]] std::uint64_t missing_peers() const noexcept { return missing_peers_.read(); }
  [[nodiscard]] std::uint64_t refused_loans() const noexcept { return refused_loans_.read(); }

 private:
  enum class Refusal : std::uint8_t { kNone, kArms, kSlot };
  [[nodiscard]] bool arms_writable(std::uint32_t count) noexcept {
    for (EdgeQueue* edge : edges_) {
      if (!edge->has_room(count)) return false;
    }
    for (const ExportArm* arm : exports_) {
      if (!arm->writable()) return false;
    }
    return true;
  }
  /// A sample may be published now; else refusal() says why not.
  [[nodiscard]] bool admits() noexcept { return scope_.here() && !closed_ && arms_writable(1); }
  [[nodiscard]] expected<void, Error> refusal() noexcept;
  [[nodiscard]] expected<void, Error> publish_to_arms(void* value, std::uint64_t bytes,
                                                      const EmitOptions& options) noexcept;
  /// What the export with that index answered, as the outcome of the whole publication.
  [[nodiscard]] expected<void, Error> unpublished(std::size_t index, Error error) noexcept;

  const OutputPortRecord& record_;
  const PayloadOps& ops_;
  const StreamRef stream_;
  const ClockRef clock_;
  const ComputeScope& scope_;
  std::vector<EdgeQueue*> edges_{};
  std::vector<ExportArm*> exports_{};
  TensorPool* pool_{nullptr};
  OperatorProbe* probe_{nullptr};  ///< Null unless the run is observed.
  std::uint32_t port_{0};
  std::uint64_t sequence_{0};
  bool closed_{false};
  SampleFlags extra_flags_{SampleFlags::kNone};
  Refusal refusal_{Refusal::kNone};
  Counter emits_{};
  Counter refused_emits_{};
  Counter missing_peers_{};
  Counter refused_loans_{};
};

}  // namespace weftline::runtime
