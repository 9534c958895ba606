// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/compatibility.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <vector>

#include "sample_catalog.hpp"

namespace weftline::catalog_tests {
namespace {

struct Change {
  std::string endpoint{};
  std::function<void(EndpointRecord&)> apply{};
  std::string field{};
  std::string here{};
  std::string there{};
};

TEST_CASE("a record is compatible with itself") {
  for (const std::string_view name : {"control", "frames", "poses"}) {
    const auto report = compare_endpoints(record_of(name), record_of(name));
    CHECK(report.compatible());
    CHECK(report.to_string() == "endpoint '" + std::string(name) + "' is the same on both sides");
  }
}

TEST_CASE("what may differ between the sides is not reported") {
  const EndpointRecord here = record_of("control");
  EndpointRecord there = here;
  there.name = std::string("renamed");
  there.uri = std::string("weftline://elsewhere");
  there.name_origin = EndpointNameOrigin::kGenerated;
  there.peer = PeerRequirement::kOptional;
  there.attach_timeout_ns = 1;
  there.incarnations = 9;
  there.process_group = std::string("other");
  there.max_loaned_samples = 7;
  there.clock_health.action = EndpointClockHealthDisposition::kFailRun;
  CHECK(compare_endpoints(here, there).compatible());
}

TEST_CASE("each difference that matters is reported once, with both values") {
  using Record = EndpointRecord;
  const std::vector<Change> changes{
      {"control", [](Record& r) { r.direction = TopicDirection::kExport; }, "direction", "import",
       "export"},
      {"control", [](Record& r) { r.queue_policy = ChannelQueuePolicy::kDropOldest; },
       "queue_policy", "blocking", "drop_oldest"},
      {"control", [](Record& r) { r.queue_depth = 16; }, "queue_depth", "8", "16"},
      {"control", [](Record& r) { r.max_subscribers = 9; }, "max_subscribers", "8", "9"},
      {"control", [](Record& r) { r.max_borrowed_samples = 2; }, "max_borrowed_samples", "1", "2"},
      {"control", [](Record& r) { r.payload.name = std::string("int32"); }, "payload.name",
       "uint32", "int32"},
      {"poses", [](Record& r) { r.payload.kind = PayloadIdentityKind::kSchema; }, "payload.kind",
       "pod", "schema"},
      {"poses", [](Record& r) { r.payload.version = 3; }, "payload.version", "2", "3"},
      {"poses", [](Record& r) { r.payload.size = 40; }, "payload.size", "32", "40"},
      {"poses", [](Record& r) { r.payload.alignment = 4; }, "payload.alignment", "8", "4"},
      {"poses", [](Record& r) { r.payload.fields[0].kind = PodScalarKind::kFloat32; },
       "payload.fields[0]", "float64[3] 'position' at byte 0", "float32[3] 'position' at byte 0"},
      {"poses", [](Record& r) { r.payload.fields.pop_back(); }, "payload.fields[2]",
       "uint32 'flags' at byte 28", "none"},
      {"control", [](Record& r) { r.capture_time = RequireCaptureTime::kNo; }, "capture_time",
       "required", "optional"},
      {"control",
       [](Record& r) { r.clock_health.capability = ClockHealthCapability::kUnavailable; },
       "clock_health.capability", "status_reports", "unavailable"},
      {"control",
       [](Record& r) { r.clock_health.requirement = ClockHealthRequirement::kNotRequired; },
       "clock_health.requirement", "fresh_healthy_report", "not_required"},
      {"control", [](Record& r) { r.clock_health.max_report_age.reset(); },
       "clock_health.max_report_age_ns", "1000000", "none"},
      {"frames", [](Record& r) { r.tensor.reset(); }, "tensor", "present", "none"},
      {"frames", [](Record& r) { r.tensor->memory_kind = MemoryKind::kHost; }, "tensor.memory_kind",
       "pinned_host", "host"},
      {"frames", [](Record& r) { r.tensor->dtype.bits = 16; }, "tensor.dtype", "uint8", "uint16"},
      {"frames", [](Record& r) { r.tensor->rank.reset(); }, "tensor.rank", "3", "any"},
      {"frames", [](Record& r) { r.tensor->max_rank = 4; }, "tensor.max_rank", "any", "4"},
      {"frames", [](Record& r) { r.tensor->max_byte_span = 1; }, "tensor.max_byte_span", "1327104",
       "1"}};
  for (const Change& change : changes) {
    INFO(change.field);
    const EndpointRecord here = record_of(change.endpoint);
    EndpointRecord there = here;
    change.apply(there);
    const auto report = compare_endpoints(here, there);
    CHECK_FALSE(report.compatible());
    REQUIRE(report.differences.size() == 1);
    CHECK(report.differences[0].field == change.field);
    CHECK(report.differences[0].here == change.here);
    CHECK(report.differences[0].there == change.there);

    const auto turned = compare_endpoints(there, here);
    REQUIRE(turned.differences.size() == 1);
    CHECK(turned.differences[0].here == change.there);
    CHECK(turned.differences[0].there == change.here);
  }
}

TEST_CASE("a report names endpoint, fields, both values and what to do on one line") {
  const EndpointRecord here = record_of("poses");
  EndpointRecord there = here;
  there.queue_depth = 2;
  there.payload.version = 3;
  CHECK(compare_endpoints(here, there).to_string() ==
        "endpoint 'poses' differs: payload.version is 2 here and 3 there; queue_depth is 8 here "
        "and 2 there; share the same catalog file and rebuild the side that is older");
}

}  // namespace
}  // namespace weftline::catalog_tests
