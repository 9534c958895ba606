// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "channel_bindings.hpp"
#include "weftline/channel/channel_runtime.hpp"

namespace weftline::runtime {

/// The channels of this machine. Imports are refused.
class InlineChannels final : public ChannelBindings {
 public:
  InlineChannels(ChannelRuntime runtime, const ChannelEndpointCatalog& catalog)
      : runtime_(std::move(runtime)), catalog_(catalog) {}

  expected<std::unique_ptr<ExportPort>, Error> open_export(const EndpointRecord& endpoint) override;
  expected<std::unique_ptr<ImportPort>, Error> open_import(const EndpointRecord& endpoint) override;

 private:
  ChannelRuntime runtime_;
  const ChannelEndpointCatalog& catalog_;
};

}  // namespace weftline::runtime
