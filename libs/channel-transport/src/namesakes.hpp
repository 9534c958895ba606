// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace weftline::channel {

/// Why two sides with one endpoint's name may never meet: live publishers of it for deployments
/// other than ours, in words with both ids; empty when there is none. Reads the runtime folder: for
/// a wait that ended without a peer. Never throws.
[[nodiscard]] std::string describe_namesakes(int directory, std::string_view deployment_id,
                                             std::string_view endpoint) noexcept;

}  // namespace weftline::channel
