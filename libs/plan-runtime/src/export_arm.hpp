// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "counter.hpp"
#include "export_port.hpp"
#include "parker.hpp"
#include "run_control.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline::runtime {

/// One export of the plan, used on the lane of the operator that feeds it. A required peer that has
/// accepted samples has to be there when the stream ends: that nobody is, fails the run.
class ExportArm {
 public:
  struct Options {
    EndpointId endpoint{};
    std::string name{};
    bool peer_required{true};
  };
  ExportArm(Options options, std::unique_ptr<ExportPort> port, Parker& lane,
            RunControl& control) noexcept
      : options_(std::move(options)), port_(std::move(port)), control_(control) {
    port_->wake(lane);
  }
  ExportArm(const ExportArm&) = delete;
  ExportArm& operator=(const ExportArm&) = delete;

  /// True when publish() would accept a sample now.
  [[nodiscard]] bool writable() const noexcept {
    return port_->has_room() && !lacks_required_peer();
  }
  [[nodiscard]] bool lacks_required_peer() const noexcept {
    return options_.peer_required && port_->peer_count() == 0;
  }
  /// A required peer has left that has samples of this run. Another may come, as long as nothing is
  /// left to do but for it.
  [[nodiscard]] bool lost_required_peer() const noexcept {
    return lacks_required_peer() && published_.read() > 0;
  }

  /// `value` is a complete object of the output's payload.
  [[nodiscard]] expected<void, Error> publish(const void* value,
                                              const SampleMetadata& metadata) noexcept {
    auto recipients = port_->publish(value, metadata);
    if (!recipients) return forward_error(std::move(recipients));
    auto& counter = *recipients > 0 ? published_ : without_recipient_;
    counter.add();
    return {};
  }

  void close() noexcept {
    if (lost_required_peer()) fail_for_lost_peer();
    port_->close();
  }
  void fail_for_lost_peer() noexcept {
    control_.fail("endpoint " + options_.name,
                  {ErrorCode::kFailure, "EXPORT_PEER_LOST",
                   "the required subscriber took " + std::to_string(published_.read()) +
                       " samples and left before the end of the stream; keep one attached until it "
                       "receives the end, or declare the peer optional",
                   0});
  }

  /// The controller, before the lanes start.
  [[nodiscard]] expected<void, Error> wait_for_peer(
      std::chrono::steady_clock::time_point deadline) {
    return port_->wait_for_peer(deadline);
  }
  [[nodiscard]] ExportCounters counters() const noexcept {
    return {options_.endpoint, port_->peer_count(), published_.read(), without_recipient_.read()};
  }

 private:
  const Options options_;
  const std::unique_ptr<ExportPort> port_;
  RunControl& control_;

  Counter published_{};
  Counter without_recipient_{};
};

}  // namespace weftline::runtime
