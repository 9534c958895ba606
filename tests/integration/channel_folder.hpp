// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/channel/channel_runtime.hpp"
#include "weftline/testing/temporary_folder.hpp"

namespace test {

/// A folder for discovery records that goes with the test.
class ChannelFolder {
 public:
  [[nodiscard]] weftline::ChannelRuntimeOptions options() const {
    return {.directory = folder_.path()};
  }

 private:
  const weftline::testing::TemporaryFolder folder_{};
};

}  // namespace test
