// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/matchers/catch_matchers_string.hpp>

#include "channel_fixture.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("an unknown endpoint is refused with the names that there are") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const auto publisher = runtime.create_publisher<std::uint32_t>(catalog, "framez");
  CHECK(code_of(publisher) == ErrorCode::kNotFound);
  CHECK_THAT(publisher.error().message,
             ContainsSubstring("'framez'") && ContainsSubstring("'frames'"));
  const auto none = runtime.create_subscriber<std::uint32_t>(ChannelEndpointCatalog{}, "frames");
  CHECK(code_of(none) == ErrorCode::kNotFound);
}

TEST_CASE("an endpoint refuses the wrong role") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const auto subscriber = runtime.create_subscriber<std::uint32_t>(catalog, "frames");
  CHECK(code_of(subscriber) == ErrorCode::kIncompatible);
  CHECK(subscriber.error().token == "CHANNEL_ROLE_MISMATCH");
  CHECK_THAT(subscriber.error().message,
             ContainsSubstring("import") && ContainsSubstring("subscriber"));
  CHECK(code_of(runtime.create_inline_publisher(catalog, "frames", EndpointSide::kGraph,
                                                payload_identity<std::uint32_t>())) ==
        ErrorCode::kIncompatible);
}

TEST_CASE("an endpoint refuses another payload and names both") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const auto catalog = catalog_with<Pose>(blocking());
  const auto newer = runtime.create_publisher<PoseV2>(catalog, "frames");
  CHECK(code_of(newer) == ErrorCode::kIncompatible);
  CHECK(newer.error().token == "CHANNEL_PAYLOAD_MISMATCH");
  CHECK_THAT(newer.error().message, ContainsSubstring("v1") && ContainsSubstring("v2"));
  CHECK(code_of(try_subscribe<std::uint64_t>(runtime, catalog)) == ErrorCode::kIncompatible);
}

