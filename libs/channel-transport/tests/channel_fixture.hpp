// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "wake_event.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/channel/channel_runtime.hpp"

namespace weftline::test {

struct Pose {
  double position[3];
  std::uint32_t frame;
  std::uint32_t flags;
  friend bool operator==(const Pose&, const Pose&) = default;
};

/// The same type one version later, with another field.
struct PoseV2 {
  double position[3];
  std::uint64_t frame;
};

struct Big {
  std::uint64_t words[512];
};

}  // namespace weftline::test

template <>
struct weftline::ChannelTypeIdentity<weftline::test::Pose> {
  static constexpr std::string_view kName = "com.example.Pose";
  static constexpr std::uint32_t kVersion = 1;
};
template <>
struct weftline::ChannelPodLayout<weftline::test::Pose> {
  static constexpr std::array<PodFieldSpec, 3> kFields{
      WEFTLINE_POD_FIELD(weftline::test::Pose, position),
      WEFTLINE_POD_FIELD(weftline::test::Pose, frame),
      WEFTLINE_POD_FIELD(weftline::test::Pose, flags)};
};
template <>
struct weftline::ChannelTypeIdentity<weftline::test::PoseV2> {
  static constexpr std::string_view kName = "com.example.Pose";
  static constexpr std::uint32_t kVersion = 2;
};
template <>
struct weftline::ChannelPodLayout<weftline::test::PoseV2> {
  static constexpr std::array<PodFieldSpec, 2> kFields{
      WEFTLINE_POD_FIELD(weftline::test::PoseV2, position),
      WEFTLINE_POD_FIELD(weftline::test::PoseV2, frame)};
};
template <>
struct weftline::ChannelTypeIdentity<weftline::test::Big> {
  static constexpr std::string_view kName = "com.example.Big";
  static constexpr std::uint32_t kVersion = 1;
};
template <>
struct weftline::ChannelPodLayout<weftline::test::Big> {
  static constexpr std::array<PodFieldSpec, 1> kFields{
      WEFTLINE_POD_FIELD(weftline::test::Big, words)};
};

namespace weftline::test {

using Deadline = std::chrono::steady_clock::time_point;

/// A watchdog, not an expectation: nothing here takes this long unless it hangs.
inline Deadline watchdog() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }
inline Deadline already() { return std::chrono::steady_clock::now(); }

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weftline-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline constexpr std::uint32_t kDepth = 4;

template <class T>
ChannelEndpointCatalog catalog_with(const EndpointOptions& options,
                                    const std::string& name = "frames") {
  auto builder = ChannelEndpointCatalog::builder("test-deployment");
  REQUIRE(builder.import_topic<T>(name, "weftline://" + name, options).has_value());
  auto catalog = std::move(builder).build();
  REQUIRE(catalog.has_value());
  return *catalog;
}

/// An endpoint with bodies of the largest inline size.
inline EndpointRecord largest_endpoint() {
  EndpointRecord record;
  record.name = "frames";
  record.uri = "weftline://frames";
  record.direction = TopicDirection::kImport;
  record.payload.kind = PayloadIdentityKind::kPod;
  record.payload.name = "com.example.Largest";
  record.payload.version = 1;
  record.payload.size = kMaximumInlineBodyBytes;
  record.payload.alignment = 1;
  record.payload.fields = {{"bytes", PodScalarKind::kByte, 0, kMaximumInlineBodyBytes}};
  return record;
}

inline ChannelEndpointCatalog catalog_of(const EndpointRecord& record) {
  auto builder = ChannelEndpointCatalog::builder("test-deployment");
  REQUIRE(builder.add(record).has_value());
  auto catalog = std::move(builder).build();
  REQUIRE(catalog.has_value());
  return *catalog;
}

inline EndpointOptions blocking() {
  EndpointOptions options;
  options.queue_depth = kDepth;
  return options;
}

inline EndpointOptions drop_oldest() {
  EndpointOptions options = blocking();
  options.queue_policy = ChannelQueuePolicy::kDropOldest;
  return options;
}

inline ChannelRuntime make_runtime(const TemporaryDirectory& directory) {
  auto runtime = ChannelRuntime::create({directory.path()});
  if (!runtime) FAIL(runtime.error().to_string());
  return std::move(*runtime);
}

