// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "param_cell.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/parameter_control.hpp"

namespace weftline::runtime {

/// What a handle was restricted to, on top of what the handle before it was.
struct ParamAccessLink {
  ParamAccess access{};
  std::shared_ptr<const ParamAccessLink> before{};

  [[nodiscard]] bool admits(std::string_view operator_path, std::string_view field_path,
                            bool write) const noexcept;
};

/// All parameters of one session: what handles keep of it, also when it is gone.
class ParamControl {
 public:
  explicit ParamControl(const ExecutionPlan& plan);
  ParamControl(const ParamControl&) = delete;
  ParamControl& operator=(const ParamControl&) = delete;
  ~ParamControl() = default;

  /// Null for an operator without parameters. Lives as long as this.
  [[nodiscard]] ParamCell* cell(VertexId vertex) const noexcept {
    return cells_[vertex.value].get();
  }
  ParamUpdateResult update(std::string_view operator_path, std::span<const ParamAssignment> batch,
                           const ParamUpdateOptions& options, const ParamAccessLink* access);
  [[nodiscard]] ParamSnapshot snapshot(const ParamAccessLink* access) const;
  /// After every lane was joined for good.
  void end() noexcept;

 private:
  const std::string plan_digest_;
  std::vector<std::unique_ptr<ParamCell>> cells_{};  ///< By vertex.
  std::map<std::string, ParamCell*, std::less<>> by_path_{};
};

}  // namespace weftline::runtime
