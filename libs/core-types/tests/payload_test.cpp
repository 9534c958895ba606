// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/payload.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <vector>

namespace weftline {
namespace {

struct Pose {
  double position[3];
  std::uint32_t frame;
  std::uint32_t flags;
};

struct Gap {
  std::uint8_t tag;
  std::uint32_t value;
};

struct Grid {
  std::uint16_t cells[3][4];
};

struct NoTraits {
  int value;
};

}  // namespace

template <>
struct ChannelTypeIdentity<Pose> {
  static constexpr std::string_view kName = "com.example.Pose";
  static constexpr std::uint32_t kVersion = 2;
};
template <>
struct ChannelPodLayout<Pose> {
  static constexpr std::array<PodFieldSpec, 3> kFields{WEFTLINE_POD_FIELD(Pose, position),
                                                       WEFTLINE_POD_FIELD(Pose, frame),
                                                       WEFTLINE_POD_FIELD(Pose, flags)};
};

namespace {

constexpr std::array<PodFieldSpec, 2> kGapFields{WEFTLINE_POD_FIELD(Gap, tag),
                                                 WEFTLINE_POD_FIELD(Gap, value)};
constexpr std::array<PodFieldSpec, 1> kTailMissing{PodFieldSpec{"a", PodScalarKind::kUInt16, 0, 1}};
constexpr std::array<PodFieldSpec, 2> kOverlap{PodFieldSpec{"a", PodScalarKind::kUInt32, 0, 1},
                                               PodFieldSpec{"b", PodScalarKind::kUInt32, 2, 1}};
constexpr std::array<PodFieldSpec, 1> kNoElements{PodFieldSpec{"a", PodScalarKind::kUInt32, 0, 0}};

static_assert(WEFTLINE_POD_FIELD(Grid, cells).count == 12);
static_assert(PortableScalar<std::uint8_t> && PortableScalar<double> && PortableScalar<std::byte>);
static_assert(!PortableScalar<char> && !PortableScalar<long double> && !PortableScalar<void*>);
static_assert(ChannelPod<Pose> && PublishedPayload<Pose> && PublishedPayload<Tensor>);
static_assert(!PublishedPayload<NoTraits> && !PublishedPayload<std::string>);
static_assert(payload_traits::covers_every_byte(ChannelPodLayout<Pose>::kFields, sizeof(Pose)));
static_assert(!payload_traits::covers_every_byte(kGapFields, sizeof(Gap)));
static_assert(!payload_traits::covers_every_byte(kTailMissing, 4));
static_assert(!payload_traits::covers_every_byte(kOverlap, 6));
static_assert(!payload_traits::covers_every_byte(kNoElements, 0));

TEST_CASE("scalar kinds have unique names and their C++ sizes") {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(PodScalarKind::kBool); ++kind) {
    names.insert(pod_scalar_name(static_cast<PodScalarKind>(kind)));
  }
  CHECK(names.size() == 12);
  CHECK_FALSE(names.contains("unknown"));
  CHECK(pod_scalar_name(static_cast<PodScalarKind>(99)) == "unknown");
  CHECK(pod_scalar_bytes(PodScalarKind::kInt16) == sizeof(std::int16_t));
  CHECK(pod_scalar_bytes(PodScalarKind::kFloat64) == sizeof(double));
  CHECK(pod_scalar_bytes(PodScalarKind::kBool) == sizeof(bool));
  CHECK(pod_scalar_bytes(static_cast<PodScalarKind>(12)) == 0);
  CHECK(pod_scalar_bytes(static_cast<PodScalarKind>(255)) == 0);
}

TEST_CASE("a C++ type has the identity that its traits declare") {
  const PayloadIdentity scalar = payload_identity<float>();
  CHECK(scalar.kind == PayloadIdentityKind::kScalar);
  CHECK(scalar.name == "float32");
  CHECK(scalar.size == 4);
  CHECK(payload_identity<Tensor>().kind == PayloadIdentityKind::kTensor);
  CHECK(payload_identity<Tensor>().size == 0);

  const PayloadIdentity pod = payload_identity<Pose>();
  CHECK(pod.kind == PayloadIdentityKind::kPod);
  CHECK(pod.name == "com.example.Pose");
  CHECK(pod.version == 2);
  CHECK(pod.size == sizeof(Pose));
  CHECK(pod.alignment == alignof(Pose));
  CHECK(pod.fields == std::vector<PodField>{{"position", PodScalarKind::kFloat64, 0, 3},
                                            {"frame", PodScalarKind::kUInt32, 24, 1},
                                            {"flags", PodScalarKind::kUInt32, 28, 1}});
}

TEST_CASE("an identity prints as kind, name, version and size") {
  CHECK(payload_identity<Pose>().to_string() == "pod com.example.Pose v2 (32 bytes)");
  CHECK(payload_identity<bool>().to_string() == "scalar bool (1 byte)");
  CHECK(payload_identity<Tensor>().to_string() == "tensor");
}

/// Identities that each differ from Pose's in one fact.
std::vector<PayloadIdentity> changed_identities() {
  const PayloadIdentity pose = payload_identity<Pose>();
  std::vector<PayloadIdentity> changed(11, pose);
  changed[0].kind = PayloadIdentityKind::kSchema;
  changed[1].name = "com.example.Pos";
  changed[2].version = 3;
  changed[3].fields[1].name = std::string("w");
  changed[4].fields[1].kind = PodScalarKind::kUInt16;
  changed[5].fields[0].count = 4;
  changed[6].fields[2].offset = 30;
  changed[7].fields.pop_back();
  changed[8].fields.push_back({"more", PodScalarKind::kByte, 32, 1});
  changed[9].size = 40;
  changed[10].alignment = 4;
  return changed;
}

TEST_CASE("the first difference of two identities is said in words") {
  const PayloadIdentity pose = payload_identity<Pose>();
  const std::vector<std::string> words{
      "kind: pod here, schema there",
      "name: com.example.Pose here, com.example.Pos there",
      "version: 2 here, 3 there",
      "field 1: uint32 'frame' here, uint32 'w' there",
      "field 1: uint32 'frame' here, uint16 'frame' there",
      "field 0: float64[3] 'position' here, float64[4] 'position' there",
      "field 2 uint32 'flags': byte 28 here, byte 30 there",
      "field 2: uint32 'flags' here, none there",
      "field 3: none here, byte 'more' there",
      "size: 32 bytes here, 40 bytes there",
      "alignment: 8 here, 4 there"};
  const auto changed = changed_identities();
  REQUIRE(changed.size() == words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(explain_difference(pose, changed[i]) == words[i]);
  }
  CHECK(explain_difference(pose, pose).empty());
}

TEST_CASE("a type key is stable and differs with every fact of the identity") {
  const PayloadIdentity pose = payload_identity<Pose>();
  CHECK(type_key(pose) == type_key(payload_identity<Pose>()));
  std::set<std::string> keys{to_hex(type_key(pose).bytes)};
  for (const auto& changed : changed_identities()) keys.insert(to_hex(type_key(changed).bytes));
  CHECK(keys.size() == changed_identities().size() + 1);
  // Processes built at different times compare it: a change of this value breaks them.
  CHECK(to_hex(type_key(payload_identity<std::uint32_t>()).bytes) ==
        "742daf1f4c0a36b7470bb7364d21213d");
}

}  // namespace
}  // namespace weftline
