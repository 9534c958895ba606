// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/device_catalog.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

namespace weftline {
namespace {

constexpr std::string_view kEmulatedPrefix = "emulated:";
constexpr std::string_view kCudaPrefix = "cuda:";

}  // namespace

expected<DeviceId, Error> DeviceId::parse(std::string_view text) {
  DeviceId id;
  std::string_view digits;
  if (text.starts_with(kEmulatedPrefix)) {
    digits = text.substr(kEmulatedPrefix.size());
  } else if (text.starts_with(kCudaPrefix)) {
    id.kind = DeviceKind::kCuda;
    digits = text.substr(kCudaPrefix.size());
  }
  const char* const end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, id.ordinal);
  // One spelling for each device: "cuda:00" is refused.
  if (status != std::errc{} || stop != end || id.to_string() != text) {
    std::string message = "'";
    message.append(text).append(
        "' names no device; write emulated:N or cuda:N, N being the ordinal (0, 1, …)");
    return fail(ErrorCode::kInvalidArgument, "DEVICE_ID_INVALID", std::move(message));
  }
  return id;
}

std::string DeviceId::to_string() const {
  return std::string(kind == DeviceKind::kCuda ? kCudaPrefix : kEmulatedPrefix) +
         std::to_string(ordinal);
}

std::uint32_t GreenContextSupport::quantum_sms() const noexcept {
  if (minimum_partition_sms == 0 || coscheduled_alignment_sms == 0) return 0;
  const std::uint64_t multiple =
      std::lcm(std::uint64_t{minimum_partition_sms}, std::uint64_t{coscheduled_alignment_sms});
  return multiple <= std::numeric_limits<std::uint32_t>::max()
             ? static_cast<std::uint32_t>(multiple)
             : 0;
}

const DeviceDescription* DeviceCatalog::find(DeviceId id) const noexcept {
  const auto found = std::ranges::find(devices, id, &DeviceDescription::id);
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace weftline
