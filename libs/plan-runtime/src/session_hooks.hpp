// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace weftline::runtime {

/// Sees a session being made and undone, on the thread that does it, and can make any action of it
/// fail: for tests only.
class SessionHooks {
 public:
  virtual ~SessionHooks() = default;
  virtual void begun(std::string_view step) = 0;
  /// Before each action of a step; false: it fails, as RUN_FAULT_INJECTED.
  [[nodiscard]] virtual bool admits(std::string_view step, std::string_view place) = 0;
  /// A step that had begun has been undone.
  virtual void undone(std::string_view step) noexcept = 0;
};

}  // namespace weftline::runtime
