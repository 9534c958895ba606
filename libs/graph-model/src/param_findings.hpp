// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weftline/graph/param_finding.hpp"

namespace weftline::params {

/// Gathers findings, up to their maximum.
class Findings {
 public:
  void add(std::string_view token, std::string path, std::string message, std::string fix,
           ErrorCode code = ErrorCode::kInvalidArgument) {
    add({code, token, std::move(path), std::move(message), std::move(fix)});
  }
  void add(ParamFinding finding) {
    if (!full()) items_.push_back(std::move(finding));
  }
  [[nodiscard]] bool full() const noexcept { return items_.size() >= kMaximumParamFindings; }
  [[nodiscard]] std::size_t count() const noexcept { return items_.size(); }
  [[nodiscard]] std::vector<ParamFinding> take() && { return std::move(items_); }

 private:
  std::vector<ParamFinding> items_{};
};

/// "shape[2]" of an array or list; "level" of a scalar or a sensitive field.
[[nodiscard]] std::string element_path(const ParamFieldDescriptor& field, std::size_t index);

/// Whether a list or string of this length is admitted; adds a finding when not.
bool check_length(const ParamFieldDescriptor& field, const std::string& path, std::uint64_t length,
                  Findings& findings);

/// One field of `params` against all that its schema enforces.
void check_field(const ParamFieldDescriptor& field, const void* params, Findings& findings);

}  // namespace weftline::params
