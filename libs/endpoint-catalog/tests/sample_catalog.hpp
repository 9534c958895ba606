// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline::catalog_tests {

struct Pose {
  double position[3];
  std::uint32_t frame;
  std::uint32_t flags;
};

/// As large as a POD may be, and one that is larger by its alignment.
struct LargestPod {
  std::byte bytes[kMaximumInlineBodyBytes];
};
struct TooLargePod {
  std::byte bytes[kMaximumInlineBodyBytes + 1];
};

inline TensorBoundaryContract frame_contract() {
  return {.memory_kind = MemoryKind::kPinnedHost,
          .dtype = {kDLUInt, 8, 1},
          .rank = 3,
          .max_rank = std::nullopt,
          .max_byte_span = 1'327'104};
}

inline ClockHealthOptions fresh_clock() {
  return {.capability = ClockHealthCapability::kStatusReports,
          .requirement = ClockHealthRequirement::kFreshHealthyReport,
          .max_report_age = std::chrono::milliseconds(1),
          .action = EndpointClockHealthDisposition::kSkip};
}

}  // namespace weftline::catalog_tests

namespace weftline {

template <>
struct ChannelTypeIdentity<catalog_tests::Pose> {
  static constexpr std::string_view kName = "com.example.Pose";
  static constexpr std::uint32_t kVersion = 2;
};
template <>
struct ChannelPodLayout<catalog_tests::Pose> {
  static constexpr std::array<PodFieldSpec, 3> kFields{
      WEFTLINE_POD_FIELD(catalog_tests::Pose, position),
      WEFTLINE_POD_FIELD(catalog_tests::Pose, frame),
      WEFTLINE_POD_FIELD(catalog_tests::Pose, flags)};
};

template <>
struct ChannelTypeIdentity<catalog_tests::LargestPod> {
  static constexpr std::string_view kName = "com.example.Largest";
  static constexpr std::uint32_t kVersion = 1;
};
template <>
struct ChannelPodLayout<catalog_tests::LargestPod> {
  static constexpr std::array<PodFieldSpec, 1> kFields{
      WEFTLINE_POD_FIELD(catalog_tests::LargestPod, bytes)};
};

template <>
struct ChannelTypeIdentity<catalog_tests::TooLargePod> {
  static constexpr std::string_view kName = "com.example.TooLarge";
  static constexpr std::uint32_t kVersion = 1;
};
template <>
struct ChannelPodLayout<catalog_tests::TooLargePod> {
  static constexpr std::array<PodFieldSpec, 1> kFields{
      WEFTLINE_POD_FIELD(catalog_tests::TooLargePod, bytes)};
};

}  // namespace weftline

namespace weftline::catalog_tests {

/// A scalar import, a POD export and a tensor export, added out of order.
inline ChannelEndpointCatalog sample_catalog() {
  auto builder = ChannelEndpointCatalog::builder("line-7");
  REQUIRE(builder.export_topic<Pose>(
      "poses", "weftline://robot/poses",
      {.queue_policy = ChannelQueuePolicy::kDropOldest, .peer = PeerRequirement::kOptional}));
  REQUIRE(builder.import_topic<std::uint32_t>("control", "weftline://robot/control",
                                              {.attach_timeout_ns = 5'000'000'000,
                                               .incarnations = 2,
                                               .capture_time = RequireCaptureTime::kYes,
                                               .clock_health = fresh_clock()}));
  REQUIRE(builder.export_topic<Tensor>("frames", "weftline://robot/frames",
                                       {.queue_depth = 4, .tensor = frame_contract()}));
  auto catalog = std::move(builder).build();
  REQUIRE(catalog);
  return *std::move(catalog);
}

inline EndpointRecord record_of(std::string_view name) {
  const ChannelEndpointCatalog catalog = sample_catalog();
  const EndpointRecord* record = catalog.find(name);
  REQUIRE(record != nullptr);
  return *record;
}

}  // namespace weftline::catalog_tests
