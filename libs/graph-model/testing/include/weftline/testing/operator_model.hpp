// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weftline/plan/temporal_records.hpp"
#include "weftline/testing/selector_models.hpp"
#include "weftline/testing/trigger_models.hpp"

namespace weftline::testing {

/// One operator's contract as a plan freezes it, on a trace: feed what happens in order, and pull
/// the activations. Not for programs, see temporal_trace.hpp.
class OperatorModel {
 public:
  /// `selections` by input; a notified operator takes the capacity of its source. Throws
  /// std::invalid_argument for records that no accepted plan has.
  OperatorModel(const TemporalTriggerPlanRecord& trigger,
                const std::vector<SourcePlanRecord>& sources,
                const std::vector<EdgeSelectionRecord>& selections);

  void start(std::int64_t now_ns);
  void arrive(std::uint32_t input, ModelSample sample);
  void end(std::uint32_t input);
  /// Time only goes on.
  void advance(std::int64_t now_ns);

  // For the trigger of that kind.

  bool notify();
  void set_readable(bool readable);
  void ring(std::uint64_t count);
  void poll(bool flag);

  /// The next activation that is due now; none once the operator has finished or failed.
  std::optional<ModelActivation> next();

  [[nodiscard]] bool finished() const;
  /// Why the run fails; empty as long as it does not.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Heads that OnAligned dropped, and ticks that OnClock coalesced.
  [[nodiscard]] std::uint64_t drops() const noexcept { return trigger_->drops(); }
  [[nodiscard]] std::uint64_t coalesced_ticks() const noexcept;
  /// Candidates that a missing sample suppressed.
  [[nodiscard]] std::uint64_t skips() const noexcept { return skips_; }
  /// What a selector held at most, see SelectorModel.
  [[nodiscard]] std::size_t most_held(std::uint32_t input) const;

 private:
  template <class Model>
  Model& trigger_as(const char* what);
  [[nodiscard]] bool windows_complete(std::int64_t reference_ns) const;
  /// False: the candidate is skipped, or the run fails.
  bool fill(ModelActivation& activation, const TriggerFiring& firing);

  std::vector<ModelInput> inputs_{};
  std::vector<std::unique_ptr<SelectorModel>> selectors_{};  ///< Null for triggering inputs.
  std::vector<std::optional<MissingModel>> missing_{};
  std::unique_ptr<TriggerModel> trigger_{};
  std::optional<std::uint64_t> calls_left_{};
  std::int64_t now_ns_{0};
  std::uint64_t skips_{0};
  std::string failure_{};
};

}  // namespace weftline::testing
