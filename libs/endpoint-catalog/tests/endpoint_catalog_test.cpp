// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/endpoint_catalog.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sample_catalog.hpp"
#include "weftline/core/json.hpp"

namespace weftline::catalog_tests {
namespace {

constexpr std::string_view kGolden = R"({
  "deployment_id": "line-7",
  "endpoints": [
    {
      "attach_timeout_ns": 5000000000,
      "capture_time": "required",
      "clock_health": {
        "action": "skip",
        "capability": "status_reports",
        "max_report_age_ns": 1000000,
        "requirement": "fresh_healthy_report"
      },
      "direction": "import",
      "incarnations": 2,
      "max_borrowed_samples": 1,
      "max_loaned_samples": 1,
      "max_subscribers": 8,
      "name": "control",
      "name_origin": "authored",
      "payload": {
        "alignment": 4,
        "fields": [],
        "kind": "scalar",
        "name": "uint32",
        "size": 4,
        "version": 0
      },
      "peer": "required",
      "process_group": "default",
      "queue_depth": 8,
      "queue_policy": "blocking",
      "tensor": null,
      "uri": "weftline://robot/control"
    },
    {
      "attach_timeout_ns": 0,
      "capture_time": "optional",
      "clock_health": {
        "action": "not_applicable",
        "capability": "unavailable",
        "max_report_age_ns": null,
        "requirement": "not_required"
      },
      "direction": "export",
      "incarnations": 1,
      "max_borrowed_samples": 1,
      "max_loaned_samples": 1,
      "max_subscribers": 8,
      "name": "frames",
      "name_origin": "authored",
      "payload": {
        "alignment": 0,
        "fields": [],
        "kind": "tensor",
        "name": "tensor",
        "size": 0,
        "version": 0
      },
      "peer": "required",
      "process_group": "default",
      "queue_depth": 4,
      "queue_policy": "blocking",
      "tensor": {
        "dtype": {
          "bits": 8,
          "code": "uint",
          "lanes": 1
        },
        "max_byte_span": 1327104,
        "max_rank": null,
        "memory_kind": "pinned_host",
        "rank": 3
      },
      "uri": "weftline://robot/frames"
    },
    {
      "attach_timeout_ns": 0,
      "capture_time": "optional",
      "clock_health": {
        "action": "not_applicable",
        "capability": "unavailable",
        "max_report_age_ns": null,
        "requirement": "not_required"
      },
      "direction": "export",
      "incarnations": 1,
      "max_borrowed_samples": 1,
      "max_loaned_samples": 1,
      "max_subscribers": 8,
      "name": "poses",
      "name_origin": "authored",
      "payload": {
        "alignment": 8,
        "fields": [
          {
            "count": 3,
            "kind": "float64",
            "name": "position",
            "offset": 0
          },
          {
            "count": 1,
            "kind": "uint32",
            "name": "frame",
            "offset": 24
          },
          {
            "count": 1,
            "kind": "uint32",
            "name": "flags",
            "offset": 28
          }
        ],
        "kind": "pod",
        "name": "com.example.Pose",
        "size": 32,
        "version": 2
      },
      "peer": "optional",
      "process_group": "default",
      "queue_depth": 8,
      "queue_policy": "drop_oldest",
      "tensor": null,
      "uri": "weftline://robot/poses"
    }
  ],
  "schema": "weftline.endpoint-catalog",
  "version": 2
}
)";

void check_refused(std::string_view json, std::string_view token, std::string_view message) {
  const auto catalog = ChannelEndpointCatalog::parse(json);
  REQUIRE_FALSE(catalog);
  CHECK(catalog.error().token == token);
  CHECK(catalog.error().message == message);
}

/// The golden text with one piece of it replaced.
std::string golden_with(std::string_view piece, std::string_view replacement) {
  std::string text(kGolden);
  const std::size_t place = text.find(piece);
  REQUIRE(place != std::string::npos);
  return text.replace(place, piece.size(), replacement);
}

TEST_CASE("the canonical text and digest of a catalog do not change between builds") {
  const ChannelEndpointCatalog catalog = sample_catalog();
  CHECK(catalog.json() == kGolden);
  CHECK(catalog.digest() ==
        "sha256:33a5ffd5616693d792e1df1e61e7bad9f23f494becdd7cdbbc29910ee290c739");
}

TEST_CASE("a parsed catalog has the same bytes, digest and records") {
  const auto parsed = ChannelEndpointCatalog::parse(kGolden);
  REQUIRE(parsed);
  CHECK(parsed->json() == kGolden);
  CHECK(parsed->digest() == sample_catalog().digest());
  CHECK(parsed->deployment_id() == "line-7");
  REQUIRE(parsed->find("frames") != nullptr);
  const TensorBoundaryContract& tensor = *parsed->find("frames")->tensor;
  CHECK(tensor.memory_kind == MemoryKind::kPinnedHost);
  CHECK(same_dtype(tensor.dtype, {kDLUInt, 8, 1}));
  CHECK(tensor.rank == 3);
  CHECK_FALSE(tensor.max_rank.has_value());
  CHECK(parsed->find("poses")->payload == payload_identity<Pose>());
}

