// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "weftline/testing/temporal_trace.hpp"

namespace weftline::testing {

/// What one activation takes from a side input, by the rules of weftline/graph/selection.hpp. Each
/// class is one selector; references do not go back.
class SelectorModel {
 public:
  virtual ~SelectorModel() = default;
  /// Empty: there is nothing to take.
  virtual std::vector<ModelSample> select(ModelInput& input, std::int64_t reference_ns) = 0;
  /// The input is known to hold all that a window around the reference may take.
  [[nodiscard]] virtual bool complete(const ModelInput& input, std::int64_t reference_ns) const {
    static_cast<void>(input);
    static_cast<void>(reference_ns);
    return true;
  }
  /// The most samples that were held outside the queue after a selection, or given out by one.
  [[nodiscard]] std::size_t most_held() const noexcept { return most_held_; }
  /// Why the run fails; empty as long as it does not.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 protected:
  /// Of a sample; without one the run fails.
  std::optional<std::int64_t> capture_of(const ModelSample& sample);
  void note_held(std::size_t count);

 private:
  std::size_t most_held_{0};
  std::string failure_{};
};

class ExactModel final : public SelectorModel {
 public:
  std::vector<ModelSample> select(ModelInput& input, std::int64_t reference_ns) override;
};

class LatestWithinModel final : public SelectorModel {
 public:
  explicit LatestWithinModel(std::int64_t max_age_ns) : max_age_ns_(max_age_ns) {}
  std::vector<ModelSample> select(ModelInput& input, std::int64_t reference_ns) override;

 private:
  std::int64_t max_age_ns_;
  std::optional<ModelSample> latest_{};
};

class DrainAllModel final : public SelectorModel {
 public:
  explicit DrainAllModel(std::size_t max_samples) : max_samples_(max_samples) {}
  std::vector<ModelSample> select(ModelInput& input, std::int64_t reference_ns) override;

 private:
  std::size_t max_samples_;
};

class BracketedWindowModel final : public SelectorModel {
 public:
  BracketedWindowModel(std::int64_t lookbehind_ns, std::int64_t lookahead_ns,
                       std::size_t max_samples)
      : lookbehind_ns_(lookbehind_ns), lookahead_ns_(lookahead_ns), max_samples_(max_samples) {}
  std::vector<ModelSample> select(ModelInput& input, std::int64_t reference_ns) override;
  [[nodiscard]] bool complete(const ModelInput& input, std::int64_t reference_ns) const override;

 private:
  std::int64_t lookbehind_ns_;
  std::int64_t lookahead_ns_;
  std::size_t max_samples_;
  std::deque<ModelSample> held_{};
};

/// What an activation does when a selector finds nothing.
class MissingModel {
 public:
  enum class Outcome { kRun, kSkip, kFail };

  MissingModel(MissingDataKind kind, std::uint32_t max_reuses)
      : kind_(kind), max_reuses_(max_reuses) {}
  /// Writes what compute() finds, if it runs.
  Outcome apply(const std::vector<ModelSample>& selected, ModelSelection& found);

 private:
  MissingDataKind kind_;
  std::uint32_t max_reuses_;
  std::vector<std::uint64_t> last_{};
  std::uint32_t reuses_{0};
};

/// How late a start of a candidate is; absent when the run fails instead. The limit is inclusive.
[[nodiscard]] std::optional<ActivationStatus> start_status(const StartDelay& delay,
                                                           std::int64_t decided_ns,
                                                           std::int64_t started_ns);

}  // namespace weftline::testing
