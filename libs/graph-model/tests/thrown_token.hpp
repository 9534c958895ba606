// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "weftline/core/error.hpp"

/// The token that an authoring call throws; empty when it does not.
template <class Call>
std::string thrown_token(Call&& call) {
  try {
    call();
  } catch (const weftline::RuntimeError& error) {
    CHECK_FALSE(error.error().message.empty());
    return std::string(error.token());
  }
  return {};
}
