// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/endpoint_catalog_builder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sample_catalog.hpp"

namespace weftline::catalog_tests {
namespace {

struct BadRecord {
  std::string from{};  ///< name of the endpoint of the sample catalog that is changed
  std::function<void(EndpointRecord&)> change{};
  std::string message{};
};

void check_all_refused(const std::vector<BadRecord>& bad_records, std::string_view token,
                       ErrorCode code = ErrorCode::kInvalidArgument) {
  for (const BadRecord& bad : bad_records) {
    INFO(bad.message);
    EndpointRecord record = record_of(bad.from);
    bad.change(record);
    ChannelEndpointCatalogBuilder builder("deployment");
    const auto added = builder.add(record);
    REQUIRE_FALSE(added);
    CHECK(added.error().code == code);
    CHECK(added.error().token == token);
    CHECK(added.error().message == bad.message);
    const auto built = std::move(builder).build();
    CHECK(built->empty());
  }
}

TEST_CASE("a built catalog lists its endpoints by name and finds each") {
  const ChannelEndpointCatalog catalog = sample_catalog();
  CHECK(catalog.deployment_id() == "line-7");
  REQUIRE(catalog.endpoints().size() == 3);
  CHECK(catalog.endpoints()[0].name == "control");
  CHECK(catalog.endpoints()[1].name == "frames");
  CHECK(catalog.endpoints()[2].name == "poses");

  const EndpointRecord* control = catalog.find("control");
  REQUIRE(control != nullptr);
  CHECK(control->direction == TopicDirection::kImport);
  CHECK(control->payload == payload_identity<std::uint32_t>());
  CHECK(control->incarnations == 2);
  CHECK(control->attach_timeout_ns == 5'000'000'000);
  CHECK(catalog.find("poses")->payload == payload_identity<Pose>());
  CHECK(catalog.find("poses")->queue_policy == ChannelQueuePolicy::kDropOldest);
  CHECK(catalog.find("frames")->tensor->max_byte_span == 1'327'104);
  CHECK(catalog.find("frame") == nullptr);
  CHECK(catalog.find("zzz") == nullptr);
  CHECK(catalog.find("") == nullptr);
}

TEST_CASE("the order of adding changes neither bytes nor digest") {
  const ChannelEndpointCatalog sample = sample_catalog();
  ChannelEndpointCatalogBuilder builder("line-7");
  for (const std::string_view name : {"frames", "poses", "control"}) {
    REQUIRE(builder.add(*sample.find(name)));
  }
  const auto catalog = std::move(builder).build();
  CHECK(catalog->json() == sample.json());
  CHECK(catalog->digest() == sample.digest());
}

TEST_CASE("a catalog without endpoints is the empty one") {
  const auto built = ChannelEndpointCatalogBuilder("line-7").build();
  REQUIRE(built);
  for (const ChannelEndpointCatalog& catalog : {*built, ChannelEndpointCatalog()}) {
    CHECK(catalog.empty());
    CHECK(catalog.json().empty());
    CHECK(catalog.digest().empty());
    CHECK(catalog.deployment_id().empty());
    CHECK(catalog.find("a") == nullptr);
  }
}

TEST_CASE("a deployment id has to be a name") {
  for (const std::string id : {"", "a b", ".hidden", "a/b", "ä"}) {
    const auto built = ChannelEndpointCatalogBuilder(id).build();
    REQUIRE_FALSE(built);
    CHECK(built.error().token == "CATALOG_DEPLOYMENT_INVALID");
  }
}

TEST_CASE("a name taken already is refused and the builder keeps the first") {
  ChannelEndpointCatalogBuilder builder("line-7");
  REQUIRE(builder.export_topic<float>("speed", "weftline://a"));
  const auto again = builder.import_topic<double>("speed", "weftline://b");
  REQUIRE_FALSE(again);
  CHECK(again.error().to_string() ==
        "kDuplicateName [CATALOG_DUPLICATE_NAME]: endpoint 'speed' is there already, as "
        "weftline://a, and is added again as weftline://b; give one of them another name");
  const auto catalog = std::move(builder).build();
  CHECK(catalog->endpoints().size() == 1);
  CHECK(catalog->find("speed")->payload == payload_identity<float>());
}

TEST_CASE("holomq URIs are kept as weftline URIs") {
  ChannelEndpointCatalogBuilder builder("line-7");
  REQUIRE(builder.export_topic<float>("speed", "holomq://robot/speed"));
  const auto catalog = std::move(builder).build();
  CHECK(catalog->find("speed")->uri == "weftline://robot/speed");
}

TEST_CASE("names have to be usable as file names") {
  constexpr std::string_view kForm = "; use 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front";
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".a"), std::string("a/b"), std::string("a b"),
        std::string("\xc3\xa4"), std::string("a\0b", 3), std::string(129, 'a')}) {
    EndpointRecord record = record_of("control");
    record.name = name;
    const auto added = ChannelEndpointCatalogBuilder("d").add(record);
    REQUIRE_FALSE(added);
    CHECK(added.error().token == "CATALOG_NAME_INVALID");
    CHECK(added.error().message.ends_with(kForm));
  }
  for (const std::string& name : {std::string("a"), std::string("-._Z9"), std::string(128, 'a')}) {
    EndpointRecord record = record_of("control");
    record.name = name;
    CHECK(ChannelEndpointCatalogBuilder("d").add(record));
  }
  check_all_refused({{"control", [](auto& record) { record.process_group = "a b"; },
                      "endpoint 'control': process_group is 'a b'; use 1 to 128 of A-Z a-z 0-9 . "
                      "_ - and no dot in front"}},
                    "CATALOG_NAME_INVALID");
}

