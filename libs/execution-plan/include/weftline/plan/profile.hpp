// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace weftline {

/// How much evidence a plan needs. A stricter profile refuses what a laxer one fills in by default;
/// it changes nothing that is accepted.
///
/// - kDevelopment refuses nothing.
/// - kDeployment refuses a queue whose depth neither author nor rates chose, and an import that
///   says nothing of its clock's health.
/// - kStrict also refuses a depth from nominal rates, which bound no burst, and a topic that runs
///   without its peer.
enum class Profile : std::uint8_t { kDevelopment = 0, kDeployment, kStrict };

/// "development", "deployment", "strict"; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view profile_name(Profile profile) noexcept;

/// Names the list above; another list has another id.
inline constexpr std::string_view kProfilePolicyId = "weftline.profiles.1";

/// Under which profile a plan was made.
struct ProfileManifest {
  Profile requested{Profile::kDevelopment};
  Profile effective{Profile::kDevelopment};  ///< The strictest when asked for one that is none.
  std::string_view policy_id{kProfilePolicyId};
  std::uint32_t plan_schema_version{0};
};

}  // namespace weftline
