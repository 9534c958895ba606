// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weftline/plan/temporal_records.hpp"
#include "weftline/testing/temporal_trace.hpp"

namespace weftline::testing {

/// What one firing of a trigger takes; other inputs are left to their selectors.
struct TriggerFiring {
  std::int64_t activation_ns{0};
  std::int64_t reference_ns{0};
  std::int64_t first_tick_ns{0};
  std::vector<std::pair<std::uint32_t, ModelSample>> taken{};
};

/// When an operator runs, by the rules of weftline/graph/trigger.hpp. Each class is one trigger.
class TriggerModel {
 public:
  virtual ~TriggerModel() = default;
  virtual void start(std::int64_t now_ns) { static_cast<void>(now_ns); }
  /// The next firing that is due at `now_ns`, if any; takes and drops heads of the inputs.
  virtual std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs,
                                            std::int64_t now_ns) = 0;
  /// No firing can come any more.
  [[nodiscard]] virtual bool finished(const std::vector<ModelInput>& inputs) const = 0;
  /// Heads that could be part of no firing.
  [[nodiscard]] std::uint64_t drops() const noexcept { return drops_; }
  /// Why the run fails; empty as long as it does not.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 protected:
  std::uint64_t drops_{0};
  std::string failure_{};
};

class EachModel final : public TriggerModel {
 public:
  explicit EachModel(std::uint32_t input) : input_(input) {}
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>& inputs) const override;

 private:
  std::uint32_t input_;
};

class AnyInputModel final : public TriggerModel {
 public:
  explicit AnyInputModel(std::vector<std::uint32_t> ports) : ports_(std::move(ports)) {}
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>& inputs) const override;

 private:
  std::vector<std::uint32_t> ports_;
  std::int64_t last_ns_{0};  ///< When the newest sample that was taken came; times only go on.
};

class ClockModel final : public TriggerModel {
 public:
  ClockModel(std::int64_t period_ns, std::int64_t phase_ns, ClockPhaseOrigin origin)
      : period_ns_(period_ns), phase_ns_(phase_ns), origin_(origin) {}
  void start(std::int64_t now_ns) override;
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>&) const override { return false; }
  /// Ticks that had no firing of their own.
  [[nodiscard]] std::uint64_t coalesced() const noexcept { return coalesced_; }

 private:
  std::int64_t period_ns_;
  std::int64_t phase_ns_;
  ClockPhaseOrigin origin_;
  std::int64_t next_ns_{0};
  std::uint64_t coalesced_{0};
};

class AlignedModel final : public TriggerModel {
 public:
  AlignedModel(std::vector<std::uint32_t> ports, std::int64_t window_ns)
      : ports_(std::move(ports)), window_ns_(window_ns) {}
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>& inputs) const override;

 private:
  std::vector<std::uint32_t> ports_;
  std::int64_t window_ns_;
};

class WindowModel final : public TriggerModel {
 public:
  /// `complete` says whether all bracketed inputs reach over the window of a reference.
  WindowModel(std::uint32_t anchor, std::int64_t max_wait_ns, std::size_t max_pending,
              std::function<bool(std::int64_t reference_ns)> complete)
      : anchor_(anchor),
        max_wait_ns_(max_wait_ns),
        max_pending_(max_pending),
        complete_(std::move(complete)) {}
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>& inputs) const override;
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }
  /// Windows that ran because their wait was over.
  [[nodiscard]] std::uint64_t timeouts() const noexcept { return timeouts_; }

 private:
  struct Pending {
    ModelSample anchor{};
    std::int64_t taken_ns{0};
  };
  std::uint32_t anchor_;
  std::int64_t max_wait_ns_;
  std::size_t max_pending_;
  std::function<bool(std::int64_t)> complete_;
  bool primed_{false};
  std::deque<Pending> pending_{};
  std::uint64_t timeouts_{0};
};

class NotifiedModel final : public TriggerModel {
 public:
  explicit NotifiedModel(std::uint32_t capacity) : capacity_(capacity) {}
  /// False, and nothing changes, when as many as the capacity are outstanding.
  bool notify();
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>&) const override { return false; }

 private:
  std::uint32_t capacity_;
  std::uint32_t outstanding_{0};
};

class ReadableModel final : public TriggerModel {
 public:
  /// The level, as the adapter sees it now.
  void set_readable(bool readable) { readable_ = readable; }
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>&) const override { return false; }

 private:
  bool readable_{false};
};

class DoorbellModel final : public TriggerModel {
 public:
  /// A count that is not beyond what was rung before changes nothing.
  void ring(std::uint64_t count);
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>&) const override { return false; }

 private:
  std::uint64_t rung_{0};
  std::uint64_t seen_{0};
};

class SpinModel final : public TriggerModel {
 public:
  /// One look at the flag.
  void poll(bool flag);
  std::optional<TriggerFiring> next(std::vector<ModelInput>& inputs, std::int64_t now_ns) override;
  [[nodiscard]] bool finished(const std::vector<ModelInput>&) const override { return false; }

 private:
  std::optional<bool> last_{};
  bool edge_{false};
};

}  // namespace weftline::testing
