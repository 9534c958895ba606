// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "export_port.hpp"
#include "import_port.hpp"
#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::runtime {

/// Where a session's ports to other processes come from. Used while the session is made; what it
/// gave out may outlive it.
class ChannelBindings {
 public:
  ChannelBindings() = default;
  ChannelBindings(const ChannelBindings&) = delete;
  ChannelBindings& operator=(const ChannelBindings&) = delete;
  virtual ~ChannelBindings() = default;

  [[nodiscard]] virtual expected<std::unique_ptr<ExportPort>, Error> open_export(
      const EndpointRecord& endpoint) = 0;
  [[nodiscard]] virtual expected<std::unique_ptr<ImportPort>, Error> open_import(
      const EndpointRecord& endpoint) = 0;
};

/// run_async() with ports from elsewhere: imports are run then, too. `bindings` outlives the
/// session.
[[nodiscard]] RunSession run_async_bound(const ExecutionPlan& plan, const RunOptions& options,
                                         ChannelBindings& bindings);

}  // namespace weftline::runtime