TEST_CASE("an attach timeout may only shorten the catalog's") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  EndpointOptions endpoint = blocking();
  endpoint.attach_timeout_ns = 1'000;
  const auto catalog = catalog_with<std::uint32_t>(endpoint);
  using std::chrono::nanoseconds;
  for (const auto wrong : {nanoseconds(1'001), nanoseconds(-1)}) {
    const auto refused = runtime.create_publisher<std::uint32_t>(catalog, "frames", {wrong});
    CHECK(code_of(refused) == ErrorCode::kInvalidArgument);
    CHECK_THAT(refused.error().message, ContainsSubstring("1000"));
  }
  CHECK(runtime.create_publisher<std::uint32_t>(catalog, "frames", {nanoseconds(1'000)}));
}

TEST_CASE("two sides with different contracts learn both values") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  SECTION("another version of the payload") {
    const auto old_catalog = catalog_with<Pose>(blocking());
    const auto new_catalog = catalog_with<PoseV2>(blocking());
    const auto check = [](const Error& error) {
      CHECK(error.code == ErrorCode::kIncompatible);
      CHECK(error.token == "CHANNEL_ENDPOINT_MISMATCH");
      CHECK_THAT(error.message, ContainsSubstring("'frames'") && ContainsSubstring("version") &&
                                    ContainsSubstring("1") && ContainsSubstring("2"));
    };
    {
      auto publisher = make_publisher<Pose>(runtime, old_catalog);
      const auto subscriber = try_subscribe<PoseV2>(runtime, new_catalog);
      REQUIRE_FALSE(subscriber.has_value());
      check(subscriber.error());
      auto matching = make_subscriber<Pose>(runtime, old_catalog);
      await_subscriber(publisher);
    }
    auto subscriber = make_subscriber<PoseV2>(runtime, new_catalog);
    auto publisher = make_publisher<Pose>(runtime, old_catalog);
    const auto waited = subscriber.wait_and_receive_sample(watchdog());
    REQUIRE_FALSE(waited.has_value());
    check(waited.error());
    check(subscriber.receive_sample().error());
    CHECK(publisher.subscriber_count() == 0);
  }
  SECTION("another depth") {
    EndpointOptions deeper = blocking();
    deeper.queue_depth = 9;
    auto publisher = make_publisher(runtime, catalog_with<std::uint32_t>(blocking()));
    const auto subscriber =
        try_subscribe<std::uint32_t>(runtime, catalog_with<std::uint32_t>(deeper));
    CHECK(code_of(subscriber) == ErrorCode::kIncompatible);
    CHECK_THAT(subscriber.error().message, ContainsSubstring("4") && ContainsSubstring("9"));
  }
  SECTION("another policy") {
    auto publisher = make_publisher(runtime, catalog_with<std::uint32_t>(blocking()));
    const auto subscriber =
        try_subscribe<std::uint32_t>(runtime, catalog_with<std::uint32_t>(drop_oldest()));
    CHECK(code_of(subscriber) == ErrorCode::kIncompatible);
    CHECK_THAT(subscriber.error().message, ContainsSubstring("blocking"));
  }
  SECTION("what may differ does not matter") {
    EndpointOptions relaxed = blocking();
    relaxed.peer = PeerRequirement::kOptional;
    relaxed.attach_timeout_ns = 5;
    auto publisher = make_publisher(runtime, catalog_with<std::uint32_t>(blocking()));
    auto subscriber = make_subscriber(runtime, catalog_with<std::uint32_t>(relaxed));
    await_subscriber(publisher);
  }
}

TEST_CASE("an endpoint that asks more of its capture clock than is checked is refused") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  EndpointOptions timed = blocking();
  EndpointOptions healthy = blocking();
  timed.capture_time = RequireCaptureTime::kYes;
  healthy.clock_health = {.capability = ClockHealthCapability::kStatusReports,
                          .requirement = ClockHealthRequirement::kFreshHealthyReport,
                          .max_report_age = std::chrono::nanoseconds(1),
                          .action = EndpointClockHealthDisposition::kSkip};
  for (const EndpointOptions& options : {timed, healthy}) {
    const auto publisher =
        runtime.create_publisher<std::uint32_t>(catalog_with<std::uint32_t>(options), "frames");
    REQUIRE_FALSE(publisher.has_value());
    CHECK(publisher.error().code == ErrorCode::kNotSupported);
    CHECK(publisher.error().token == "CHANNEL_CAPTURE_CLOCK_UNSUPPORTED");
  }
  EndpointOptions reporting = blocking();
  reporting.clock_health.capability = ClockHealthCapability::kStatusReports;
  CHECK(runtime.create_publisher<std::uint32_t>(catalog_with<std::uint32_t>(reporting), "frames"));
}

TEST_CASE("a second live publisher is refused and told who holds the endpoint") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto holder = std::optional(make_publisher(runtime, catalog));
  const auto second = runtime.create_publisher<std::uint32_t>(catalog, "frames");
  CHECK(code_of(second) == ErrorCode::kResourceExhausted);
  CHECK(second.error().token == "CHANNEL_PUBLISHER_EXISTS");
  CHECK_THAT(second.error().message, ContainsSubstring("'frames'") &&
                                         ContainsSubstring(std::to_string(::getpid())) &&
                                         ContainsSubstring("running"));
  holder.reset();
  CHECK(runtime.create_publisher<std::uint32_t>(catalog, "frames").has_value());
}

TEST_CASE("links that would be too large are refused when the endpoint is made") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  EndpointRecord record = largest_endpoint();
  record.queue_depth = 65'536;
  const auto catalog = catalog_of(record);
  const auto publisher =
      runtime.create_inline_publisher(catalog, "frames", EndpointSide::kPeer, record.payload);
  CHECK(code_of(publisher) == ErrorCode::kResourceExhausted);
  CHECK_THAT(publisher.error().message, ContainsSubstring("65536"));
  CHECK(directory.files().empty());
}

namespace {

/// A POD of so many one-byte fields, each with a name of 30 letters.
EndpointRecord many_fields(std::uint32_t fields) {
  EndpointRecord record = largest_endpoint();
  record.payload.size = fields;
  record.payload.fields.clear();
  for (std::uint32_t field = 0; field < fields; ++field) {
    std::string name = std::to_string(field);
    name.insert(0, 30 - name.size(), 'x');
    record.payload.fields.push_back({name, PodScalarKind::kByte, field, 1});
  }
  return record;
}

}  // namespace

TEST_CASE("a record that peers would not read is refused when the endpoint is made") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const EndpointRecord record = many_fields(4'000);
  const auto catalog = catalog_of(record);
  const auto refused = [&](const auto& made) {
    CHECK(code_of(made) == ErrorCode::kResourceExhausted);
    CHECK(made.error().token == "CHANNEL_RECORD_TOO_LARGE");
    CHECK_THAT(made.error().message, ContainsSubstring("262144") &&
                                         ContainsSubstring(std::to_string(catalog.json().size())));
  };
  refused(runtime.create_inline_publisher(catalog, "frames", EndpointSide::kPeer, record.payload));
  refused(
      runtime.create_inline_subscriber(catalog, "frames", EndpointSide::kGraph, record.payload));
  CHECK(directory.files().empty());
}

TEST_CASE("a record of nearly the largest size is found and read") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  std::uint32_t fields = 1'000;
  while (catalog_of(many_fields(fields + 50)).json().size() <= std::size_t{256} * 1024)
    fields += 50;
  const auto catalog = catalog_of(many_fields(fields));
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
}

