// SPDX-License-Identifier: Apache-2.0
#include "body_contract.hpp"

#include <algorithm>

namespace weftline::channel {

BodyContract::BodyContract(const PayloadIdentity& payload)
    : kind_(payload.kind), bytes_(payload.size) {
  if (payload.kind == PayloadIdentityKind::kScalar &&
      payload.name == pod_scalar_name(PodScalarKind::kBool)) {
    bools_.push_back({0, 1});
  }
  for (const PodField& field : payload.fields) {
    if (field.kind == PodScalarKind::kBool) bools_.push_back({field.offset, field.count});
  }
}

bool BodyContract::admits(std::span<const std::byte> body) const noexcept {
  return std::ranges::all_of(bools_, [&](const Range& range) {
    return std::ranges::all_of(body.subspan(range.begin, range.count),
                               [](std::byte value) { return value <= std::byte{1}; });
  });
}

}  // namespace weftline::channel
