// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "input_runtime.hpp"

namespace weftline::runtime {

/// The inputs of one running operator, taken through an activation together.
class InputSet {
 public:
  /// By port. All before the first activation.
  InputRuntime& add(std::unique_ptr<InputRuntime> input);

  [[nodiscard]] InputRuntime& operator[](std::uint32_t port) noexcept { return *inputs_[port]; }
  [[nodiscard]] const InputRuntime& operator[](std::uint32_t port) const noexcept {
    return *inputs_[port];
  }
  /// All of them have to be prepared then.
  void use_probe(OperatorProbe& probe);
  [[nodiscard]] std::span<const std::unique_ptr<InputRuntime>> all() const noexcept {
    return inputs_;
  }

  /// Completes the candidate that the trigger has begun: selectors take what is the activation's,
  /// policies fill in for what is missing. False: it is skipped.
  [[nodiscard]] expected<bool, Error> complete(std::int64_t reference_ns) noexcept {
    if (side_.empty() && with_policy_.empty()) return true;
    return complete_all(reference_ns);
  }
  /// Whether prepare() has anything to do.
  [[nodiscard]] bool needs_preparation() const noexcept { return !with_work_.empty(); }
  /// See InputRuntime.
  [[nodiscard]] expected<void, Error> prepare() noexcept {
    for (InputRuntime* input : with_work_) WEFTLINE_TRY(input->prepare());
    return {};
  }
  void finish(bool ran) noexcept {
    for (const auto& input : inputs_) input->finish(ran);
  }

 private:
  [[nodiscard]] expected<bool, Error> complete_all(std::int64_t reference_ns) noexcept;

  std::vector<std::unique_ptr<InputRuntime>> inputs_{};
  std::vector<InputRuntime*> side_{};
  std::vector<InputRuntime*> with_policy_{};
  std::vector<InputRuntime*> with_work_{};  ///< Before compute(): tensors and caches.
};

}  // namespace weftline::runtime