TEST_CASE("a runtime folder that others could change is refused") {
  const TemporaryDirectory directory;
  const auto inner = directory.path() / "inner";
  SECTION("open to the group") {
    REQUIRE(::mkdir(inner.c_str(), 0700) == 0);
    REQUIRE(::chmod(inner.c_str(), 0750) == 0);
    const auto runtime = ChannelRuntime::create({inner});
    CHECK(code_of(runtime) == ErrorCode::kPermissionDenied);
    CHECK(runtime.error().token == "CHANNEL_DIRECTORY_UNSAFE");
    CHECK_THAT(runtime.error().message,
               ContainsSubstring(inner.string()) && ContainsSubstring("0750"));
  }
  SECTION("a symbolic link") {
    REQUIRE(::symlink(directory.path().c_str(), inner.c_str()) == 0);
    CHECK(code_of(ChannelRuntime::create({inner})) == ErrorCode::kPermissionDenied);
  }
  SECTION("a file") {
    REQUIRE(::mknod(inner.c_str(), S_IFREG | 0600, 0) == 0);
    CHECK(code_of(ChannelRuntime::create({inner})) == ErrorCode::kPermissionDenied);
  }
  SECTION("without a parent") {
    const auto runtime = ChannelRuntime::create({inner / "deeper"});
    CHECK(code_of(runtime) == ErrorCode::kFailure);
    CHECK_THAT(runtime.error().message, ContainsSubstring("WEFTLINE_RUNTIME_DIR"));
  }
  SECTION("missing is made, for its owner alone") {
    REQUIRE(ChannelRuntime::create({inner}).has_value());
    struct stat status {};
    REQUIRE(::stat(inner.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
  }
}

TEST_CASE("the environment names the runtime folder") {
  const TemporaryDirectory directory;
  const auto inner = directory.path() / "from-environment";
  ::setenv("WEFTLINE_RUNTIME_DIR", inner.c_str(), 1);
  const auto runtime = ChannelRuntime::create();
  ::unsetenv("WEFTLINE_RUNTIME_DIR");
  CHECK(runtime.has_value());
  CHECK(std::filesystem::is_directory(inner));
}

}  // namespace weftline::test