TEST_CASE("text that says the same in another form is the same catalog") {
  const JsonValue root = parse_json(kGolden).value();
  CHECK(ChannelEndpointCatalog::parse(root.dump())->json() == kGolden);
  JsonValue::Object turned = *root.as_object();
  JsonValue::Array endpoints = *turned["endpoints"].as_array();
  std::ranges::reverse(endpoints);
  turned["endpoints"] = endpoints;
  CHECK(ChannelEndpointCatalog::parse(JsonValue(turned).dump(7))->json() == kGolden);
  const std::string other_scheme = golden_with("weftline://robot/poses", "holomq://robot/poses");
  CHECK(ChannelEndpointCatalog::parse(other_scheme)->json() == kGolden);
}

/// Builds random valid records: every enumerator, bounds and text form gets its turn.
class RandomRecords {
 public:
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_() % (high - low + 1);
  }

  EndpointRecord record(std::size_t index) {
    EndpointRecord record;
    record.name.append("endpoint-").append(std::to_string(index));
    record.uri.append("weftline://").append(between(1, 20), '~');
    record.name_origin = static_cast<EndpointNameOrigin>(between(0, 1));
    record.direction = static_cast<TopicDirection>(between(0, 1));
    record.queue_policy = static_cast<ChannelQueuePolicy>(between(0, 1));
    record.peer = static_cast<PeerRequirement>(between(0, 1));
    record.queue_depth = small(1, 65'536);
    record.max_subscribers = small(1, 64);
    record.max_borrowed_samples = small(1, 64);
    record.max_loaned_samples = small(1, 64);
    record.incarnations = small(1, 65'536);
    record.capture_time = static_cast<RequireCaptureTime>(between(0, 1));
    record.clock_health.capability = static_cast<ClockHealthCapability>(between(0, 1));
    if (record.clock_health.capability == ClockHealthCapability::kStatusReports &&
        between(0, 1) == 0) {
      record.clock_health.requirement = ClockHealthRequirement::kFreshHealthyReport;
      record.clock_health.max_report_age =
          std::chrono::nanoseconds(between(1, kMaximumAttachTimeoutNs));
      record.clock_health.action = static_cast<EndpointClockHealthDisposition>(between(1, 3));
    }
    record.attach_timeout_ns = (random_() >> between(1, 63)) % (kMaximumAttachTimeoutNs + 1);
    record.process_group = std::string(between(1, 128), 'g');
    fill_payload(record);
    return record;
  }

 private:
  std::uint32_t small(std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint32_t>(between(low, high));
  }

  void fill_payload(EndpointRecord& record) {
    switch (between(0, 3)) {
      case 0:
        record.payload = payload_identity<std::int64_t>();
        break;
      case 1:
        record.payload = payload_identity<Tensor>();
        record.tensor = TensorBoundaryContract{
            .memory_kind = static_cast<MemoryKind>(between(1, 3)),
            .dtype = {static_cast<std::uint8_t>(between(0, 2)),
                      static_cast<std::uint8_t>(between(1, 255)),
                      static_cast<std::uint16_t>(between(1, 65'535))},
            .rank = between(0, 1) == 0 ? std::nullopt : std::optional(small(0, 4)),
            .max_rank = between(0, 1) == 0 ? std::nullopt : std::optional(small(4, 8)),
            .max_byte_span = between(1ull << 32, 1ull << 62)};
        break;
      case 2:
        record.payload = {.kind = PayloadIdentityKind::kSchema,
                          .name = "schema\"\\",
                          .version = small(0, 0xffff'ffff),
                          .size = between(1, kMaximumInlineSchemaBytes),
                          .alignment = 1};
        break;
      default:
        record.payload = {.kind = PayloadIdentityKind::kPod,
                          .name = "pod",
                          .version = small(0, 0xffff'ffff),
                          .alignment = 1};
        for (std::uint64_t i = between(1, 6); i > 0; --i) {
          const PodField field{std::string(i, 'f'), static_cast<PodScalarKind>(between(0, 11)),
                               static_cast<std::uint32_t>(record.payload.size), small(1, 9)};
          record.payload.size += std::uint64_t{field.count} * pod_scalar_bytes(field.kind);
          record.payload.fields.push_back(field);
        }
    }
  }

  std::mt19937_64 random_{5};
};

TEST_CASE("every valid catalog round-trips to identical bytes") {
  RandomRecords records;
  for (int round = 0; round < 500; ++round) {
    ChannelEndpointCatalogBuilder builder("random");
    const std::size_t count = records.between(1, 5);
    for (std::size_t i = 0; i < count; ++i) REQUIRE(builder.add(records.record(i)));
    const auto built = std::move(builder).build();
    REQUIRE(built);
    const auto parsed = ChannelEndpointCatalog::parse(built->json());
    REQUIRE(parsed);
    REQUIRE(parsed->json() == built->json());
    REQUIRE(parsed->digest() == built->digest());
    REQUIRE(parsed->endpoints().size() == count);
  }
}

TEST_CASE("text of another kind or version is refused before its keys") {
  check_refused(golden_with("\"version\": 2\n}", "\"version\": 3, \"later\": true\n}"),
                "CATALOG_SCHEMA_UNKNOWN",
                "the text is 'weftline.endpoint-catalog' version 3, this build reads "
                "'weftline.endpoint-catalog' version 2; save the catalog again with this version");
  check_refused(golden_with("weftline.endpoint-catalog", "weftline.plan"), "CATALOG_SCHEMA_UNKNOWN",
                "the text is 'weftline.plan' version 2, this build reads "
                "'weftline.endpoint-catalog' version 2; save the catalog again with this version");
  check_refused("{}", "CATALOG_KEY_MISSING",
                "catalog.schema is missing; every key has to be there");
  check_refused("[]", "CATALOG_KIND_WRONG", "catalog is no object");
}

TEST_CASE("a wrong member is refused with its path") {
  check_refused(golden_with("\"offset\": 24", "\"offset\": 24, \"pad\": 0"), "CATALOG_KEY_UNKNOWN",
                "endpoints[2].payload.fields[1] has the key 'pad', which this version does not "
                "know");
  check_refused(golden_with("\"lanes\": 1", "\"lane\": 1"), "CATALOG_KEY_MISSING",
                "endpoints[1].tensor.dtype.lanes is missing; every key has to be there");
  check_refused(golden_with("\"queue_depth\": 4", "\"queue_depth\": \"4\""), "CATALOG_KIND_WRONG",
                "endpoints[1].queue_depth has to be a whole number from 0");
  check_refused(golden_with("\"queue_depth\": 4", "\"queue_depth\": 4294967296"),
                "CATALOG_NUMBER_OUT_OF_RANGE",
                "endpoints[1].queue_depth is 4294967296; give at most 4294967295");
  check_refused(golden_with("\"queue_depth\": 4", "\"queue_depth\": -4"), "CATALOG_KIND_WRONG",
                "endpoints[1].queue_depth has to be a whole number from 0");
  check_refused(golden_with("\"drop_oldest\"", "\"drop_newest\""), "CATALOG_CHOICE_UNKNOWN",
                "endpoints[2].queue_policy is 'drop_newest', which this version does not know");
  check_refused(golden_with("\"fields\": []", "\"fields\": {}"), "CATALOG_KIND_WRONG",
                "endpoints[0].payload.fields has to be a list");
  check_refused(golden_with("\"uint\"", "\"quaternion\""), "CATALOG_CHOICE_UNKNOWN",
                "endpoints[1].tensor.dtype.code is 'quaternion', which this version does not know");
  check_refused(R"({"deployment_id":"d","endpoints":[],"schema":"weftline.endpoint-catalog",)"
                R"("version":2})",
                "CATALOG_EMPTY",
                "catalog.endpoints is an empty list; a catalog has at least one endpoint");
}

TEST_CASE("the rules of the builder hold for loaded records") {
  check_refused(golden_with("\"queue_depth\": 4", "\"queue_depth\": 0"),
                "CATALOG_NUMBER_OUT_OF_RANGE",
                "endpoint 'frames': queue_depth is 0; give 1 to 65536");
  check_refused(golden_with("\"pinned_host\"", "\"cuda_managed\""), "CATALOG_TENSOR_INVALID",
                "endpoint 'frames': tensor memory_kind is cuda_managed, which can't cross "
                "processes; use host, pinned_host or cuda_device");
  check_refused(golden_with("\"name\": \"poses\"", "\"name\": \"frames\""),
                "CATALOG_DUPLICATE_NAME",
                "endpoint 'frames' is there already, as weftline://robot/frames, and is added "
                "again as weftline://robot/poses; give one of them another name");
  check_refused(golden_with("line-7", "line 7"), "CATALOG_DEPLOYMENT_INVALID",
                "deployment_id is 'line 7'; use 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front");
}

/// Calls `visit` with every text that differs from `value` by one change to one place of the tree.
void for_each_changed_tree(const JsonValue& value,
                           const std::function<void(const JsonValue&, std::string_view)>& visit) {
  const JsonValue replacements[] = {JsonValue(),
                                    JsonValue(true),
                                    JsonValue(-1),
                                    JsonValue("other"),
                                    JsonValue(JsonValue::Array{}),
                                    JsonValue(JsonValue::Object{})};
  for (const JsonValue& replacement : replacements) {
    if (!(replacement == value)) visit(replacement, "replaced");
  }
  if (const auto* array = value.as_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      JsonValue::Array changed = *array;
      for_each_changed_tree((*array)[i], [&](const JsonValue& item, std::string_view how) {
        changed[i] = item;
        visit(changed, how);
      });
      changed[i] = (*array)[i];
      changed.push_back((*array)[i]);
      visit(changed, "repeated");
    }
  } else if (const auto* object = value.as_object()) {
    for (const auto& [key, member] : *object) {
      JsonValue::Object changed = *object;
      for_each_changed_tree(member, [&, name = key](const JsonValue& item, std::string_view how) {
        changed[name] = item;
        visit(changed, how);
      });
      changed = *object;
      changed.erase(key);
      visit(changed, "removed");
    }
    JsonValue::Object longer = *object;
    longer["unheard_of"] = 1;
    visit(longer, "added");
  }
}

void check_refused_or_stable(std::string_view text) {
  const auto catalog = ChannelEndpointCatalog::parse(text);
  if (!catalog) {
    REQUIRE_FALSE(catalog.error().token.empty());
    REQUIRE_FALSE(catalog.error().message.empty());
    return;
  }
  const auto again = ChannelEndpointCatalog::parse(catalog->json());
  REQUIRE(again);
  REQUIRE(again->json() == catalog->json());
  REQUIRE(again->digest() == catalog->digest());
}

TEST_CASE(
    "no removed, added or repeated member goes unnoticed, and a replaced one has to be valid") {
  int tried = 0;
  for_each_changed_tree(parse_json(kGolden).value(),
                        [&](const JsonValue& changed, std::string_view how) {
                          ++tried;
                          const std::string text = changed.dump();
                          check_refused_or_stable(text);
                          if (how == "replaced") return;
                          INFO(how << ": " << text);
                          REQUIRE_FALSE(ChannelEndpointCatalog::parse(text));
                        });
  CHECK(tried > 500);
}

TEST_CASE("a key that is there twice is refused wherever it is") {
  std::size_t tried = 0;
  for (std::size_t quote = kGolden.find("\": "); quote != std::string_view::npos;
       quote = kGolden.find("\": ", quote + 1)) {
    const std::size_t start = kGolden.rfind('"', quote - 1);
    std::string text(kGolden);
    text.insert(start, std::string(kGolden.substr(start, quote + 1 - start)).append(": 1, "));
    const auto catalog = ChannelEndpointCatalog::parse(text);
    INFO(text);
    REQUIRE_FALSE(catalog);
    REQUIRE(catalog.error().token == "JSON_DUPLICATE_KEY");
    ++tried;
  }
  CHECK(tried > 50);
}

TEST_CASE(
    "a text with one byte flipped, removed or doubled is refused or read as a valid catalog") {
  for (std::size_t i = 0; i < kGolden.size(); ++i) {
    for (const int bit : {0x01, 0x04, 0x10, 0x80}) {
      std::string flipped(kGolden);
      flipped[i] = static_cast<char>(static_cast<unsigned char>(flipped[i]) ^ bit);
      check_refused_or_stable(flipped);
    }
    std::string removed(kGolden);
    check_refused_or_stable(removed.erase(i, 1));
    std::string doubled(kGolden);
    check_refused_or_stable(doubled.insert(i, 1, kGolden[i]));
    if (i + 1 < kGolden.size()) {
      REQUIRE_FALSE(ChannelEndpointCatalog::parse(kGolden.substr(0, i)));
    }
  }
}

TEST_CASE("text without bounds is refused") {
  CHECK(ChannelEndpointCatalog::parse(std::string(kMaximumCatalogBytes + 1, ' ')).error().token ==
        "JSON_LIMIT");
  CHECK(ChannelEndpointCatalog::parse(std::string(100'000, '[')).error().token == "JSON_LIMIT");
  CHECK(ChannelEndpointCatalog::parse("").error().token == "JSON_SYNTAX");
}

TEST_CASE("copies of one catalog are read from many threads at once") {
  constexpr int kThreads = 4;
  const ChannelEndpointCatalog catalog = sample_catalog();
  std::vector<int> good(kThreads, 0);
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&start, copy = catalog, &result = good[static_cast<std::size_t>(i)]] {
      start.arrive_and_wait();
      for (int round = 0; round < 1'000; ++round) {
        ChannelEndpointCatalog another;
        another = copy;
        const bool same = another.json() == kGolden && another.endpoints().size() == 3 &&
                          another.find("poses")->payload.fields.size() == 3;
        result += same ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>(kThreads, 1'000));
}

}  // namespace
}  // namespace weftline::catalog_tests
