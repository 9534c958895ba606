// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "weftline/channel/channel_runtime.hpp"

namespace test {

/// A folder for discovery records that goes with the test.
class ChannelFolder {
 public:
  ChannelFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weftline-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ChannelFolder(const ChannelFolder&) = delete;
  ChannelFolder& operator=(const ChannelFolder&) = delete;
  ~ChannelFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] weftline::ChannelRuntimeOptions options() const { return {.directory = path_}; }

 private:
  std::filesystem::path path_{};
};

}  // namespace test
