// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weftline/catalog/clock_health.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/core/tensor_contract.hpp"

namespace weftline {

/// Seen from the graph: an export is published by the graph and subscribed to by peers.
enum class TopicDirection : std::uint8_t { kImport = 0, kExport };

enum class ChannelQueuePolicy : std::uint8_t {
  kBlocking = 0,  ///< Lossless: a full queue refuses with kBackpressured.
  kDropOldest,    ///< Keeps the newest; every drop is counted.
};

/// Whether the graph insists on its peer.
enum class PeerRequirement : std::uint8_t { kRequired = 0, kOptional };

enum class EndpointNameOrigin : std::uint8_t { kAuthored = 0, kGenerated };

/// Whether every sample has to say when it was captured. None is ever made up.
enum class RequireCaptureTime : std::uint8_t { kNo = 0, kYes };

/// Names as the catalog spells them; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view topic_direction_name(TopicDirection direction) noexcept;
[[nodiscard]] std::string_view queue_policy_name(ChannelQueuePolicy policy) noexcept;
[[nodiscard]] std::string_view peer_requirement_name(PeerRequirement requirement) noexcept;
[[nodiscard]] std::string_view endpoint_name_origin_name(EndpointNameOrigin origin) noexcept;
[[nodiscard]] std::string_view capture_time_name(RequireCaptureTime requirement) noexcept;

inline constexpr std::uint64_t kInlineFrameBytes = 32'768;
inline constexpr std::uint64_t kMaximumInlineBodyBytes = 32'744;    ///< scalar and POD
inline constexpr std::uint64_t kMaximumInlineSchemaBytes = 32'704;  ///< serialized schema

inline constexpr std::uint64_t kMaximumAttachTimeoutNs = 31'536'000'000'000'000;  ///< A year.

/// One boundary endpoint: all that a peer needs to know, and nothing of what lives behind it.
struct EndpointRecord {
  /// Unique in its catalog, and fit to be a file's name: 1 to 128 of A-Z a-z 0-9 . _ - with no dot
  /// in front.
  std::string name{};
  std::string uri{};  ///< "weftline://…"; descriptive, gives no right to attach.
  EndpointNameOrigin name_origin{EndpointNameOrigin::kAuthored};
  TopicDirection direction{TopicDirection::kExport};
  PayloadIdentity payload{};
  ChannelQueuePolicy queue_policy{ChannelQueuePolicy::kBlocking};
  std::uint32_t queue_depth{8};           ///< Frames queued per link; 1 to 65536.
  std::uint32_t max_subscribers{8};       ///< Links at a time; 1 to 64.
  std::uint32_t max_borrowed_samples{1};  ///< Samples that one subscriber may hold; 1 to 64.
  std::uint32_t max_loaned_samples{1};    ///< Samples that the publisher fills at a time; 1 to 64.
  PeerRequirement peer{PeerRequirement::kRequired};
  std::uint64_t attach_timeout_ns{
      0};  ///< How long start-up waits for a peer; 0: not at all. At most kMaximumAttachTimeoutNs.
  std::uint32_t incarnations{1};         ///< Producer incarnations an import admits; 1 to 65536.
  std::string process_group{"default"};  ///< Same form as the name.
  std::optional<TensorBoundaryContract> tensor{};  ///< Exactly for tensor payloads.
  RequireCaptureTime capture_time{RequireCaptureTime::kNo};
  ClockHealthOptions clock_health{};
};

}  // namespace weftline
