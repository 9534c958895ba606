// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_schema.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "test_params.hpp"

using namespace weftline;

namespace {

/// Schemas of one struct, each of which differs from `Base` in one fact.
namespace variant {

enum class Mode : std::uint8_t { kFast, kSlow };
struct Values {
  std::uint32_t level{5};
  Mode mode{Mode::kFast};
  std::string key{"a"};
  std::vector<std::uint32_t> list{};
};
inline bool odd(const std::uint32_t& value) noexcept { return value % 2 == 1; }

constexpr auto kFast = param_enum_value("fast", Mode::kFast);
constexpr auto kSlow = param_enum_value("slow", Mode::kSlow);

struct Base : Values {};
struct Reordered : Values {};
struct OtherId : Values {};
struct OtherVersion : Values {};
struct OtherPath : Values {};
struct Fewer : Values {};
struct OtherType {
  std::uint64_t level{5};
  Mode mode{Mode::kFast};
  std::string key{"a"};
  std::vector<std::uint32_t> list{};
};
struct OtherEnumerator : Values {};
struct MoreEnumerators : Values {};
struct OtherRange : Values {};
struct OtherLength : Values {};
struct OtherRule : Values {};
struct OtherAllowed : Values {};
struct OtherMutability : Values {};
struct OtherStage : Values {};
struct LaterStage : Values {};
struct Sensitive : Values {};
struct Required : Values {};
struct OtherDefault : Values {
  OtherDefault() { level = 7; }
};
struct OtherSecret : Values {
  OtherSecret() { key = "b"; }
};
struct OtherDescription : Values {};
struct OtherUnit : Values {};

constexpr auto kName = param_schema("com.example.V", 1);
constexpr auto kPlain = field<&Values::level>("level").range(1, 9);
constexpr auto kText = kPlain.description("how much").unit("dB");
constexpr auto kLevel = kText.validator(&odd, "be odd");
constexpr auto kMode = field<&Values::mode>("mode").enum_values({kFast, kSlow});
constexpr auto kKey = field<&Values::key>("key").allowed_values({"a", "b"}).sensitive();
constexpr auto kList = field<&Values::list>("list").length(0, 4);

WEFTLINE_PARAM_SCHEMA(Base, kName, kLevel, kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(Reordered, kName, kList,
                      field<&Values::key>("key").sensitive().allowed_values({"b", "a"}),
                      field<&Values::mode>("mode").enum_values({kSlow, kFast}).compile_time(),
                      kLevel);
WEFTLINE_PARAM_SCHEMA(OtherId, param_schema("com.example.W", 1), kLevel, kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherVersion, param_schema("com.example.V", 2), kLevel, kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherPath, kName,
                      field<&Values::level>("Level")
                          .range(1, 9)
                          .description("how much")
                          .unit("dB")
                          .validator(&odd, "be odd"),
                      kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(Fewer, kName, kLevel, kMode, kKey);
inline bool odd64(const std::uint64_t& value) noexcept { return value % 2 == 1; }
WEFTLINE_PARAM_SCHEMA(OtherType, kName,
                      field<&OtherType::level>("level")
                          .range(1, 9)
                          .description("how much")
                          .unit("dB")
                          .validator(&odd64, "be odd"),
                      field<&OtherType::mode>("mode").enum_values({kFast, kSlow}),
                      field<&OtherType::key>("key").allowed_values({"a", "b"}).sensitive(),
                      field<&OtherType::list>("list").length(0, 4));
WEFTLINE_PARAM_SCHEMA(
    OtherEnumerator, kName, kLevel,
    field<&Values::mode>("mode").enum_values({kFast, param_enum_value("lazy", Mode::kSlow)}), kKey,
    kList);
WEFTLINE_PARAM_SCHEMA(MoreEnumerators, kName, kLevel,
                      field<&Values::mode>("mode").enum_values({kFast, kSlow,
                                                                param_enum_value("off", Mode{2})}),
                      kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherRange, kName,
                      field<&Values::level>("level")
                          .range(1, 10)
                          .description("how much")
                          .unit("dB")
                          .validator(&odd, "be odd"),
                      kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherLength, kName, kLevel, kMode, kKey,
                      field<&Values::list>("list").length(0, 5));
WEFTLINE_PARAM_SCHEMA(OtherRule, kName, kText.validator(&odd, "be uneven"), kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherAllowed, kName, kLevel, kMode,
                      field<&Values::key>("key").allowed_values({"a", "b", "c"}).sensitive(),
                      kList);
WEFTLINE_PARAM_SCHEMA(OtherMutability, kName, kLevel.runtime_mutable(), kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherStage, kName, kLevel.lifecycle_mutable(LifecycleStage::kArm), kMode,
                      kKey, kList);
WEFTLINE_PARAM_SCHEMA(LaterStage, kName, kLevel.lifecycle_mutable(LifecycleStage::kStart), kMode,
                      kKey, kList);
WEFTLINE_PARAM_SCHEMA(Sensitive, kName, kLevel.sensitive(), kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(Required, kName, kLevel.required(), kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherDefault, kName, kLevel, kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherSecret, kName, kLevel, kMode, kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherDescription, kName,
                      kPlain.description("loudness").unit("dB").validator(&odd, "be odd"), kMode,
                      kKey, kList);
WEFTLINE_PARAM_SCHEMA(OtherUnit, kName,
                      kPlain.description("how much").unit("Np").validator(&odd, "be odd"), kMode,
                      kKey, kList);

}  // namespace variant

/// Which hashes of two schemas differ: s, c, m for structural, contract, metadata.
template <class P, class Than = variant::Base>
std::string changed() {
  const auto base = ParamSchema::of<Than>();
  const auto other = ParamSchema::of<P>();
  std::string names;
  if (base.structural_hash() != other.structural_hash()) names += "s";
  if (base.contract_hash() != other.contract_hash()) names += "c";
  if (base.metadata_hash() != other.metadata_hash()) names += "m";
  return names;
}

struct Twice {
  app::Sensor a{};
  app::Sensor b{};
};
WEFTLINE_PARAM_SCHEMA(Twice, param_schema("com.example.Twice", 1),
                      field<&Twice::a>("a").sensitive(),
                      field<&Twice::b>("b").description("right"));
struct TwiceRenamed : Twice {};
WEFTLINE_PARAM_SCHEMA(TwiceRenamed, param_schema("com.example.Twice", 1),
                      field<&Twice::a>("a").sensitive(), field<&Twice::b>("b").description("left"));

}  // namespace

TEST_CASE("a schema lists every leaf by path, with what was declared about it") {
  const auto schema = ParamSchema::of<app::All>();
  CHECK(schema.id() == "com.example.All");
  CHECK(schema.version() == 1);
  std::string all;
  for (const auto& field : schema.fields()) {
    all += field.path + " " + param_type_name(field.type) + " " +
           std::string(param_mutability_name(field.mutability)) + "\n";
  }
  CHECK(all ==
        "age duration_ns lifecycle\nbig int64 compile_time\nbits bool[] compile_time\n"
        "even uint16 compile_time\nflag bool compile_time\nhuge uint64 compile_time\n"
        "left.gain float32 compile_time\nleft.secret string compile_time\n"
        "name string compile_time\nratio float64 compile_time\nright.gain float32 compile_time\n"
        "right.secret string compile_time\nshape int32[] compile_time\n"
        "side enum int32 compile_time\nsize uint32[2] compile_time\nsmall int8 runtime\n"
        "storage enum uint8 recompile\n");
  const auto* small = schema.find("small");
  REQUIRE(small != nullptr);
  CHECK(small->unit == "dB");
  CHECK(small->minimum == ParamScalar(std::int64_t{-10}));
  CHECK(small->maximum == ParamScalar(std::int64_t{10}));
  CHECK(small->default_value == ParamValue{std::int64_t{-3}});
  CHECK(schema.find("age")->stage == LifecycleStage::kArm);
  CHECK(schema.find("side")->choices.front().value == ParamScalar(std::int64_t{-1}));
  CHECK(schema.find("even")->rule == "be even");
  CHECK(schema.find("left.secret")->sensitive);
  CHECK(schema.find("left.secret")->schema_id == "com.example.Sensor");
  CHECK(schema.find("left.secret")->schema_version == 3);
  CHECK(schema.find("left") == nullptr);
  CHECK(schema.find("not_a_parameter") == nullptr);
}

TEST_CASE("fields read and write their member, through nested structs too") {
  const auto schema = ParamSchema::of<app::All>();
  app::All values;
  schema.find("right.gain")->write(&values, {0.125});
  schema.find("shape")->write(&values, {std::int64_t{7}});
  schema.find("bits")->write(&values, {true, false});
  schema.find("storage")->write(&values, {std::uint64_t{1}});
  CHECK(values.right.gain == 0.125F);
  CHECK(values.left.gain == 0.5F);
  CHECK(values.shape == std::vector<std::int32_t>{7});
  CHECK(values.storage == app::Storage::kPinned);
  CHECK(schema.find("bits")->read(&values) == ParamValue{true, false});
  CHECK(schema.find("right.gain")->read(&values) == ParamValue{0.125});
}

TEST_CASE("a field's hash tells paths apart, and its id is the front of the hash") {
  const auto schema = ParamSchema::of<app::All>();
  std::set<ParamSchemaHash> hashes;
  std::set<std::uint64_t> ids;
  for (const auto& field : schema.fields()) {
    hashes.insert(field.hash);
    ids.insert(field.id());
  }
  CHECK(hashes.size() == schema.fields().size());
  CHECK(ids.size() == schema.fields().size());
  const auto& field = schema.fields().front();
  CHECK(field.id() >> 56 == field.hash[0]);
  CHECK((field.id() & 0xff) == field.hash[7]);
  const auto base = ParamSchema::of<variant::Base>();
  CHECK(base.find("level")->hash == ParamSchema::of<variant::OtherRange>().find("level")->hash);
  CHECK(base.find("level")->hash != ParamSchema::of<variant::OtherId>().find("level")->hash);
  CHECK(base.find("level")->hash != ParamSchema::of<variant::OtherVersion>().find("level")->hash);
}

TEST_CASE("each fact of a schema changes the hashes that cover it, and no others") {
  CHECK(changed<variant::Base>().empty());
  CHECK(changed<variant::Reordered>().empty());
  CHECK(changed<variant::OtherId>() == "scm");
  CHECK(changed<variant::OtherVersion>() == "scm");
  CHECK(changed<variant::OtherPath>() == "scm");
  CHECK(changed<variant::Fewer>() == "scm");
  CHECK(changed<variant::OtherType>() == "s");
  CHECK(changed<variant::OtherEnumerator>() == "s");
  CHECK(changed<variant::MoreEnumerators>() == "s");
  CHECK(changed<variant::OtherRange>() == "c");
  CHECK(changed<variant::OtherLength>() == "c");
  CHECK(changed<variant::OtherRule>() == "c");
  CHECK(changed<variant::OtherAllowed>() == "c");
  CHECK(changed<variant::OtherMutability>() == "c");
  CHECK(changed<variant::OtherStage>() == "c");
  CHECK(changed<variant::LaterStage, variant::OtherStage>() == "c");
  CHECK(changed<variant::Sensitive>() == "c");
  CHECK(changed<variant::Required>() == "c");
  CHECK(changed<variant::OtherDefault>() == "c");
  CHECK(changed<variant::OtherSecret>().empty());
  CHECK(changed<variant::OtherDescription>() == "m");
  CHECK(changed<variant::OtherUnit>() == "m");
}

TEST_CASE("the three hashes of one schema differ, and are those of earlier builds") {
  const auto schema = ParamSchema::of<app::All>();
  CHECK(schema.structural_hash() != schema.contract_hash());
  CHECK(schema.contract_hash() != schema.metadata_hash());
  CHECK(schema.structural_hash() != schema.metadata_hash());
  CHECK(digest_text(schema.structural_hash()) ==
        "sha256:0680f497522accf126425c15ab0b706cecadace238ff981e7403fcf8fca1a8a5");
  CHECK(digest_text(schema.contract_hash()) ==
        "sha256:27140b88a9339d30eb1e8e0fe5039742a91109c71ffea404e5d828b47877182e");
  CHECK(digest_text(schema.metadata_hash()) ==
        "sha256:0d783271f08e7a98b8c8c21a3c0a7c2acf00acfdd62bd5b144b5cc642cf31f08");
}

TEST_CASE("a nested struct's description is metadata; sensitive() on it covers all inside") {
  const auto schema = ParamSchema::of<Twice>();
  const auto renamed = ParamSchema::of<TwiceRenamed>();
  CHECK(schema.structural_hash() == renamed.structural_hash());
  CHECK(schema.contract_hash() == renamed.contract_hash());
  CHECK(schema.metadata_hash() != renamed.metadata_hash());
  CHECK(schema.find("a.gain")->sensitive);
  CHECK_FALSE(schema.find("b.gain")->sensitive);
}

TEST_CASE("a schema without fields is one") {
  const auto schema = ParamSchema::of<app::Nothing>();
  CHECK(schema.fields().empty());
  CHECK(schema.find("") == nullptr);
  CHECK(schema.structural_hash() != ParamSchemaHash{});
}
