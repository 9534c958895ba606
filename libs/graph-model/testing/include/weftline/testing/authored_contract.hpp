// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include "weftline/graph/contract.hpp"
#include "weftline/graph/operator_spec.hpp"
#include "weftline/testing/random_contract.hpp"

namespace weftline::testing {

/// A RandomContract in an author's words: a member of the operator that runs under it. Its setup()
/// calls declare_source(), its contract() calls contract(), and its start() binds the one source
/// that the records name. Not for programs.
class AuthoredContract {
 public:
  explicit AuthoredContract(RandomContract records) : records_(std::move(records)) {}
  [[nodiscard]] const RandomContract& records() const noexcept { return records_; }

  void declare_source(OperatorSpec& spec);
  /// `inputs` are the operator's, by port, at least as many as the records select from.
  [[nodiscard]] Contract contract(std::span<const InputPort* const> inputs) const;

  // The one of the source's kind is declared.
  NotificationSourceRef notification{};
  ReadableSourceRef readable{};
  DoorbellSourceRef doorbell{};
  SpinSourceRef spin{};

 private:
  [[nodiscard]] Trigger trigger(std::span<const InputPort* const> inputs) const;
  const RandomContract records_;
};

}  // namespace weftline::testing
