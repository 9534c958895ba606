// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/fake_channels.hpp"

namespace weftline::testing {

/// Makes one action of bringing a session up fail, on the real path, and writes down what the
/// session makes and undoes. One session at a time; outlives it.
class SessionFaults {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  /// Actions are counted from 0 over all steps, in the order in which they come.
  explicit SessionFaults(std::size_t failing = kNone);
  SessionFaults(const SessionFaults&) = delete;
  SessionFaults& operator=(const SessionFaults&) = delete;
  ~SessionFaults();

  /// As weftline::run_async().
  [[nodiscard]] RunSession run_async(const ExecutionPlan& plan, const RunOptions& options = {});
  /// As FakeChannels::run_async().
  [[nodiscard]] RunSession run_async(const ExecutionPlan& plan, const RunOptions& options,
                                     FakeChannels& channels);

  // After the session is gone.

  /// Steps, in the order of their beginning.
  [[nodiscard]] const std::vector<std::string>& begun() const noexcept;
  /// Steps, in the order of their undoing.
  [[nodiscard]] const std::vector<std::string>& undone() const noexcept;
  /// "step: place" of each action that was admitted or made to fail.
  [[nodiscard]] const std::vector<std::string>& actions() const noexcept;

 private:
  class Hooks;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace weftline::testing
