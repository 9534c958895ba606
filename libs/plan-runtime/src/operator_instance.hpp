// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "weftline/graph/operator.hpp"
#include "weftline/graph/operator_spec.hpp"

namespace weftline::runtime {

/// A user's operator and what its setup() declared: the ports in there are its members.
struct OperatorInstance {
  std::unique_ptr<OperatorBase> object{};
  OperatorSpec spec{};
};

}  // namespace weftline::runtime
