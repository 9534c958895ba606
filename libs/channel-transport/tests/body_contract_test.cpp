// SPDX-License-Identifier: Apache-2.0
#include "body_contract.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>

namespace weftline::channel {

TEST_CASE("a byte that is no bool is not admitted where the payload has a bool, and only there") {
  const auto broken = [](const PayloadIdentity& payload, std::size_t at) {
    std::vector<std::byte> body(payload.size, std::byte{1});
    const BodyContract contract(payload);
    REQUIRE(contract.admits(body));
    body[at] = std::byte{2};
    return !contract.admits(body);
  };
  CHECK(broken(payload_identity<bool>(), 0));
  CHECK_FALSE(broken(payload_identity<std::uint8_t>(), 0));
  PayloadIdentity pod{.kind = PayloadIdentityKind::kPod, .name = "p", .version = 1, .size = 8};
  pod.fields = {{"a", PodScalarKind::kUInt8, 0, 2},
                {"b", PodScalarKind::kBool, 2, 3},
                {"c", PodScalarKind::kByte, 5, 2},
                {"d", PodScalarKind::kBool, 7, 1}};
  const std::array<bool, 8> is_bool{false, false, true, true, true, false, false, true};
  for (std::size_t at = 0; at < is_bool.size(); ++at) CHECK(broken(pod, at) == is_bool[at]);
}

}  // namespace weftline::channel