TEST_CASE("a hostile name is shown on one short line") {
  EndpointRecord record = record_of("control");
  record.name = "a\n\x1b[31m" + std::string(100'000, 'b');
  const auto added = ChannelEndpointCatalogBuilder("d").add(record);
  REQUIRE_FALSE(added);
  CHECK(added.error().message.size() < 200);
  CHECK(added.error().message.starts_with("endpoint 'a??[31mbbb"));
  CHECK(added.error().message.find('\n') == std::string::npos);
}

TEST_CASE("a URI needs the scheme, a path and printing characters") {
  for (const std::string& uri :
       {std::string(), std::string("weftline://"), std::string("holomq://"),
        std::string("http://a"), std::string("weftline:/a"), std::string("Weftline://a"),
        std::string("weftline://a b"), std::string("weftline://a\n"),
        "weftline://" + std::string(2'000, 'a')}) {
    EndpointRecord record = record_of("control");
    record.uri = uri;
    const auto added = ChannelEndpointCatalogBuilder("d").add(record);
    REQUIRE_FALSE(added);
    CHECK(added.error().token == "CATALOG_URI_INVALID");
  }
  check_all_refused({{"control", [](auto& record) { record.uri = std::string("http://a"); },
                      "endpoint 'control': uri is 'http://a'; write weftline://<path> in at most "
                      "1024 printing characters"}},
                    "CATALOG_URI_INVALID");
}

TEST_CASE("numbers outside their range are refused with the range") {
  check_all_refused(
      {{"control", [](auto& record) { record.queue_depth = 0; },
        "endpoint 'control': queue_depth is 0; give 1 to 65536"},
       {"control", [](auto& record) { record.queue_depth = 65'537; },
        "endpoint 'control': queue_depth is 65537; give 1 to 65536"},
       {"control", [](auto& record) { record.max_subscribers = 0; },
        "endpoint 'control': max_subscribers is 0; give 1 to 64"},
       {"control", [](auto& record) { record.max_subscribers = 65; },
        "endpoint 'control': max_subscribers is 65; give 1 to 64"},
       {"control", [](auto& record) { record.max_borrowed_samples = 0; },
        "endpoint 'control': max_borrowed_samples is 0; give 1 to 64"},
       {"control", [](auto& record) { record.max_borrowed_samples = 65; },
        "endpoint 'control': max_borrowed_samples is 65; give 1 to 64"},
       {"control", [](auto& record) { record.max_loaned_samples = 0; },
        "endpoint 'control': max_loaned_samples is 0; give 1 to 64"},
       {"control", [](auto& record) { record.max_loaned_samples = 65; },
        "endpoint 'control': max_loaned_samples is 65; give 1 to 64"},
       {"control", [](auto& record) { record.incarnations = 0; },
        "endpoint 'control': incarnations is 0; give 1 to 65536"},
       {"control", [](auto& record) { record.incarnations = 65'537; },
        "endpoint 'control': incarnations is 65537; give 1 to 65536"},
       {"control",
        [](auto& record) { record.attach_timeout_ns = std::numeric_limits<std::uint64_t>::max(); },
        "endpoint 'control': attach_timeout_ns is 18446744073709551615; give 0 to "
        "31536000000000000"},
       {"control", [](auto& record) { record.attach_timeout_ns = 31'536'000'000'000'001; },
        "endpoint 'control': attach_timeout_ns is 31536000000000001; give 0 to "
        "31536000000000000"}},
      "CATALOG_NUMBER_OUT_OF_RANGE");
}

TEST_CASE("the ends of every range are admitted") {
  EndpointRecord record = record_of("control");
  record.queue_depth = 65'536;
  record.max_subscribers = 64;
  record.max_borrowed_samples = 64;
  record.max_loaned_samples = 64;
  record.clock_health.max_report_age = std::chrono::nanoseconds(kMaximumAttachTimeoutNs);
  record.incarnations = 65'536;
  record.attach_timeout_ns =
      31'536'000'000'000'000;  // a year: a deadline that far does not overflow
  CHECK(ChannelEndpointCatalogBuilder("d").add(record));
}

TEST_CASE("a value outside its enum is refused") {
  check_all_refused(
      {{"control", [](auto& record) { record.direction = static_cast<TopicDirection>(9); },
        "endpoint 'control': direction is outside its enum; use one of its enumerators"},
       {"control", [](auto& record) { record.queue_policy = static_cast<ChannelQueuePolicy>(9); },
        "endpoint 'control': queue_policy is outside its enum; use one of its enumerators"},
       {"control", [](auto& record) { record.peer = static_cast<PeerRequirement>(9); },
        "endpoint 'control': peer is outside its enum; use one of its enumerators"},
       {"control", [](auto& record) { record.name_origin = static_cast<EndpointNameOrigin>(9); },
        "endpoint 'control': name_origin is outside its enum; use one of its enumerators"},
       {"control", [](auto& record) { record.capture_time = static_cast<RequireCaptureTime>(9); },
        "endpoint 'control': capture_time is outside its enum; use one of its enumerators"},
       {"control",
        [](auto& record) {
          record.clock_health.capability = static_cast<ClockHealthCapability>(9);
        },
        "endpoint 'control': clock_health.capability is outside its enum; use one of its "
        "enumerators"},
       {"control",
        [](auto& record) {
          record.clock_health.requirement = static_cast<ClockHealthRequirement>(9);
        },
        "endpoint 'control': clock_health.requirement is outside its enum; use one of its "
        "enumerators"},
       {"control",
        [](auto& record) {
          record.clock_health.action = static_cast<EndpointClockHealthDisposition>(9);
        },
        "endpoint 'control': clock_health.action is outside its enum; use one of its "
        "enumerators"},
       {"control", [](auto& record) { record.payload.kind = static_cast<PayloadIdentityKind>(9); },
        "endpoint 'control': payload kind is outside its enum; use one of its enumerators"}},
      "CATALOG_CHOICE_UNKNOWN");
}

TEST_CASE("a body that does not fit in a frame is refused with both numbers") {
  ChannelEndpointCatalogBuilder builder("d");
  CHECK(builder.export_topic<LargestPod>("largest", "weftline://largest"));
  const auto added = builder.export_topic<TooLargePod>("big", "weftline://big");
  REQUIRE_FALSE(added);
  CHECK(added.error().to_string() ==
        "kResourceExhausted [CATALOG_FRAME_TOO_LARGE]: endpoint 'big': payload pod "
        "com.example.TooLarge v1 (32745 bytes) has 32745 bytes, an inline frame of this kind "
        "carries at most 32744; send less, or send it as a tensor");
}

TEST_CASE("a schema has the smaller limit that its envelope leaves") {
  EndpointRecord record = record_of("control");
  record.payload = {.kind = PayloadIdentityKind::kSchema,
                    .name = "com.example.Scan",
                    .version = 1,
                    .size = kMaximumInlineSchemaBytes,
                    .alignment = 8};
  CHECK(ChannelEndpointCatalogBuilder("d").add(record));
  record.payload.size += 8;
  const auto added = ChannelEndpointCatalogBuilder("d").add(record);
  REQUIRE_FALSE(added);
  CHECK(added.error().code == ErrorCode::kResourceExhausted);
  CHECK(added.error().message.find("at most 32704") != std::string::npos);
}

TEST_CASE("a payload identity that contradicts itself is refused") {
  using Record = EndpointRecord;
  const std::vector<BadRecord> bad_records{
      {"control", [](Record& record) { record.payload.name = std::string("int128"); },
       "endpoint 'control': payload name is 'int128', which is no scalar; use uint8 to float64, "
       "byte or bool"},
      {"control", [](Record& record) { record.payload.name.clear(); },
       "endpoint 'control': payload name is ''; use 1 to 128 printing characters without spaces"},
      {"control", [](Record& record) { record.payload.size = 8; },
       "endpoint 'control': payload size is 8, a uint32 has 4 bytes"},
      {"control", [](Record& record) { record.payload.size = 0; },
       "endpoint 'control': payload size is 0; a body has at least 1 byte"},
      {"control", [](Record& record) { record.payload.alignment = 0; },
       "endpoint 'control': payload alignment is 0, the size 4; give a power of two that divides "
       "the size"},
      {"control", [](Record& record) { record.payload.alignment = 8; },
       "endpoint 'control': payload alignment is 8, the size 4; give a power of two that divides "
       "the size"},
      {"control", [](Record& record) { record.payload.version = 3; },
       "endpoint 'control': payload version is 3, that of a scalar is 0"},
      {"control", [](Record& record) { record.payload.fields.emplace_back(); },
       "endpoint 'control': payload has 1 fields, but only a pod has any"},
      {"frames", [](Record& record) { record.payload.size = 1; },
       "endpoint 'frames': payload of kind tensor has name 'tensor', and 0 for version, size and "
       "alignment"},
      {"poses", [](Record& record) { record.payload.fields.pop_back(); },
       "endpoint 'poses': payload fields cover 28 bytes of 32; declare padding as a field of "
       "bytes"},
      {"poses", [](Record& record) { record.payload.fields[1].offset = 25; },
       "endpoint 'poses': payload field 'frame' is at byte 25, the field before it ends at 24; "
       "declare padding as a field of bytes"},
      {"poses", [](Record& record) { record.payload.fields[1].offset = 20; },
       "endpoint 'poses': payload field 'frame' is at byte 20, the field before it ends at 24; "
       "declare padding as a field of bytes"},
      {"poses", [](Record& record) { record.payload.fields[2].count = 0xffff'ffff; },
       "endpoint 'poses': payload fields cover 17179869208 bytes of 32; declare padding as a field "
       "of bytes"},
      {"poses", [](Record& record) { record.payload.fields[2].count = 0; },
       "endpoint 'poses': payload field 'flags' needs a scalar kind and a positive count"},
      {"poses",
       [](Record& record) { record.payload.fields[2].kind = static_cast<PodScalarKind>(12); },
       "endpoint 'poses': payload field 'flags' needs a scalar kind and a positive count"},
      {"poses",
       [](Record& record) { record.payload.fields[2].name = record.payload.fields[1].name; },
       "endpoint 'poses': payload field 'frame' needs a name of its own, of 1 to 128 printing "
       "characters"},
      {"poses", [](Record& record) { record.payload.fields[0].name.clear(); },
       "endpoint 'poses': payload field '' needs a name of its own, of 1 to 128 printing "
       "characters"}};
  check_all_refused(bad_records, "CATALOG_PAYLOAD_INVALID");
}

TEST_CASE("a tensor contract is there exactly for tensors, and can be met") {
  using Record = EndpointRecord;
  const std::vector<BadRecord> bad_records{
      {"control", [](Record& record) { record.tensor = frame_contract(); },
       "endpoint 'control': tensor contract is given for a payload of kind scalar; leave it out"},
      {"frames", [](Record& record) { record.tensor.reset(); },
       "endpoint 'frames': tensor contract is missing; give memory kind, dtype and max_byte_span"},
      {"frames", [](Record& record) { record.tensor->memory_kind = MemoryKind::kUnknown; },
       "endpoint 'frames': tensor memory_kind is unknown, which can't cross processes; use host, "
       "pinned_host or cuda_device"},
      {"frames", [](Record& record) { record.tensor->memory_kind = MemoryKind::kCudaManaged; },
       "endpoint 'frames': tensor memory_kind is cuda_managed, which can't cross processes; use "
       "host, pinned_host or cuda_device"},
      {"frames",
       [](Record& record) {
         record.tensor->dtype = {kDLOpaqueHandle, 64, 1};
       },
       "endpoint 'frames': tensor dtype is opaque64; give a number type with bits and lanes above "
       "0"},
      {"frames", [](Record& record) { record.tensor->dtype.lanes = 0; },
       "endpoint 'frames': tensor dtype is uint8x0; give a number type with bits and lanes above "
       "0"},
      {"frames", [](Record& record) { record.tensor->rank = 9; },
       "endpoint 'frames': tensor rank is 9; give at most 8"},
      {"frames", [](Record& record) { record.tensor->max_rank = 0; },
       "endpoint 'frames': tensor max_rank is 0; give 1 to 8, or leave it out"},
      {"frames", [](Record& record) { record.tensor->max_rank = 9; },
       "endpoint 'frames': tensor max_rank is 9; give 1 to 8, or leave it out"},
      {"frames", [](Record& record) { record.tensor->max_rank = 2; },
       "endpoint 'frames': tensor rank is 3, its max_rank 2; raise max_rank or leave it out"},
      {"frames", [](Record& record) { record.tensor->max_byte_span = 0; },
       "endpoint 'frames': tensor max_byte_span is 0; give 1 (one element) to "
       "9223372036854775807"},
      {"frames",
       [](Record& record) {
         record.tensor->max_byte_span = std::numeric_limits<std::uint64_t>::max();
       },
       "endpoint 'frames': tensor max_byte_span is 18446744073709551615; give 1 (one element) to "
       "9223372036854775807"}};
  check_all_refused(bad_records, "CATALOG_TENSOR_INVALID");
}

TEST_CASE("a requirement of the capture clock is whole, or there is none") {
  using Record = EndpointRecord;
  const std::vector<BadRecord> bad_records{
      {"control",
       [](Record& record) { record.clock_health.capability = ClockHealthCapability::kUnavailable; },
       "endpoint 'control': clock_health requires fresh_healthy_report, but its capability is "
       "unavailable; give status_reports"},
      {"control", [](Record& record) { record.clock_health.max_report_age.reset(); },
       "endpoint 'control': clock_health max_report_age is not given; give 1 to "
       "31536000000000000 ns"},
      {"control",
       [](Record& record) { record.clock_health.max_report_age = std::chrono::nanoseconds(0); },
       "endpoint 'control': clock_health max_report_age is 0 ns; give 1 to 31536000000000000 ns"},
      {"control",
       [](Record& record) { record.clock_health.max_report_age = std::chrono::nanoseconds(-1); },
       "endpoint 'control': clock_health max_report_age is -1 ns; give 1 to 31536000000000000 ns"},
      {"control",
       [](Record& record) {
         record.clock_health.max_report_age = std::chrono::nanoseconds(31'536'000'000'000'001);
       },
       "endpoint 'control': clock_health max_report_age is 31536000000000001 ns; give 1 to "
       "31536000000000000 ns"},
      {"control",
       [](Record& record) {
         record.clock_health.action = EndpointClockHealthDisposition::kNotApplicable;
       },
       "endpoint 'control': clock_health requires fresh_healthy_report, but its action is "
       "not_applicable; give skip, degraded or fail_run"},
      {"control",
       [](Record& record) {
         record.clock_health.requirement = ClockHealthRequirement::kNotRequired;
       },
       "endpoint 'control': clock_health requires no report, but its max_report_age is 1000000 ns "
       "and its action skip; require fresh_healthy_report or leave both out"}};
  check_all_refused(bad_records, "CATALOG_CLOCK_HEALTH_INVALID");
}

TEST_CASE("a catalog too large to be loaded is refused") {
  EndpointRecord record = record_of("control");
  record.payload = {.kind = PayloadIdentityKind::kPod,
                    .name = "com.example.Wide",
                    .version = 1,
                    .size = 32'000,
                    .alignment = 1};
  for (std::uint32_t i = 0; i < 32'000; ++i) {
    std::string name(100, 'f');
    name += std::to_string(i);
    record.payload.fields.push_back({name, PodScalarKind::kByte, i, 1});
  }
  ChannelEndpointCatalogBuilder builder("d");
  for (int i = 0; i < 3; ++i) {
    record.name = std::to_string(i);
    REQUIRE(builder.add(record));
  }
  const auto built = std::move(builder).build();
  REQUIRE_FALSE(built);
  CHECK(built.error().code == ErrorCode::kResourceExhausted);
  CHECK(built.error().token == "CATALOG_TOO_LARGE");
}

}  // namespace
}  // namespace weftline::catalog_tests