/// The imports of the test catalogs are published by the peer...
template <class T = std::uint32_t>
ChannelPublisher<T> make_publisher(ChannelRuntime& runtime, const ChannelEndpointCatalog& catalog,
                                   std::string_view name = "frames") {
  auto publisher = runtime.create_publisher<T>(catalog, name);
  if (!publisher) FAIL(publisher.error().to_string());
  return std::move(*publisher);
}

/// ... and subscribed to by the graph's side.
template <class T = std::uint32_t>
expected<ChannelSubscriber<T>, Error> try_subscribe(ChannelRuntime& runtime,
                                                    const ChannelEndpointCatalog& catalog,
                                                    std::string_view name = "frames") {
  auto inner =
      runtime.create_inline_subscriber(catalog, name, EndpointSide::kGraph, payload_identity<T>());
  if (!inner) return forward_error(std::move(inner));
  return ChannelSubscriber<T>(std::move(*inner));
}

template <class T = std::uint32_t>
ChannelSubscriber<T> make_subscriber(ChannelRuntime& runtime, const ChannelEndpointCatalog& catalog,
                                     std::string_view name = "frames") {
  auto subscriber = try_subscribe<T>(runtime, catalog, name);
  if (!subscriber) FAIL(subscriber.error().to_string());
  return std::move(*subscriber);
}

inline InlinePublisher make_inline_publisher(ChannelRuntime& runtime,
                                             const ChannelEndpointCatalog& catalog,
                                             std::string_view name = "frames") {
  auto publisher = runtime.create_inline_publisher(catalog, name, EndpointSide::kPeer,
                                                   catalog.find(name)->payload);
  if (!publisher) FAIL(publisher.error().to_string());
  return std::move(*publisher);
}

inline InlineSubscriber make_inline_subscriber(ChannelRuntime& runtime,
                                               const ChannelEndpointCatalog& catalog,
                                               std::string_view name = "frames") {
  auto subscriber = runtime.create_inline_subscriber(catalog, name, EndpointSide::kGraph,
                                                     catalog.find(name)->payload);
  if (!subscriber) FAIL(subscriber.error().to_string());
  return std::move(*subscriber);
}

inline expected<std::uint32_t, Error> publish(InlinePublisher& publisher, std::uint32_t value) {
  return publisher.publish(std::as_bytes(std::span(&value, 1)), {});
}

inline expected<std::uint32_t, Error> receive(InlineSubscriber& subscriber) {
  std::uint32_t value = 0;
  SampleMetadata metadata{};
  WEFTLINE_TRY(subscriber.receive(std::as_writable_bytes(std::span(&value, 1)), metadata));
  return value;
}

/// Turns the callbacks of an endpoint into something to wait for. Outlives the endpoint.
class Changes {
 public:
  Changes() : event_(*channel::WakeEvent::create()) {}
  void follow(InlinePublisher& publisher) { publisher.set_writable_callback({&signal, this}); }
  void follow(InlineSubscriber& subscriber) { subscriber.set_readable_callback({&signal, this}); }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  void wait_until(const std::function<bool()>& condition, const std::string& what) {
    const Deadline deadline = watchdog();
    while (!condition()) {
      channel::sleep_until_signal(event_, -1, deadline);
      event_.drain();
      if (std::chrono::steady_clock::now() >= deadline) FAIL("no end of waiting for: " + what);
    }
  }

 private:
  static void signal(void* self) noexcept {
    ++static_cast<Changes*>(self)->calls_;
    static_cast<Changes*>(self)->event_.signal();
  }
  channel::WakeEvent event_;
  std::atomic<std::uint64_t> calls_{0};
};

template <class Publisher>
void await_subscribers(Publisher& publisher, Changes& changes, std::uint32_t count) {
  changes.wait_until([&] { return publisher.subscriber_count() == count; },
                     std::to_string(count) + " subscribers");
}

template <class Publisher>
void await_subscriber(Publisher& publisher) {
  const auto attached = publisher.wait_for_subscriber(watchdog());
  if (!attached) FAIL(attached.error().to_string());
}

template <class Result>
ErrorCode code_of(const Result& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

}  // namespace weftline::test
