// SPDX-License-Identifier: Apache-2.0
#include "input_set.hpp"

#include <utility>

namespace weftline::runtime {

InputRuntime& InputSet::add(std::unique_ptr<InputRuntime> input) {
  InputRuntime& added = *input;
  inputs_.push_back(std::move(input));
  if (added.is_side()) side_.push_back(&added);
  if (added.has_policy()) with_policy_.push_back(&added);
  if (added.needs_preparation()) with_work_.push_back(&added);
  return added;
}

void InputSet::use_probe(OperatorProbe& probe) {
  with_work_.clear();
  for (std::uint32_t port = 0; port < inputs_.size(); ++port) {
    inputs_[port]->use_probe(probe, port);
    with_work_.push_back(inputs_[port].get());
  }
}

expected<bool, Error> InputSet::complete_all(std::int64_t reference_ns) noexcept {
  for (InputRuntime* input : side_) WEFTLINE_TRY(input->select_side(reference_ns));
  bool runs = true;
  for (InputRuntime* input : with_policy_) {
    WEFTLINE_ASSIGN(const bool settled, input->settle());
    runs = runs && settled;
  }
  return runs;
}

}  // namespace weftline::runtime
