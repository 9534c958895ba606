// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// A fuzz target reads any bytes, may refuse them, and checks what it accepts. It is built in two
// ways: with replay_main.cpp, which tries the seeds and some thousand random changes of them in
// every test run, and with clang's libFuzzer (preset `fuzz`, run by ci/fuzz).

/// The target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace weftline::fuzz {

/// Where to start from: inputs that the target accepts.
std::vector<std::string> seeds();

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program, which is how a fuzzer learns of a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

}  // namespace weftline::fuzz
