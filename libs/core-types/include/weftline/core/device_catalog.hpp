// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/error.hpp"

namespace weftline {

enum class DeviceKind : std::uint8_t { kEmulated = 0, kCuda };

/// Names a device of this machine, e.g. "cuda:0". There is no default device. Across processes the
/// UUID counts, not this ordinal.
struct DeviceId {
  DeviceKind kind{DeviceKind::kEmulated};
  std::uint32_t ordinal{0};

  /// "emulated:N" or "cuda:N"; anything else is kInvalidArgument and the message lists the forms.
  [[nodiscard]] static expected<DeviceId, Error> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  friend constexpr auto operator<=>(DeviceId, DeviceId) noexcept = default;
};

using DeviceUuid = std::array<std::uint8_t, 16>;

/// In what portions a device sets SMs (streaming multiprocessors) apart for green contexts. All 0
/// where it can't.
struct GreenContextSupport {
  std::uint32_t minimum_partition_sms{0};      ///< The smallest part.
  std::uint32_t coscheduled_alignment_sms{0};  ///< SMs that run one cluster of blocks together.

  [[nodiscard]] bool supported() const noexcept { return quantum_sms() != 0; }
  /// What every part is a multiple of: the least common multiple of both numbers; 0 where either is
  /// 0 or the multiple is beyond 32 bits, which no device has SMs for.
  [[nodiscard]] std::uint32_t quantum_sms() const noexcept;
  friend bool operator==(const GreenContextSupport&, const GreenContextSupport&) = default;
};

/// What one device offers, as plain data.
struct DeviceDescription {
  DeviceId id{};
  DeviceUuid uuid{};
  std::string name{};
  std::uint32_t sm_count{0};
  std::uint32_t hardware_queues{0};
  std::uint64_t memory_bytes{0};
  bool stream_memory_operations{false};
  GreenContextSupport green_contexts{};
  friend bool operator==(const DeviceDescription&, const DeviceDescription&) = default;
};

/// What a target offers: an explicit input of compilation, so that a plan is the same on every
/// machine. Captured by `capture_device_catalog()` of cuda-streams.
struct DeviceCatalog {
  std::uint32_t host_cpu_count{0};
  std::vector<DeviceDescription> devices{};  ///< Sorted by id.

  [[nodiscard]] const DeviceDescription* find(DeviceId id) const noexcept;
  friend bool operator==(const DeviceCatalog&, const DeviceCatalog&) = default;
};

}  // namespace weftline
